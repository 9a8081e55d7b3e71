"""Damage to bytes, as disks, transfers, careless editors and attackers do it."""

from random import Random

_KINDS = ("overwrite", "delete", "repeat", "put token", "cut off", "flip bit", "fill")
_LENGTHS = (1, 1, 2, 4, 8, 40, 400)  # of a damaged piece, in bytes
_FILLERS = (b"\xff", b"\0", b"\x7f", b"9")

# Pieces that readers of text, JSON, YAML, pickle or binary numbers are known to stumble over.
_TOKENS = [
    b"",
    b"\0",
    b"\xff\xfe",  # UTF-16's mark
    b"\n",
    b"\r\n",
    b"\t",
    b"\xe2\x80\xa8",  # U+2028, where str.splitlines splits too
    b"\xed\xa0\x80",  # half of a surrogate pair
    b"\xef\xbb\xbf",  # UTF-8's mark
    b"\xff" * 8,
    b"9" * 5000,
    b"0x" + b"f" * 5000,
    b"[" * 3000,
    b"{" * 3000,
    b"\x80\x02cposix\nsystem\n",  # a pickle that would run a command
    b"\x7f" + b"\xff" * 7,
    b"!!python/object/apply:os.system ['true']",
    b"&a [x, x, x, x, x, x, x, x, x]",
    b"!!binary aaaa",
    b"<<: ",
    b'"\\e[31m"',  # would colour a terminal
    b"nan",
    b"-1",
    b"1e999",
    b"&a[*a]",  # YAML that contains itself
    b"*a",
    b"2001-13-45",
    b"18446744073709551616",  # 2**64
    b"../../x",
    b"null",
    b"true",
    b"'",
]


def damaged(data: bytes, chance: Random) -> bytes:
    """The data with one to four changes."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        start = chance.randrange(len(changed) + 1)
        end = min(len(changed), start + chance.choice(_LENGTHS))
        _damage(changed, start, end, chance)
    return bytes(changed)


def _damage(changed: bytearray, start: int, end: int, chance: Random) -> None:
    """Change the bytes from `start` to `end`, which is `start` at the end of the data."""
    kind = chance.choice(_KINDS)
    if kind == "overwrite":
        changed[start:end] = chance.randbytes(end - start)
    elif kind == "delete":
        del changed[start:end]
    elif kind == "repeat":
        changed[start:start] = changed[start:end] * chance.choice((1, 2, 50))
    elif kind == "put token":
        changed[start:end] = chance.choice(_TOKENS)
    elif kind == "cut off":
        del changed[start:]
    elif kind == "flip bit" and start < end:
        changed[start] ^= 1 << chance.randrange(8)
    else:
        changed[start:end] = chance.choice(_FILLERS) * (end - start)
