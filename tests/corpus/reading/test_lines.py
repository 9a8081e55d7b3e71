import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.corpus.reading.encodings import guess
from nmt.corpus.reading.lines import read_lines
from nmt.errors import DataError

LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def lines_by_bytes(data: bytes) -> list[str]:
    """The same by other means: split whole bytes."""
    pieces = data.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if pieces[-1] == b"":
        pieces.pop()
    return [piece.removesuffix(b"\r").decode() for piece in pieces]


@given(
    st.lists(LINE),
    st.sampled_from(["", "\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(["x", "x.gz"]),
)
def test_lines_are_what_stands_between_line_feeds(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, marked: bool, name: str
) -> None:
    data = BYTE_ORDER_MARK * marked + ("\n".join(lines) + end).encode()
    path = put(tmp_path_factory.mktemp("lines") / name, data)
    assert list(read_lines(path)) == lines_by_bytes(data)


@pytest.mark.parametrize(
    "character", ["\u2028", "\u2029", "\u0085", "\v", "\f", "\r", "\x1c", "\x1e"]
)
def test_a_line_ends_at_a_line_feed_only(tmp_path: Path, character: str) -> None:
    path = put(tmp_path / "x", f"a{character}b\nc\n".encode())
    assert list(read_lines(path)) == [f"a{character}b", "c"]


def test_an_empty_file_has_no_lines_and_a_line_feed_alone_is_one(tmp_path: Path) -> None:
    assert list(read_lines(put(tmp_path / "none", b""))) == []
    assert list(read_lines(put(tmp_path / "one", b"\n"))) == [""]


def test_a_byte_order_mark_later_in_the_file_is_a_character(tmp_path: Path) -> None:
    assert list(read_lines(put(tmp_path / "x", b"a\n\xef\xbb\xbfb\n"))) == ["a", "\ufeffb"]


HAN = "今天天气很好，我们去公园散步吧。\n你想喝茶还是咖啡？\n"
TRADITIONAL = "今天天氣很好，我們去公園散步吧。\n你想喝茶還是咖啡？\n"
LATIN = "He said “naïve” – and left the café.\n"


@pytest.mark.parametrize(
    ("data", "fix"),
    [
        (HAN.encode("gb18030"), "it looks like GB18030: convert it with iconv -f GB18030 -t UTF-8"),
        (b"1. Hello\n" * 9000 + HAN.encode("gbk"), "it looks like GB18030: convert it"),
        ("你好\n".encode("gb18030"), "it looks like GB18030: convert it with iconv -f GB18030"),
        (TRADITIONAL.encode("big5"), "it looks like BIG5: convert it with iconv -f BIG5 -t UTF-8"),
        (
            LATIN.encode("cp1252"),
            "it looks like WINDOWS-1252: convert it with iconv -f WINDOWS-1252",
        ),
        (HAN.encode("utf-16"), "it looks like UTF-16: convert it with iconv -f UTF-16 -t UTF-8"),
        (HAN.encode("utf-16-le"), "it looks like UTF-16LE: convert it with iconv -f UTF-16LE"),
        (HAN.encode("utf-16-be"), "it looks like UTF-16BE: convert it with iconv -f UTF-16BE"),
        ("Hi\n".encode("utf-16-le"), "it looks like UTF-16LE: convert it with iconv -f UTF-16LE"),
        # another line than those before it
        (
            HAN.encode() * 600 + "你好，世界\n".encode("gb18030"),
            "the lines before it are UTF-8, and it looks like GB18030: convert this line, "
            "or leave it out",
        ),
        (
            HAN.encode() + b"\xff\xfe\n",
            "the lines before it are UTF-8: repair this line, or leave it out",
        ),
        (b"ok\n" * 100 + b"\xff\xfe\n" + b"ok\n", "convert it to UTF-8"),
        (b"ok\nno \0 mark\xff\n", "convert it to UTF-8"),
        (b"\x80\x81\x82\n", "convert it to UTF-8"),
        (b"\x1f\x8b\x08\0\xff\n", "it is compressed: unzip it, or let its name end in .gz"),
    ],
)
def test_the_advice_names_the_encoding_that_the_bytes_are_in(
    tmp_path: Path, data: bytes, fix: str
) -> None:
    with pytest.raises(DataError) as caught:
        list(read_lines(put(tmp_path / "x.zh", data)))
    _, _, advice = str(caught.value).partition("of the text; ")
    assert advice.startswith(fix)
    assert advice.endswith(("-t UTF-8", "UTF-8", "out", ".gz"))


REAL = Path(__file__).parents[4] / "shared" / "data" / "tatoeba" / "test.zh"


@pytest.mark.skipif(not REAL.is_file(), reason="no real data beside the project (../shared/data)")
@pytest.mark.parametrize("encoding", ["gb18030", "big5"])
def test_nearly_every_line_of_real_text_shows_its_encoding(encoding: str) -> None:
    """Single sentences, which are much less to go by than a file."""
    sentences = REAL.read_text("utf-8").splitlines()
    if encoding == "big5":
        opencc = pytest.importorskip("opencc")
        sentences = list(map(opencc.OpenCC("s2t").convert, sentences))
    raw = [sentence.encode(encoding, "ignore") for sentence in sentences]
    guesses = [guess(line) for line in raw]
    assert guesses.count(encoding.upper()) >= 0.98 * len(raw)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.zh", b"ok\nab\xffcd\n", "x.zh:2: not UTF-8 at byte 5 of the text; convert it to UTF-8"),
        ("x.zh", BYTE_ORDER_MARK + b"ab\xff\n", "x.zh:1: not UTF-8 at byte 5 of the text;"),
        ("x.zh", "你好\n".encode("gb18030"), "x.zh:1: not UTF-8 at byte 0"),
        ("x.zh", "你好\n".encode()[:5], "x.zh:1: not UTF-8 at byte 3"),
        (
            "x.zh",
            "hello\n".encode("utf-16"),
            "it looks like UTF-16: convert it with iconv -f UTF-16",
        ),
        ("x.zh.gz", b"ok\n\xff\n", "x.zh.gz:2: not UTF-8 at byte 3 of the text, unzipped"),
    ],
)
def test_undecodable_bytes_are_named_by_line_and_offset(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    path = put(tmp_path / name, data)
    with pytest.raises(DataError) as caught:
        list(read_lines(path))
    assert message in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.en: no such file"):
        list(read_lines(tmp_path / "nowhere.en"))
    with pytest.raises(DataError, match="is a folder; name a file in it"):
        list(read_lines(tmp_path))


ZIPPED = gzip.compress(bytes(range(32, 127)) * 3)


@pytest.mark.parametrize("data", [b"not zipped\n", b"x"])
def test_a_file_that_is_only_called_gz_is_told_so(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(data)
    with pytest.raises(
        DataError, match=r"x\.gz: not a gzip file; compress it, or let its name not"
    ):
        list(read_lines(path))


@pytest.mark.parametrize("data", [ZIPPED[:-9], ZIPPED[:30] + ZIPPED[40:]])
def test_a_damaged_gzip_file_is_named(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"x\.gz: damaged gzip file"):
        list(read_lines(path))


def test_lines_that_end_in_carriage_returns_are_refused(tmp_path: Path) -> None:
    old = tmp_path / "old.tsv"
    old.write_bytes(b"tea\tx\r" * 12)
    with pytest.raises(DataError, match=r"old\.tsv: its lines end in carriage returns, .*tr '"):
        list(read_lines(old))
    odd = tmp_path / "odd.txt"
    odd.write_bytes(b"a\rb\r\n" * 20)  # one in each line is a character, as it always was
    assert len(list(read_lines(odd))) == 20
