import subprocess
import sys
from pathlib import Path

import jieba
from texts import LINES

from nmt.text import jieba_words


def test_the_words_are_those_that_jieba_finds() -> None:
    jieba.setLogLevel(60)
    for line in LINES:
        assert list(jieba_words.cut(line)) == jieba.lcut(line)


def test_no_dictionary_is_read_from_the_shared_temporary_folder(tmp_path: Path) -> None:
    """Jieba's own cache would be read from there: a marshalled dictionary that anybody can have put."""
    (tmp_path / "jieba.cache").write_bytes(b"not a dictionary")
    code = (
        "import tempfile, jieba; from nmt.text import jieba_words; "
        "jieba.Tokenizer.initialize = None; print(*jieba_words.cut('我喜欢喝茶'))"
    )
    environment = {"TMPDIR": str(tmp_path), "PYTHONUTF8": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "我 喜欢 喝茶\n"
    assert [file.name for file in tmp_path.iterdir()] == ["jieba.cache"]
