import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from nmt.errors import ConfigError, UserError
from nmt.machine import device as device_module
from nmt.machine.device import (
    Precision,
    dtype_of,
    learns_like_a_cpu,
    open_device,
    resolve_device,
    resolve_precision,
)
from nmt.machine.oom import within_memory

CPU, GPU, APPLE = torch.device("cpu"), torch.device("cuda"), torch.device("mps")

Machine = Callable[..., None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Makes this a machine that has what is asked for, and nothing else."""

    def have(
        gpus: int = 0,
        apple: bool = False,
        gpu_bf16: bool = False,
        capability: tuple[int, int] = (6, 1),
        fast_bf16: bool = False,
        learns: bool = True,
    ) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: gpu_bf16)
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: apple)
        monkeypatch.setattr("nmt.machine.device.learns_like_a_cpu", lambda device: learns)
        monkeypatch.setattr("nmt.machine.device.is_faster_in_bf16", lambda: fast_bf16)

    return have


@pytest.mark.parametrize(
    ("has", "name", "expected"),
    [
        ({}, "auto", "cpu"),
        ({"gpus": 1}, "auto", "cuda"),
        ({"gpus": 1, "apple": True}, "auto", "cuda"),
        ({"apple": True}, "auto", "mps"),
        ({"apple": True, "learns": False}, "auto", "cpu"),
        ({"apple": True, "learns": False}, "mps", "mps"),
        ({"gpus": 2}, "cpu", "cpu"),
        ({"gpus": 2}, "cuda", "cuda"),
        ({"gpus": 2}, "cuda:1", "cuda:1"),
        ({"apple": True}, "mps", "mps"),
    ],
)
def test_a_device_is_the_one_that_is_named_and_auto_the_fastest_there_is(
    has: dict[str, Any], name: str, expected: str, machine: Machine
) -> None:
    machine(**has)
    assert resolve_device(name) == torch.device(expected)


def test_a_device_is_tried_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert learns_like_a_cpu(CPU)
    assert not learns_like_a_cpu(torch.device("meta"))  # it has no numbers
    right = device_module._small_update(CPU)
    wrong = {"cpu": right, "mps": right + 0.01}
    monkeypatch.setattr(device_module, "_small_update", lambda device: wrong[device.type])
    assert not learns_like_a_cpu(APPLE)


@pytest.mark.parametrize(
    ("has", "name", "message"),
    [
        ({}, "cuda", "device=cuda: this PyTorch sees no GPU; use device=auto or device=cpu"),
        ({}, "cuda:3", "device=cuda:3: this PyTorch sees no GPU"),
        ({"gpus": 2}, "cuda:2", "device=cuda:2: there are only 2 GPUs, counted from cuda:0"),
        ({"gpus": 2}, "mps", "device=mps: this machine has no Apple GPU"),
    ],
)
def test_a_device_that_is_not_there_is_refused_with_a_way_out(
    has: dict[str, Any], name: str, message: str, machine: Machine
) -> None:
    machine(**has)
    with pytest.raises(ConfigError, match=message):
        resolve_device(name)


@pytest.mark.parametrize(
    ("has", "device", "expected"),
    [
        ({}, CPU, "fp32"),
        ({"fast_bf16": True}, CPU, "bf16"),
        ({"gpus": 1, "gpu_bf16": True}, GPU, "bf16"),
        ({"gpus": 1, "gpu_bf16": True, "capability": (8, 0)}, GPU, "bf16"),
        ({"gpus": 1, "capability": (7, 5)}, GPU, "fp16"),
        ({"gpus": 1, "capability": (7, 0)}, GPU, "fp16"),
        ({"gpus": 1, "capability": (6, 1)}, GPU, "fp32"),
        ({"apple": True}, APPLE, "fp32"),
    ],
)
def test_auto_is_what_the_hardware_multiplies_in(
    has: dict[str, Any], device: torch.device, expected: str, machine: Machine
) -> None:
    machine(**has)
    assert resolve_precision("auto", device) == expected


@pytest.mark.parametrize("device", [CPU, GPU, APPLE])
@pytest.mark.parametrize("name", ["fp32", "bf16"])
def test_a_named_precision_is_kept(name: str, device: torch.device) -> None:
    assert resolve_precision(name, device) == name


def test_half_precision_needs_a_gpu() -> None:
    assert resolve_precision("fp16", GPU) == "fp16"
    with pytest.raises(
        ConfigError, match="precision=fp16 needs a CUDA GPU; on cpu use precision=auto"
    ):
        resolve_precision("fp16", CPU)


@pytest.mark.parametrize(
    ("precision", "dtype"),
    [("fp32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)],
)
def test_a_precision_is_torchs_dtype_of_that_name(precision: Precision, dtype: torch.dtype) -> None:
    assert dtype_of(precision) == dtype


@pytest.mark.parametrize(("name", "index"), [("cuda", 0), ("auto", 0), ("cuda:1", 1)])
def test_a_gpu_that_is_opened_is_the_one_of_the_process_and_may_use_tf32_but_no_attention_of_cudnn(
    name: str, index: int, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(gpus=2)
    done: list[object] = []
    monkeypatch.setattr(torch.cuda, "set_device", done.append)
    monkeypatch.setattr(torch, "set_float32_matmul_precision", done.append)
    monkeypatch.setattr(torch.backends.cuda, "enable_cudnn_sdp", done.append)
    with warnings.catch_warnings():
        assert open_device(name).type == "cuda"
    assert done == [index, "high", False]


def test_on_a_cpu_products_in_float32_stay_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch.get_float32_matmul_precision()
    assert open_device("cpu") == CPU
    assert torch.get_float32_matmul_precision() == before == "highest"


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
    ],
)
def test_what_does_not_fit_in_memory_is_one_line_with_a_fix(error: RuntimeError) -> None:
    expected = "the cat does not fit in memory; take a smaller one, or free some memory"
    with (
        pytest.raises(UserError, match=f"^{expected}$"),
        within_memory("the cat", "take a smaller one"),
    ):
        raise error


def test_other_errors_pass_as_they_are() -> None:
    with pytest.raises(RuntimeError, match="shape"), within_memory("the cat", "no"):
        raise RuntimeError("a wrong shape")
