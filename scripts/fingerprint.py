"""Write the fingerprint of a test set: the keys of its sentences, by which prepare and evaluate know them.

    python scripts/fingerprint.py newstest2019 newstest2019.en newstest2019.zh     # its texts, plain or .gz
    python scripts/fingerprint.py newstest2019 --keys newstest2019.keys            # or keys, in hexadecimal

A key does not give its sentence away. The file goes into nmt/corpus/public_tests; the name also goes into `PublicTest`
in nmt/config/kinds.py and into the table in docs/lab/contamination.md.
"""

import argparse
from pathlib import Path

import numpy as np

from nmt.corpus.identity.contamination import Keys, key_file, keys_of
from nmt.corpus.reading.lines import read_lines
from nmt.errors import UserError
from nmt.files import replacing
from nmt.text.normalize import normalize


def keys_of_texts(files: list[Path]) -> Keys:
    """The keys of all lines of these files."""
    # The language makes no difference here: it decides about quotation marks, which no key knows.
    return keys_of(normalize(line, "zh") for file in files for line in read_lines(file))


def keys_of_hexadecimal(file: Path) -> Keys:
    """The keys that a file lists, one a line."""
    return np.array(sorted({int(line, 16) for line in read_lines(file) if line}), np.uint64)


def main() -> None:
    """Write one file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name", help="of the set, such as newstest2019")
    parser.add_argument("files", nargs="*", type=Path, help="its texts: sources and references")
    parser.add_argument("--keys", type=Path, help="a file of keys in hexadecimal, instead of texts")
    asked = parser.parse_args()
    if bool(asked.files) == bool(asked.keys):
        parser.error("give either the texts of the set or --keys FILE")
    try:
        keys = keys_of_hexadecimal(asked.keys) if asked.keys else keys_of_texts(asked.files)
    except UserError as error:
        parser.error(str(error))
    except ValueError as error:
        parser.error(f"{asked.keys}: {error}")
    path = key_file(asked.name)
    with replacing(path) as part, part.open("wb") as file:
        np.save(file, keys, allow_pickle=False)
    print(f"{path}: {len(keys):,} keys, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
