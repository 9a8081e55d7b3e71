"""Archives: what is refused, and that nothing but the changed members changes."""

import contextlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable

import pytest

from nmt.documents.archives import Archive
from nmt.errors import DataError

XML = '<?xml version="1.0" encoding="UTF-8"?>\n<p>Hello</p>'


def zipped(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name, (2020, 2, 3, 4, 5, 6)), content, method)
    return packed.getvalue()


def book() -> bytes:
    """An archive as EPUBs are, with all that a member can have."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.comment = b"of the archive"
        archive.writestr(zipfile.ZipInfo("mimetype"), "application/epub+zip")
        page = zipfile.ZipInfo("a/第一.xhtml", (2021, 12, 31, 23, 59, 58))
        page.compress_type = zipfile.ZIP_DEFLATED
        page.comment = b"of the page"
        page.extra = struct.pack("<2H4s", 0x7075, 4, b"more")
        page.external_attr = 0o640 << 16
        page.create_system = 0
        archive.writestr(page, XML)
        archive.writestr(zipfile.ZipInfo("a/"), b"")
        archive.writestr(zipfile.ZipInfo("a/image.png"), bytes(range(256)))
    return packed.getvalue()


def refusal(data: bytes) -> str:
    with pytest.raises(DataError) as caught:
        Archive(data).texts(re.compile(".*"))
    assert len(caught.value.lines) == 1
    assert "\n" not in str(caught.value)
    return str(caught.value)


def patched(data: bytes, signature: bytes, offset: int, value: bytes) -> bytes:
    """The bytes with another value in the last header of a kind."""
    start = data.rindex(signature) + offset
    return data[:start] + value + data[start + len(value) :]


DIRECTORY, LOCAL, END = b"PK\1\2", b"PK\3\4", b"PK\5\6"


def test_no_change_gives_the_same_bytes() -> None:
    data = book()
    archive = Archive(data)
    assert archive.with_members({}) is data
    assert archive.with_members({"a/第一.xhtml": archive.text("a/第一.xhtml")}) is data


def test_a_changed_member_keeps_what_is_said_of_it_and_all_others_their_bytes() -> None:
    data = book()
    written = Archive(data).with_members({"a/第一.xhtml": XML.replace("Hello", "你好")})
    before, after = (zipfile.ZipFile(io.BytesIO(each)) for each in (data, written))
    assert after.testzip() is None
    assert after.read("a/第一.xhtml").decode() == XML.replace("Hello", "你好")
    assert after.comment == before.comment
    assert after.namelist() == before.namelist()
    for old, new in zip(before.infolist(), after.infolist(), strict=True):
        for said in ("date_time", "compress_type", "comment", "extra", "external_attr"):
            assert getattr(old, said) == getattr(new, said), said
        assert old.create_system == new.create_system
        if old.filename != "a/第一.xhtml":
            assert before.read(old) == after.read(new)
    mimetype_end = data.index(b"application/epub+zip") + 20
    assert written[:mimetype_end] == data[:mimetype_end]


def test_writing_is_the_same_each_time_and_can_be_undone() -> None:
    data = book()
    changed = {"a/第一.xhtml": "<p>你好</p>"}
    written = Archive(data).with_members(changed)
    assert Archive(data).with_members(changed) == written
    assert Archive(written).with_members({"a/第一.xhtml": XML}) == data


def test_sizes_that_stand_behind_a_member_move_into_its_header() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise OSError

        def tell(self) -> int:
            raise OSError

    packed = Pipe()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.xml", "<p>One</p>")
        archive.writestr("two.xml", "<p>Two</p>")
    written = Archive(packed.getvalue()).with_members({"one.xml": "<p>一</p>"})
    again = zipfile.ZipFile(io.BytesIO(written))
    assert again.testzip() is None
    assert [again.read(name).decode() for name in again.namelist()] == ["<p>一</p>", "<p>Two</p>"]
    assert [info.flag_bits & 8 for info in again.infolist()] == [0, 8]


@pytest.mark.parametrize(
    "content",
    [
        "<p>Grüße\r\n</p>".encode(),
        "<p>Grüße</p>".encode("utf-8-sig"),
        b"\xff\xfe" + "<p>Grüße</p>".encode("utf-16-le"),
        b"\xfe\xff" + "<p>Grüße</p>".encode("utf-16-be"),
        '<?xml version="1.0" encoding="gb18030"?><p>Grüße</p>'.encode("gb18030"),
    ],
)
def test_a_text_is_written_in_the_encoding_that_it_had(content: bytes) -> None:
    archive = Archive(zipped(("a.xml", content)))
    text = archive.text("a.xml")
    assert text.rstrip().endswith(("<p>Grüße</p>", "<p>Grüße\r\n</p>"))
    assert not text.startswith("\ufeff")
    again = Archive(archive.with_members({"a.xml": text.replace("Grüße", "你好")}))
    assert again.text("a.xml") == text.replace("Grüße", "你好")


def test_what_an_old_encoding_lacks_is_written_as_references() -> None:
    head = '<?xml version="1.0" encoding="ISO-8859-1"?>'
    archive = Archive(zipped(("a.xml", f"{head}<p>Grüße</p>".encode("latin-1"))))
    written = archive.with_members({"a.xml": f"{head}<p>ü你</p>"})
    assert (
        zipfile.ZipFile(io.BytesIO(written)).read("a.xml")
        == f"{head}<p>".encode() + b"\xfc&#20320;</p>"
    )


def test_only_members_with_such_a_name_are_read() -> None:
    data = zipped(("a.xml", b"<a/>"), ("b.xml.png", b"\xff"), ("c.xml", b"<c/>"))
    assert Archive(data).texts(re.compile(r"\w\.xml")) == {"a.xml": "<a/>", "c.xml": "<c/>"}


@pytest.mark.parametrize("name", ["/a", "../a", "a/../../b", "C:/a", "a\\..\\b", "\\a"])
def test_names_that_lead_out_of_the_archive_are_refused(name: str) -> None:
    data = zipped(("x" * len(name), b"1")).replace(b"x" * len(name), name.encode())
    assert "leads out" in refusal(data)


def test_a_second_member_of_one_name_is_refused() -> None:
    data = zipped(("a.xml", b"1"), ("b.xml", b"2")).replace(b"b.xml", b"a.xml")
    assert "two members of one name" in refusal(data)


def test_more_members_than_a_document_has_are_refused() -> None:
    data = zipped(*((str(number), b"") for number in range(10_001)), method=zipfile.ZIP_STORED)
    assert refusal(data) == "has 10,001 members; nmt reads at most 10,000"


def test_a_member_that_unzips_to_much_more_is_refused() -> None:
    assert "200 times" in refusal(zipped(("a.xml", bytes(10_000_001))))
    assert Archive(zipped(("a.xml", b" " * 10_000_000))).text("a.xml").isspace()


def test_an_archive_that_unzips_to_too_much_is_refused() -> None:
    data = zipped(("a.xml", b"1"), ("b.xml", b"2"))
    for start in [match.start() for match in re.finditer(DIRECTORY, data)]:
        sizes = struct.pack("<2L", 2_000_000, 300_000_000)
        data = data[: start + 20] + sizes + data[start + 28 :]
    assert refusal(data) == "unzips to more than 500 MB; cut it first"


@pytest.mark.parametrize("stated", [1, 1000, 9_999_999])
def test_a_header_that_lies_about_the_size_is_not_trusted(stated: int) -> None:
    data = zipped(("a.xml", bytes(50_000_000)))
    assert "damaged" in refusal(patched(data, DIRECTORY, 24, struct.pack("<L", stated)))


def test_members_that_overlap_are_refused() -> None:
    data = zipped(("a.xml", b"1" * 50), ("b.xml", b"2"), method=zipfile.ZIP_STORED)
    start = data.index(DIRECTORY)
    packed = struct.pack("<L", 100)
    assert "overlap" in refusal(data[: start + 20] + packed + data[start + 24 :])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda data: patched(data, DIRECTORY, 8, b"\x01"), "password"),
        (lambda data: patched(data, LOCAL, 6, b"\x01"), "password"),
        (lambda data: patched(data, DIRECTORY, 10, b"\x0c"), "compression"),
        (lambda data: patched(data, END, 8, b"\xff\xff\xff\xff"), "Zip64"),
        (lambda data: patched(data, DIRECTORY, 42, b"\xff\xff\xff\xff"), "Zip64"),
        (lambda data: patched(data, DIRECTORY, 42, b"\xff\xff\xff\x00"), "damaged"),
        (lambda data: patched(data, DIRECTORY, 0, b"XX"), "damaged"),
        (lambda data: patched(data, END, 16, b"\x00"), "damaged"),
        (lambda data: patched(data, END, 4, b"\x01"), "part of an archive"),
        (lambda data: patched(data, LOCAL, 30, b"z"), "two names"),
        (lambda data: patched(data, LOCAL, 40, b"\xff\xff"), "damaged"),
        (lambda data: data[:-30], "no zip archive"),
        (lambda data: b"", "no zip archive"),
        (lambda data: b"\xd0\xcf\x11\xe0" + bytes(600), "with a password"),
    ],
)
def test_broken_and_locked_archives_are_refused_in_one_line(
    spoil: Callable[[bytes], bytes], message: str
) -> None:
    assert message in refusal(spoil(zipped(("a.xml", b"<p>Hello, hello</p>"))))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff<p/>", "a.xml: is no text in utf-8"),
        (b'<?xml version="1.0" encoding="rot13"?>', "an encoding that nmt does not read"),
        (b'<?xml version="1.0" encoding="nothing"?>', "an encoding that nmt does not read"),
    ],
)
def test_a_member_that_is_no_text_is_refused(content: bytes, message: str) -> None:
    assert message in refusal(zipped(("a.xml", content)))


@pytest.mark.parametrize("place", range(0, 160))
def test_any_damaged_byte_gives_a_line_or_an_archive(place: int) -> None:
    data = bytearray(zipped(("a.xml", b"<p>Hello</p>"), ("b.xml", zlib.compress(b"b"))))
    data[place] ^= 0xFF
    with contextlib.suppress(DataError):
        archive = Archive(bytes(data))
        archive.with_members({archive.names[0]: "<p>你好</p>"})
