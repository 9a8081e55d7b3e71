"""nmt typography, as a user types it."""

import gzip
from pathlib import Path

import pytest
from conftest import run_nmt


def test_typography_mends_line_by_line() -> None:
    done = run_nmt("typography", stdin="你好,世界.\n\nHello, world.\n用Python写\n")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "你好，世界。\n\nHello, world.\n用Python写\n"
    spaced = run_nmt("typography", "--spacing", "space", stdin="用Python写\n")
    assert spaced.stdout.decode() == "用 Python 写\n"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("你好.\r\n\r\n好.\r\n", "你好。\r\n\r\n好。\r\n"),
        ("你好.\n好.\r\n好.", "你好。\n好。\r\n好。"),  # mixed, and the last without an end
        ("你好.\r好.\u2028好", "你好。\r好。\u2028好"),
        ("", ""),
    ],
)
def test_line_ends_and_a_byte_order_mark_stay(mark: bytes, lines: str, expected: str) -> None:
    done = run_nmt("typography", stdin=mark + lines.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == mark + expected.encode()


def test_the_columns_of_a_file_with_a_byte_order_mark_and_windows_line_ends() -> None:
    done = run_nmt("typography", "--check", stdin=b"\xef\xbb\xbf" + "你好,\r\n你好。\r\n".encode())
    assert done.stdout.decode() == "1:3: ',' in Chinese text, write '，'\n"


def test_typography_checks_and_tells_by_its_exit_code() -> None:
    done = run_nmt("typography", "--check", stdin="你好。\n你好,我 是\n")
    assert done.returncode == 4
    assert done.stdout.decode() == ("2:3: ',' in Chinese text, write '，'\n2:5: delete the space\n")
    assert run_nmt("typography", "--check", stdin="你好。\n").returncode == 0


def test_typography_refuses_what_is_not_utf8_and_a_spacing_that_is_not_there() -> None:
    done = run_nmt("typography", stdin=b"\xc4\xe3\n")
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.decode().startswith("nmt: stdin:1: not UTF-8 at byte 0")
    done = run_nmt("typography", "--spacing", "wide", stdin="")
    assert done.returncode == 2
    told = "Invalid value for '--spacing': 'wide' is not one of 'keep', 'none', 'space'"
    assert done.stderr.decode() == f"nmt: command line: {told}\n"


def test_typography_reads_a_file_plain_or_zipped(tmp_path: Path) -> None:
    plain, zipped = tmp_path / "a.zh", tmp_path / "a.zh.gz"
    plain.write_text("你好,世界.\n", encoding="utf-8")
    with gzip.open(zipped, "wt", encoding="utf-8") as file:
        file.write("你好,世界.\n")
    for path in (plain, zipped):
        assert run_nmt("typography", "--input", path).stdout.decode() == "你好，世界。\n"
    assert (
        run_nmt("typography", "-i", "-", stdin="你好,世界.\n").stdout.decode() == "你好，世界。\n"
    )
