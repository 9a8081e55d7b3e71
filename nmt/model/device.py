"""Where the arithmetic happens, and in which precision."""

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar, cast

import torch

from nmt.cpu import is_faster_in_bf16
from nmt.errors import ConfigError, UserError

Precision = Literal["fp32", "bf16", "fp16"]
Result = TypeVar("Result")
_LOGITS_OF_CPU = 2**18  # what fits the cache of a core
_LOGITS_OF_GPU = 2**26  # 256 MB in float32: enough work for one kernel
# torch has an error class of its own for GPUs only. On CPUs the message holds one of these.
_SIGNS_OF_NO_MEMORY = (
    "out of memory",
    "not enough memory",
    "can't allocate memory",
    "ALLOC_FAILED",
)
_DTYPES: dict[str, torch.dtype] = {
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
}


def resolve_device(name: str) -> torch.device:
    """The device that `auto | cpu | mps | cuda | cuda:N` means here.

    Raises ConfigError if there is no such device.
    """
    if name == "auto":
        name = _fastest()
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ConfigError(
            f"device={name}: no such device; use auto, cpu, mps, cuda or cuda:N"
        ) from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"device={name}: this PyTorch sees no GPU; use device=auto or device=cpu")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(
            f"device={name}: there are only {torch.cuda.device_count()} GPUs, counted from cuda:0"
        )
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise ConfigError(
            "device=mps: this machine has no Apple GPU; use device=auto or device=cpu"
        )
    return device


def open_device(name: str) -> torch.device:
    """The device that `name` means here, ready to be worked on. Raises ConfigError if there is none.

    A GPU becomes the one of this process: otherwise pinned memory and events would take memory of the
    first GPU for another one's work. Where it multiplies in float32, it may do so in TF32: three
    digits of a product instead of seven, and several times as fast. Attention is never cuDNN's, which
    makes a plan for each new shape of its operands, and batches have many (docs/performance.md).
    """
    device = resolve_device(name)
    if device.type == "cuda":
        torch.cuda.set_device(device.index or 0)
        torch.set_float32_matmul_precision("high")
        torch.backends.cuda.enable_cudnn_sdp(False)
        # torch says so of the threads that compute gradients; it does what is needed itself.
        warnings.filterwarnings("ignore", "Attempting to run cuBLAS, but there was no current CUDA")
    return device


def _fastest() -> str:
    if torch.cuda.is_available():
        return "cuda"
    if torch.backends.mps.is_available():
        return "mps"
    return "cpu"


def resolve_precision(name: str, device: torch.device) -> Precision:
    """The precision that `auto | fp32 | bf16 | fp16` means on a device.

    auto is bf16 where the hardware is fast in it; else fp16 on a GPU that does so, as before
    Ampere; else fp32. Raises ConfigError for fp16 without a GPU.
    """
    if name != "auto" and name not in _DTYPES:
        raise ConfigError(f"precision={name}: no such precision; use auto, fp32, bf16 or fp16")
    if name == "fp16" and device.type != "cuda":
        raise ConfigError(
            f"precision=fp16 needs a CUDA GPU; on {device.type} use precision=auto, bf16 or fp32"
        )
    if name != "auto":
        return cast(Precision, name)
    if _is_fast_in_bf16(device):
        return "bf16"
    return "fp16" if _is_fast_in_fp16(device) else "fp32"


def _is_fast_in_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type == "cpu" and is_faster_in_bf16()


def _is_fast_in_fp16(device: torch.device) -> bool:
    """Whether this is a GPU with tensor cores: from Volta on."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (7, 0)


def keep_kernels(count: int) -> None:
    """Let oneDNN keep `count` compiled kernels, unless the environment says how many.

    It reads the number when it compiles the first. Its default of 1024 is too few: each takes a millisecond to compile.
    In training in bf16, there are six for each shape of an attention and thirty for each number of rows, 300 kB each.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(count))


def dtype_of(precision: Precision) -> torch.dtype:
    """The dtype in which a model's layers compute."""
    return _DTYPES[precision]


def wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype to sum values of `dtype` in: float32, or `dtype` itself where that is wider."""
    return torch.promote_types(dtype, torch.float32)


def rows_at_once(logits: torch.Tensor) -> int:
    """How many rows of logits [n,V] to work on at a time."""
    at_once = _LOGITS_OF_CPU if logits.device.type == "cpu" else _LOGITS_OF_GPU
    return max(1, at_once // logits.shape[1])


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether torch raised this error because there was not enough memory."""
    if isinstance(error, torch.OutOfMemoryError):
        return True
    return any(sign in str(error) for sign in _SIGNS_OF_NO_MEMORY)


def if_it_fits(compute: Callable[[], Result]) -> Result | None:
    """What is computed, or None if that does not fit in memory; the error and its tensors are gone by then."""
    try:
        return compute()
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        return None


@contextmanager
def within_memory(what: str, fix: str) -> Iterator[None]:
    """Say in one line that `what` does not fit in memory, and the fix. Raises UserError."""
    try:
        yield
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise UserError(f"{what} does not fit in memory; {fix}, or free some memory") from None
