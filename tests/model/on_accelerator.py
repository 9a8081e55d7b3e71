"""Updates and steps of search on an accelerator that computes nothing, since most machines have no GPU.

A dummy device of torch stands for the GPU, and its tensors are fake: they have a shape, a type and a device, and no
values. So every operation on tensors of two devices raises, with its file and line; and so does everything that makes
the CPU wait for a value, such as `.item()`, `nonzero()` or an index from a list.

The name that makes the device is private to torch. constraints.txt pins the version that these tests were seen to
work with; there is no public way to have a device without hardware. It has to be made before the first backward pass
of a process: test_accelerator.py runs this file in a process of its own.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from nmt.config.schema import ModelConfig, TrainConfig
from nmt.machine.device import Precision, dtype_of
from nmt.model.batch import Batch, Rows
from nmt.model.kernels.attention import bias_of
from nmt.model.mixed_precision import LowPrecisionCopy
from nmt.model.packed_batch import PackedBatch, PackedShape
from nmt.model.stepper import ModelStepper
from nmt.model.transformer import Transformer
from nmt.search.filters import Filters, ForbidTokens, WriteEachOnce
from nmt.search.stepper import Ensemble
from nmt.train.distributed import World
from nmt.train.packed_update import PackedUpdater
from nmt.train.padded_update import PaddedUpdater

# torch's own copying asks fake tensors where their memory is.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")

NAME = "gpu"
PAIRS, S, T, TOKENS = 24, 12, 16, 3000
VARIANTS: list[dict[str, object]] = [
    {},
    {"norm": "post", "positions": "learned", "activation": "gelu"},
    {"tie_embeddings": "all", "activation": "swiglu", "bias": "none"},
    {"tie_embeddings": "none", "scale": "output", "embedding_norm": True, "output_bias": True},
]
every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: ", ".join(v) or "base")


@pytest.fixture(scope="module", autouse=True)
def _device() -> None:
    _setup_privateuseone_for_python_backend(NAME)
    # torch has no fake of this one, unlike that for a rate that is a number.
    torch.library.impl("aten::_fused_adamw_.tensor_lr", "Meta")(lambda *_, **__: None)


@pytest.fixture
def gpu() -> Iterator[torch.device]:
    """The device; what is done with its tensors in a test is only checked, not computed."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        yield torch.device(NAME)


def a_model(gpu: torch.device, **shape: object) -> Transformer:
    small: dict[str, object] = {"encoder_layers": 1, "decoder_layers": 1}
    config = ModelConfig.model_validate({**small, **shape})
    with gpu:
        return Transformer(config, 32_004, 32_004)


