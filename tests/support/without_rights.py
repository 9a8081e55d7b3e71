"""Root reads every file, whatever its mode: here it does not, for a while."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# linux/capability.h
_VERSION_3 = 0x20080522
_OVERRIDES = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
# linux/prctl.h, linux/securebits.h
_GET_SECUREBITS, _SET_SECUREBITS = 27, 28
_NO_SETUID_FIXUP = 1 << 2  # without it, access(2) looks at what root could have, not at what it has


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Set(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


@contextmanager
def bound_by_modes() -> Iterator[None]:
    """This thread may read and write only what the modes of files allow their owner."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "capset"):
        pytest.skip("root cannot give up its rights to files here")
    bits = libc.prctl(_GET_SECUREBITS, 0, 0, 0, 0)
    if libc.prctl(_SET_SECUREBITS, bits | _NO_SETUID_FIXUP, 0, 0, 0) != 0:
        pytest.skip("root cannot give up its rights to files here")
    header = _Header(_VERSION_3, 0)
    before = (_Set * 2)()
    assert libc.capget(ctypes.byref(header), before) == 0
    now = (_Set * 2)(*before)
    now[0].effective &= ~_OVERRIDES
    assert libc.capset(ctypes.byref(header), now) == 0
    try:
        yield
    finally:
        assert libc.capset(ctypes.byref(header), before) == 0
        assert libc.prctl(_SET_SECUREBITS, bits, 0, 0, 0) == 0
