"""Documents that are zip archives: texts out of their members, and the archive again with some of these changed.

Members that do not change are copied as they are packed. Facts are those of PKWARE's APPNOTE.TXT, 4.3.
"""

import codecs
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from nmt.errors import DataError

_MOST_MEMBERS = 10_000
_MOST_BYTES = 500 * 10**6  # unzipped, in all
_MOST_TIMES = 200  # as large as it is packed, for a member of more than these bytes
_SMALL = 10 * 10**6

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_LONGEST_COMMENT = 0xFFFF
_IN_ZIP64 = 0xFFFFFFFF  # what stands for a size or place
_COUNT_IN_ZIP64 = 0xFFFF
_ZIP64_EXTRA = 1
_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13
_SIZES_BEHIND = 1 << 3  # the sizes of a member stand behind it
_UTF8_NAME = 1 << 11
_STORED, _DEFLATED = 0, 8

_DECLARED = re.compile(rb"""\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.-]{1,40})["']""")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_KNOWN = re.compile(
    r"utf-8|ascii|iso8859-\d+|cp125\d|koi8-[ru]|gb2312|gbk|gb18030|big5|shift_jis|euc_(?:jp|kr)"
)


@dataclass(frozen=True)
class _Member:
    """What the directory says of a member, and where both are."""

    name: str
    entry: bytes  # of the directory
    flags: int
    method: int
    checksum: int
    packed: int
    unpacked: int
    start: int  # of its header
    data: int  # where it begins behind the header


class _Encoding(NamedTuple):
    mark: bytes
    name: str

    def encode(self, text: str) -> bytes:
        """The bytes of a text; characters that an old encoding lacks are references."""
        return self.mark + text.encode(self.name, errors="xmlcharrefreplace")


class Archive:
    """The members of a zip archive. Raises DataError for one that is broken, locked, or dangerous to open."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._end, self._directory = _find_directory(data)
        members = list(_members(data, self._directory, self._end))
        _check(members, self._directory)
        self._members = {member.name: member for member in members}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members, as the directory has them."""
        return tuple(self._members)

    def texts(self, names: re.Pattern[str]) -> dict[str, str]:
        """The texts of the members with such a name. Raises DataError for what is no text."""
        return {name: self.text(name) for name in self._members if names.fullmatch(name)}

    def text(self, name: str) -> str:
        """The text of a member, without its mark. Raises DataError for what is no text."""
        content = self._content(self._members[name])
        encoding = _encoding(content, name)
        try:
            text = content[len(encoding.mark) :].decode(encoding.name)
        except UnicodeDecodeError:
            raise DataError(f"{name}: is no text in {encoding.name}") from None
        if encoding.encode(text) != content:
            raise DataError(f"{name}: cannot be written in {encoding.name} as it is")
        return text

    def with_members(self, changed: Mapping[str, str]) -> bytes:
        """The archive with other texts of some members; the same bytes if no text is another."""
        contents: dict[str, bytes] = {}
        for name, text in changed.items():
            old = self._content(self._members[name])
            new = _encoding(old, name).encode(text)
            if new != old:
                contents[name] = new
        return self._written(contents) if contents else self._data

    def _content(self, member: _Member) -> bytes:
        packed = self._data[member.data : member.data + member.packed]
        if member.method == _STORED:
            content = packed
        else:
            unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
            try:
                content = unpacking.decompress(packed, member.unpacked + 1)
            except zlib.error:
                content = b""
        if len(content) != member.unpacked or zlib.crc32(content) != member.checksum:
            raise DataError(f"{member.name}: is damaged; get the file anew")
        return content

    def _written(self, contents: Mapping[str, bytes]) -> bytes:
        in_order = sorted(self._members.values(), key=lambda member: member.start)
        ends = [*(member.start for member in in_order[1:]), self._directory]
        written = bytearray(self._data[: in_order[0].start])
        entries: dict[str, bytes] = {}
        for member, end in zip(in_order, ends, strict=True):
            start = len(written)
            if member.name in contents:
                record, entries[member.name] = _packed(
                    self._data, member, contents[member.name], start
                )
                written += record
            else:
                written += self._data[member.start : end]
                entries[member.name] = _entry(member.entry, start)
        directory = b"".join(entries[name] for name in self._members)
        fields = list(_END.unpack_from(self._data, self._end))
        fields[5:7] = len(directory), len(written)
        return bytes(written + directory + _END.pack(*fields) + self._data[self._end + _END.size :])


# --- reading ---


def _find_directory(data: bytes) -> tuple[int, int]:
    """Where the end of the directory is, and where it begins."""
    end = data.rfind(b"PK\5\6", max(0, len(data) - _END.size - _LONGEST_COMMENT))
    if end < 0 or len(data) - end < _END.size:
        raise DataError("is no zip archive (nor is a document with a password; save it without)")
    _, disk, first_disk, here, count, size, start, _ = _END.unpack_from(data, end)
    if count == _COUNT_IN_ZIP64 or _IN_ZIP64 in (size, start):
        raise DataError("is a Zip64 archive, which nmt does not read; pack it without Zip64")
    if disk or first_disk or here != count:
        raise DataError("is a part of an archive; join the parts first")
    if count > _MOST_MEMBERS:
        raise DataError(f"has {count:,} members; nmt reads at most {_MOST_MEMBERS:,}")
    if start + size != end or not count:
        raise DataError("has a directory of members that is damaged; pack it anew")
    return end, start


