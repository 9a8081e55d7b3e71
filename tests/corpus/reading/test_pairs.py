import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.corpus.reading.pairs import SentencePair, read_jsonl, read_pairs, read_tsv, writing_pairs
from nmt.errors import DataError

LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\ufeff"))


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_what_a_spreadsheet_has_quoted_is_read_without_its_marks(tmp_path: Path) -> None:
    path = tmp_path / "sheet.tsv"
    lines = [
        '"He said ""hi""."\t"他说：""嗨""。"',
        '"Go!" he said.\t"走！"',
        '""\t""""',
        '"a""b" c\t"a"b"',
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert list(read_tsv(path)) == [
        ('He said "hi".', '他说："嗨"。'),
        ('"Go!" he said.', '"走！"'),
        ('""', '"'),
        ('"a""b" c', '"a"b"'),
    ]


def test_pairs_are_the_two_files_side_by_side(tmp_path: Path) -> None:
    src, tgt = put(tmp_path / "x.en", b"a\n\nb"), put(tmp_path / "x.zh.gz", "甲\n乙\n\n".encode())
    assert list(read_pairs(src, tgt)) == [("a", "甲"), ("", "乙"), ("b", "")]


@pytest.mark.parametrize(("src", "tgt", "short"), [(3, 5, "x.en"), (5, 3, "x.zh"), (0, 1, "x.en")])
def test_unequal_line_counts_name_the_shorter_file(
    tmp_path: Path, src: int, tgt: int, short: str
) -> None:
    paths = put(tmp_path / "x.en", b"a\n" * src), put(tmp_path / "x.zh", b"b\n" * tgt)
    with pytest.raises(DataError) as caught:
        list(read_pairs(*paths))
    long = next(str(path) for path in paths if path.name != short)
    assert f"{short} ends at line {min(src, tgt)} but {long} has {max(src, tgt)} lines" in str(
        caught.value
    )


def test_a_tsv_gives_its_first_two_columns(tmp_path: Path) -> None:
    path = put(tmp_path / "x.tsv", "a\t甲\nb\t乙\tCC-BY\tmore\n\t\n".encode())
    assert list(read_tsv(path)) == [("a", "甲"), ("b", "乙"), ("", "")]


def test_a_jsonl_is_keyed_by_sides_or_by_languages(tmp_path: Path) -> None:
    records = [{"src": "a", "tgt": "甲"}, {"zh": "乙", "en": "b\u2028", "id": 7}]
    path = put(tmp_path / "x.jsonl.gz", "\n".join(map(json.dumps, records)).encode())
    assert list(read_jsonl(path)) == [("a", "甲"), ("b\u2028", "乙")]


def test_a_jsonl_may_be_nested_as_hugging_face_writes_translations(tmp_path: Path) -> None:
    records = [
        {"translation": {"en": "a", "zh": "甲"}},
        {"id": "7", "translation": {"zh": "乙", "en": "b"}},
        {"en": "c", "zh": "丙", "translation": "more"},
    ]
    path = put(tmp_path / "x.jsonl", "\n".join(map(json.dumps, records)).encode())
    assert list(read_jsonl(path)) == [("a", "甲"), ("b", "乙"), ("c", "丙")]


@pytest.mark.parametrize("blank", ["", "  ", "\r"])
def test_a_blank_line_is_an_empty_pair_in_every_format(tmp_path: Path, blank: str) -> None:
    """So that prepare counts it, and drops it as empty, whatever the format."""
    sides = [put(tmp_path / f"x.{side}", f"a\n{blank}\nb\n".encode()) for side in ("en", "zh")]
    tsv = put(tmp_path / "x.tsv", f"a\ta\n{blank}\nb\tb\n".encode())
    record = '{"en": "%s", "zh": "%s"}'
    jsonl = put(
        tmp_path / "x.jsonl", f"{record % ('a', 'a')}\n{blank}\n{record % ('b', 'b')}\n".encode()
    )
    for pairs in (read_pairs(*sides), read_tsv(tsv), read_jsonl(jsonl)):
        stripped = [(src.strip(), tgt.strip()) for src, tgt in pairs]
        assert stripped == [("a", "a"), ("", ""), ("b", "b")]


def test_a_line_of_one_column_is_named(tmp_path: Path) -> None:
    path = put(tmp_path / "x.tsv", b"a\tb\none column\n")
    with pytest.raises(DataError) as caught:
        list(read_tsv(path))
    message = "x.tsv:2: one column, but source<TAB>target is needed: 'one column'"
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"src": "a", "tgt": "b"}\n{"src": "a"\n', "x.jsonl:2: not JSON"),
        ('["a", "b"]\n', "x.jsonl:1: an object"),
        (
            '{"src": "a", "tgt": 3}\n',
            '{"src": …, "tgt": …}, {"en": …, "zh": …} or {"translation": {"en": …, "zh": …}} '
            "with two strings",
        ),
        ('{"en": "a", "de": "b"}\n', "x.jsonl:1: an object"),
        ('{"translation": {"en": "a"}}\n', "x.jsonl:1: an object"),
        ('{"translation": ["a", "b"]}\n', '{"translation": {"en": …, "zh": …}}'),
        ('{"src": "a", "tgt": "\\ud800"}\n', "x.jsonl:1: '\\ud800' is an unpaired surrogate"),
        ("[" * 100_000 + "\n", "x.jsonl:1: not JSON"),
    ],
)
def test_a_record_that_is_not_a_pair_is_named_by_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = put(tmp_path / "x.jsonl", text.encode())
    with pytest.raises(DataError) as caught:
        list(read_jsonl(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.lists(st.builds(SentencePair, LINE, LINE)))
def test_written_pairs_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[SentencePair]
) -> None:
    folder = tmp_path_factory.mktemp("written")
    with writing_pairs(folder / "x.en", folder / "x.zh") as write:
        for pair in pairs:
            write(*pair)
    assert list(read_pairs(folder / "x.en", folder / "x.zh")) == pairs


def test_nothing_is_written_when_writing_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with writing_pairs(tmp_path / "x.en", tmp_path / "x.zh") as write:
            write("a", "甲")
            raise DataError("stop")

    with pytest.raises(DataError):
        fail()
    assert list(tmp_path.iterdir()) == []
