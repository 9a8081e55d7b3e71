"""Where the arithmetic happens, and in which precision."""

import warnings
from typing import Literal, cast

import torch
from torch.nn import functional

from nmt.errors import ConfigError
from nmt.machine.cpu import is_faster_in_bf16

Precision = Literal["fp32", "bf16", "fp16"]
_LOGITS_OF_CPU = 2**18  # what fits the cache of a core
_LOGITS_OF_GPU = 2**26  # 256 MB in float32: enough work for one kernel
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
    makes a plan for each new shape of its operands, and batches have many (docs/lab/performance.md).
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
    if torch.backends.mps.is_available() and learns_like_a_cpu(torch.device("mps")):
        return "mps"
    return "cpu"


def learns_like_a_cpu(device: torch.device) -> bool:
    """Whether an update of a few weights comes out on a device as it does on the CPU.

    Some versions of macOS and PyTorch compute wrongly on Apple GPUs, or lack an operation.
    """
    try:
        found = _small_update(device)
    except RuntimeError:  # NotImplementedError is one
        return False
    return torch.allclose(found, _small_update(torch.device("cpu")), rtol=1e-3, atol=1e-4)


def _small_update(device: torch.device) -> torch.Tensor:
    """Weights after an update of attention, layer norm, cross-entropy and AdamW on made-up input."""
    weights = torch.linspace(-1, 1, 8 * 8).reshape(8, 8).to(device).requires_grad_()
    vectors = torch.linspace(-2, 3, 2 * 5 * 8).sin().reshape(2, 5, 8).to(device)  # [B, T, d]
    labels = torch.arange(2 * 5).reshape(2, 5).remainder(8).to(device)
    optimizer = torch.optim.AdamW([weights], lr=0.1)
    queries = vectors @ weights
    attended = functional.scaled_dot_product_attention(queries, vectors, vectors, is_causal=True)
    logits = functional.layer_norm(attended, (8,)) @ weights.T
    functional.cross_entropy(logits.flatten(0, 1), labels.flatten()).backward()
    optimizer.step()
    return weights.detach().cpu()


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


def dtype_of(precision: Precision) -> torch.dtype:
    """The dtype in which a model's layers compute."""
    return _DTYPES[precision]


def accumulation_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype to sum values of `dtype` in: float32, or `dtype` itself where that is wider."""
    return torch.promote_types(dtype, torch.float32)


def copied_to(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Copy to a device, without waiting for what it is doing; on MPS that is not safe."""
    return tensor.to(device, non_blocking=device.type != "mps")


def rows_at_once(logits: torch.Tensor) -> int:
    """How many rows of logits [n,V] to work on at a time."""
    at_once = _LOGITS_OF_CPU if logits.device.type == "cpu" else _LOGITS_OF_GPU
    return max(1, at_once // logits.shape[1])