def _members(data: bytes, start: int, end: int) -> Iterator[_Member]:
    count = _END.unpack_from(data, end)[4]
    for _ in range(count):
        if end - start < _CENTRAL.size or not data.startswith(b"PK\1\2", start):
            raise DataError("has a directory of members that is damaged; pack it anew")
        fields = _CENTRAL.unpack_from(data, start)
        size = _CENTRAL.size + sum(fields[10:13])
        yield _member(data, data[start : min(start + size, end)])
        start += size
    if start != end:
        raise DataError("has a directory of members that is damaged; pack it anew")


def _member(data: bytes, entry: bytes) -> _Member:
    (_, _, _, flags, method, _, _, checksum, packed, unpacked, *lengths, _, _, _, start) = (
        _CENTRAL.unpack_from(entry)
    )
    raw = entry[_CENTRAL.size : _CENTRAL.size + lengths[0]]
    try:
        name = raw.decode("utf-8" if flags & _UTF8_NAME else "cp437")
    except UnicodeDecodeError:
        raise DataError(f"has a member whose name is no UTF-8: {raw[:60]!r}") from None
    extra = entry[_CENTRAL.size + lengths[0] :][: lengths[1]]
    if _IN_ZIP64 in (packed, unpacked, start) or _without_zip64(extra) != extra:
        raise DataError("is a Zip64 archive, which nmt does not read; pack it without Zip64")
    if not data.startswith(b"PK\3\4", start) or len(data) - start < _LOCAL.size:
        raise DataError(f"has a member that is damaged: {name[:60]!r}")
    header = _LOCAL.unpack_from(data, start)
    behind = start + _LOCAL.size
    if data[behind : behind + header[9]] != raw:
        raise DataError(f"has a member with two names: {name[:60]!r}")
    flags |= header[2] & _ENCRYPTED
    at = behind + header[9] + header[10]
    return _Member(name, entry, flags, method, checksum, packed, unpacked, start, at)


def _without_zip64(extra: bytes) -> bytes:
    """Extra fields but for that of Zip64."""
    kept = b""
    place = 0
    while place + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, place)
        if kind != _ZIP64_EXTRA:
            kept += extra[place : place + 4 + size]
        place += 4 + size
    return kept + extra[place:]


def _encoding(content: bytes, name: str) -> _Encoding:
    """By the mark or the declaration of an XML text; else UTF-8."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _Encoding(mark, encoding)
    declared = _DECLARED.match(content[:1000])
    if declared is None:
        return _Encoding(b"", "utf-8")
    try:
        known = codecs.lookup(declared[1].decode("ascii")).name
    except (LookupError, UnicodeDecodeError):
        known = ""
    if not _KNOWN.fullmatch(known):
        raise DataError(f"{name}: is in an encoding that nmt does not read; save it as UTF-8")
    return _Encoding(b"", known)


# --- checks ---


def _check(members: list[_Member], directory: int) -> None:
    """Raise DataError for members that are not what a document has before its directory."""
    names: set[str] = set()
    for member in members:
        problem = "two members of one name" if member.name in names else _problem(member)
        if problem:
            raise DataError(f"has {problem}: {member.name[:60]!r}")
        names.add(member.name)
    if sum(member.unpacked for member in members) > _MOST_BYTES:
        raise DataError(f"unzips to more than {_MOST_BYTES // 10**6} MB; cut it first")
    in_order = sorted(members, key=lambda member: member.start)
    starts = [*(member.start for member in in_order[1:]), directory]
    for member, start in zip(in_order, starts, strict=True):
        if member.data + member.packed > start:
            raise DataError(f"has members that overlap: {member.name[:60]!r}")


def _problem(member: _Member) -> str:
    if member.flags & _ENCRYPTED:
        return "a member with a password; save it without"
    if member.method not in (_STORED, _DEFLATED):
        return "a member in a compression that nmt does not read"
    if _leads_out(member.name):
        return "a member whose name leads out of the archive"
    if member.unpacked > max(_SMALL, _MOST_TIMES * member.packed):
        return f"a member that unzips to more than {_MOST_TIMES} times its size"
    return ""


def _leads_out(name: str) -> bool:
    parts = re.split(r"[/\\]", name)
    return not parts[0] or ".." in parts or ":" in parts[0] or "\0" in name


# --- writing ---


def _packed(data: bytes, member: _Member, content: bytes, start: int) -> tuple[bytes, bytes]:
    """A member with another content, and its entry in the directory."""
    packed = content
    if member.method == _DEFLATED:
        packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        packed = packing.compress(content) + packing.flush()
    sizes = (zlib.crc32(content), len(packed), len(content))
    header = list(_LOCAL.unpack_from(data, member.start))
    name_end = member.start + _LOCAL.size + header[9]
    extra = _without_zip64(data[name_end : member.data])
    header[2] &= ~_SIZES_BEHIND
    header[6:9] = sizes
    header[10] = len(extra)
    name = data[member.start + _LOCAL.size : name_end]
    return _LOCAL.pack(*header) + name + extra + packed, _entry(member.entry, start, sizes)


def _entry(entry: bytes, start: int, sizes: tuple[int, int, int] | None = None) -> bytes:
    """An entry of the directory for a member that stands elsewhere, perhaps with other sizes."""
    fields = list(_CENTRAL.unpack_from(entry))
    if sizes is not None:
        fields[3] &= ~_SIZES_BEHIND
        fields[7:10] = sizes
    fields[-1] = start
    return _CENTRAL.pack(*fields) + entry[_CENTRAL.size :]