def in_dtype(dtype: torch.dtype, build: Callable[[], Transformer]) -> Transformer:
    """A model whose parameters are all of that type: fake ones cannot be converted."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return build()
    finally:
        torch.set_default_dtype(before)


def a_batch(gpu: torch.device, src_is_padded: bool = True) -> Batch:
    def ids(*shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.int64, device=gpu)

    positions = ids(TOKENS + 8)  # rounded up
    return Batch(ids(PAIRS, S), ids(PAIRS, T), ids(PAIRS, T), positions, TOKENS, src_is_padded)


def updates(
    gpu: torch.device,
    model: Transformer,
    precision: Precision,
    batches: Sequence[Batch],
    count: int = 1,
    **train: object,
) -> None:
    """Updates of these batches."""
    config = TrainConfig.model_validate(train)
    updater = PaddedUpdater(config, model, precision, World(0, 1, gpu))
    for update in range(1, count + 1):
        updater.start(update, batches, TOKENS * len(batches))
    assert all(parameter.device.type == NAME for parameter in model.parameters())
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


@pytest.mark.parametrize(
    ("variant", "precision"),
    [
        *((VARIANTS[0], precision) for precision in ("fp32", "bf16", "fp16")),
        (VARIANTS[1], "bf16"),
        (VARIANTS[2], "fp16"),
        (VARIANTS[3], "bf16"),
    ],
)
def test_an_update_stays_on_the_device_and_waits_for_nothing(
    gpu: torch.device, variant: dict[str, object], precision: Precision
) -> None:
    updates(gpu, a_model(gpu, **variant), precision, [a_batch(gpu)])


@pytest.mark.parametrize(
    "settings", [{"optimizer": "adam"}, {"optimizer": "muon"}, {"clip_norm": 0}]
)
def test_so_it_is_with_other_settings_and_once_the_optimizer_has_a_state(
    gpu: torch.device, settings: dict[str, object]
) -> None:
    batches = [a_batch(gpu), a_batch(gpu, src_is_padded=False)]
    updates(gpu, a_model(gpu), "bf16", batches, count=2, **settings)


def test_so_it_is_with_several_layers(gpu: torch.device) -> None:
    updates(gpu, a_model(gpu, encoder_layers=2, decoder_layers=2), "bf16", [a_batch(gpu)])


@every_variant
def test_an_update_of_packed_batches_stays_on_the_device_and_waits_for_nothing(
    gpu: torch.device, variant: dict[str, object]
) -> None:
    """So that it can be recorded."""
    model = a_model(gpu, **variant)
    config = TrainConfig(optimizer="muon", word_dropout=0.1)
    updater = PackedUpdater(config, model, "bf16", World(0, 1, gpu))
    shape = PackedShape(src_rows=512, tgt_rows=384, places=40, longest=128)
    values = torch.empty(sum(shape.sizes), dtype=torch.int32, device=gpu)
    nothing = Rows(np.empty(0, np.int32), np.empty(0, np.int32))
    batch = PackedBatch(shape, values, TOKENS, nothing, nothing)
    for update in (1, 2):
        updater.start(update, [batch, batch], 2 * TOKENS)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


@pytest.mark.parametrize(("beams", "precision"), [(1, "fp32"), (5, "bf16")])
@every_variant
def test_steps_of_decoding_stay_on_the_device_and_wait_for_nothing(
    gpu: torch.device, variant: dict[str, object], beams: int, precision: Precision
) -> None:
    steps(gpu, in_dtype(dtype_of(precision), lambda: a_model(gpu, **variant)), beams)


def test_so_it_is_with_an_ensemble(gpu: torch.device) -> None:
    steps(gpu, in_dtype(torch.bfloat16, lambda: a_model(gpu)), beams=5, models=2)


def steps(gpu: torch.device, model: Transformer, beams: int, models: int = 1) -> None:
    """Decode a few steps, with the model so many times in an ensemble."""
    model.eval()
    sentences = 6
    rows = sentences * beams

    def ids(count: int) -> Tensor:
        return torch.empty(count, dtype=torch.int64, device=gpu)

    with torch.inference_mode():
        members = []
        for _ in range(models):
            cache = model.encode(torch.empty(sentences, S, dtype=torch.int64, device=gpu))
            cache.reserve(beams)
            members.append(ModelStepper(model, cache))
        stepper = Ensemble(members) if models > 1 else members[0]
        owed = torch.empty(rows, 3, dtype=torch.bool, device=gpu)
        filters = Filters([ForbidTokens(ids(4)), WriteEachOnce(ids(3), owed, ids(rows))])
        for length in range(1, 4):
            logits = stepper.step(ids(rows))
            filters.apply(logits, torch.empty(rows, length, dtype=torch.int64, device=gpu))
            for each in (stepper, filters):
                each.select(ids(rows))
    assert logits.shape == (rows, 32_004)
    assert logits.device.type == NAME


def test_a_bias_lies_in_memory_as_the_kernels_of_a_gpu_want_it(gpu: torch.device) -> None:
    """They copy one whose rows do not begin at multiples of 8 values."""
    bias = bias_of(torch.empty(PAIRS, 1, 1, 13, dtype=torch.bool, device=gpu), torch.bfloat16)
    assert bias.shape == (PAIRS, 1, 1, 13)
    assert all(stride % 8 == 0 for stride in bias.stride()[:-1])


def test_the_output_has_rows_as_the_matrix_units_of_a_gpu_want_them(gpu: torch.device) -> None:
    working = LowPrecisionCopy(a_model(gpu), torch.bfloat16)
    assert working.model.output.weight.shape == (32_064, 512)


def from_a_list(logits: Tensor) -> None:
    logits[:, [3]]


def with_a_tensor_of_the_cpu(logits: Tensor) -> None:
    logits + torch.zeros(32_004)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (lambda logits: logits.sum().item(), DataDependentOutputException),
        (lambda logits: logits.nonzero(), Exception),
        (from_a_list, Exception),
        (with_a_tensor_of_the_cpu, Exception),
    ],
    ids=["item", "nonzero", "an index from a list", "a tensor of the CPU"],
)
def test_the_device_notices_what_waits_or_is_elsewhere(
    gpu: torch.device, fault: Callable[[Tensor], object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        fault(torch.empty(5, 32_004, device=gpu))
