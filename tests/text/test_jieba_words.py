import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import jieba
import pytest
from texts import LINES

from nmt.errors import ConfigError
from nmt.text import jieba_words


def test_the_words_are_those_that_jieba_finds() -> None:
    jieba.setLogLevel(60)
    for line in LINES:
        assert list(jieba_words.cut(line)) == jieba.lcut(line)


@pytest.mark.parametrize(
    "other",
    [
        # another jieba, whose cut does not ask `calc`, or gives it something else
        {"cut": lambda _self, text: [text], "gen_pfdict": lambda *_: ({"我": 1}, 1)},
        {"cut": lambda self, text: self.calc(text), "gen_pfdict": lambda *_: ({"我": 1}, 1)},
        {"gen_pfdict": None},  # what is private may be gone
    ],
)
def test_another_jieba_is_refused_by_its_version(
    monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    monkeypatch.setattr(jieba.Tokenizer, "get_dict_file", lambda _self: BytesIO())
    for name, value in other.items():
        monkeypatch.setattr(jieba.Tokenizer, name, value)
    monkeypatch.setattr(jieba, "__version__", "0.99")
    jieba_words._segmenter.cache_clear()
    with pytest.raises(ConfigError) as caught:
        list(jieba_words.cut("我喜欢喝茶"))
    jieba_words._segmenter.cache_clear()
    assert str(caught.value) == (
        "jieba 0.99 finds words in another way than 0.42.1; run pip install jieba==0.42.1"
    )


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
