"""Set aside what the model that comes with nmt must not be trained on.

    python configs/pretrained/hold_out.py data/large data/tatoeba data/held-out data/large/dev data/news/newstest2017

Written are 500 pairs each of documentation, interface texts and captions, drawn by their content; `dev.*`, which
has them after Tatoeba's dev; `public.*`, pairs of more than four words that are in a public test set; and `test.*`,
which has those after the given sets and Tatoeba's test. `prepare` takes the sentences of dev and test out of train.
"""

import argparse
import hashlib
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from nmt.corpus.identity.contamination import load_keys, public_tests
from nmt.corpus.identity.dedupe import side_key
from nmt.corpus.reading.pairs import SentencePair, read_pairs, writing_pairs
from nmt.errors import UserError

SIZE = 500  # pairs of each domain
SHORT = 4  # words of a sentence that anybody may say
DOMAINS = {
    "documentation": [
        "tech/adobe_docs", "tech/angular", "tech/electron", "tech/ms_azuredev", "tech/ms_cpp",
        "tech/ms_dotnet", "tech/ms_driver", "tech/ms_dynamics365", "tech/ms_ef", "tech/ms_intune",
        "tech/ms_officedev", "tech/ms_powerapps", "tech/ms_powershell", "tech/ms_visualstudio",
        "tech/postgresql", "tech/python_docs", "tech/react", "tech/rustbook", "tech/tensorflow",
        "tech/vue",
    ],
    "interface": [
        "tech/godot_editor_po", "tech/manageiq_po", "general/android_apps", "general/android_apps2",
        "general/element_ui", "general/inaturalist", "general/kolibri", "general/wikiedu",
        "general/wikipedia_android",
    ],
    "captions": ["general/3am"],
}  # fmt: skip


def text_files(stem: Path) -> tuple[Path, Path]:
    """`stem.en` and `stem.zh`, or those with `.gz`."""
    ending = "" if Path(f"{stem}.en").exists() else ".gz"
    return Path(f"{stem}.en{ending}"), Path(f"{stem}.zh{ending}")


def pairs_of(stem: Path) -> Iterator[SentencePair]:
    """The pairs of the texts with this stem, in their order."""
    return read_pairs(*text_files(stem))


def draw(pairs: set[SentencePair]) -> list[SentencePair]:
    """SIZE pairs, each with an English sentence of its own: those whose SHA-256 is smallest."""
    ordered = sorted(pairs, key=lambda pair: hashlib.sha256("\t".join(pair).encode()).digest())
    first: dict[str, SentencePair] = {}
    for pair in ordered:
        first.setdefault(pair.src, pair)
    return list(first.values())[:SIZE]


def in_public_tests(pairs: Iterable[SentencePair]) -> list[SentencePair]:
    """Pairs of more than four words that have a side in a public test set, each once.

    `prepare` itself drops only longer ones: short sentences may stand in both by chance.
    """
    known = {int(key) for name in public_tests() for key in load_keys(name)}
    found = []
    for pair in pairs:
        is_long = len(pair.src.split()) > SHORT
        if is_long and not known.isdisjoint(map(side_key, pair)):
            found.append(pair)
    return list(dict.fromkeys(found))


def write(pairs: Iterable[SentencePair], stem: Path) -> None:
    """Write both sides of these pairs."""
    with writing_pairs(Path(f"{stem}.en"), Path(f"{stem}.zh")) as put:
        for src, tgt in pairs:
            put(src, tgt)


def set_aside(large: Path, tatoeba: Path, out: Path, tests: list[Path]) -> None:
    """Write all sets into a folder."""
    corpora = {
        name: set(chain(*(pairs_of(large / each) for each in names)))
        for name, names in DOMAINS.items()
    }
    sets = {name: draw(pairs) for name, pairs in corpora.items()}
    dev = [*pairs_of(tatoeba / "dev"), *chain(*sets.values())]
    stems = [Path(str(path).removesuffix(".en.gz")) for path in sorted(large.glob("*/*.en.gz"))]
    public = in_public_tests(chain(*map(pairs_of, [tatoeba / "train", *stems])))
    test = [*chain(*map(pairs_of, tests)), *pairs_of(tatoeba / "test"), *public]
    out.mkdir(parents=True, exist_ok=True)
    for name, pairs in {**sets, "dev": dev, "public": public, "test": test}.items():
        write(pairs, out / name)
        print(f"{out / name}: {len(pairs):,} pairs")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("large", type=Path, help="the folder with tech/ and general/")
    parser.add_argument("tatoeba", type=Path, help="the folder with Tatoeba's train, dev and test")
    parser.add_argument("out", type=Path, help="where to write")
    parser.add_argument("tests", type=Path, nargs="*", help="test sets, without .en and .zh")
    asked = parser.parse_args()
    try:
        set_aside(asked.large, asked.tatoeba, asked.out, asked.tests)
    except (OSError, UserError) as error:
        sys.exit(f"hold_out: {error}")


if __name__ == "__main__":
    main()
