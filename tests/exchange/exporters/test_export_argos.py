"""An .argosmodel is laid out as Argos Translate's package.py reads it, and translates as its translate.py calls it.

With `$ARGOS_PYTHON`, a Python that has argostranslate, Argos Translate itself installs it and translates.
"""

import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest
import sentencepiece
from made_runs import SHARED, exported, made_run

ctranslate2 = pytest.importorskip("ctranslate2")

LINES = ["one two three.", "nine.", "I like tea, don't I?"]
# Argos Translate would download its sentence splitter.
WITHOUT_SPLITTER = """
import json, sys
from argostranslate import package, translate

class Whole:
    def __init__(self, pkg): pass
    def split_sentences(self, text): return [text]

translate.MiniSBDSentencizer = Whole
package.install_from_path(sys.argv[1])
print(json.dumps([translate.translate(line, "en", "zh") for line in json.load(sys.stdin)]))
"""


@pytest.fixture(scope="module")
def package(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("argos")
    run = made_run(corpus, folder / "run", *SHARED, "model.tie_embeddings=all")
    return exported("argos", run, folder / "argos") / "translate-en_zh-1_0.argosmodel"


def installed(package: Path, folder: Path) -> Path:
    """What `install_from_path` does: it unpacks the zip into the folder of all packages."""
    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder)
    (inside,) = folder.iterdir()
    return inside


def test_the_package_is_one_folder_with_what_argos_looks_for(package: Path, tmp_path: Path) -> None:
    inside = installed(package, tmp_path)
    assert inside.name == "translate-en_zh-1_0"
    assert json.loads((inside / "metadata.json").read_text()) == {
        "package_version": "1.0",
        "argos_version": "1.11.0",
        "from_code": "en",
        "from_name": "English",
        "to_code": "zh",
        "to_name": "Chinese",
    }
    assert "install_from_path" in (inside / "README.md").read_text()
    assert ctranslate2.contains_model(str(inside / "model"))


def as_argos_does(inside: Path) -> list[str]:
    """Its tokenizer and its call, of argostranslate 1.11's tokenizer.py and translate.py."""
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(inside / "sentencepiece.model"))
    translator = ctranslate2.Translator(str(inside / "model"))
    texts = []
    for line in LINES:
        found = translator.translate_batch(
            [pieces.encode(line, out_type=str)],
            replace_unknowns=True,
            max_batch_size=32,
            batch_type="tokens",
            beam_size=4,
            num_hypotheses=1,
            length_penalty=0.2,
            return_scores=True,
        )
        text = pieces.decode_pieces(found[0].hypotheses[0])
        texts.append(text.replace("▁", " ").replace("_", " ").removeprefix(" "))
    return texts


def test_it_translates_as_argos_calls_it(package: Path, tmp_path: Path) -> None:
    texts = as_argos_does(installed(package, tmp_path))
    assert all(texts)
    assert not set("".join(texts)) & set(map(chr, range(0xE000, 0xF900)))  # no placeholder


@pytest.mark.skipif("ARGOS_PYTHON" not in os.environ, reason="$ARGOS_PYTHON names no Python")
def test_argos_itself_installs_it_and_translates(package: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [os.environ["ARGOS_PYTHON"], "-c", WITHOUT_SPLITTER, str(package)],
        input=json.dumps(LINES),
        capture_output=True,
        text=True,
        check=False,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == as_argos_does(installed(package, tmp_path / "packages"))
