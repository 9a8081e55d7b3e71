import math
from pathlib import Path

import pytest
import torch
from conftest import ready, tiny_config

from nmt.corpus.encoding.store import ParallelCorpus
from nmt.model.transformer import Transformer
from nmt.run.sides import load_side
from nmt.text.vocab import BOS, EOS
from nmt.train.start.initialise import initialise
from nmt.train.validation import Validator


@pytest.mark.parametrize(
    ("precision", "dtype", "rounding"),
    [("fp32", torch.float32, 1e-5), ("bf16", torch.bfloat16, 1e-2)],
)
def test_the_loss_is_the_mean_over_the_tokens_of_the_pairs_that_fit(
    precision: str, dtype: torch.dtype, rounding: float, corpus: Path, tmp_path: Path
) -> None:
    """Whatever was smoothed and dropped in training; against each pair alone, token by token."""
    trained_with = ("model.dropout=0.5", "train.label_smoothing=0.3", "train.batch_tokens=50")
    config = tiny_config(corpus, tmp_path / "run", "model.max_length=10", *trained_with)
    run = ready(config)
    src, tgt = load_side(config, run, "src"), load_side(config, run, "tgt")
    torch.manual_seed(1)
    model = Transformer(config.model, len(src.vocab), len(tgt.vocab)).train()
    initialise(model)
    seen = set()
    hook = model.encoder[0].feed_forward.register_forward_hook(
        lambda _, given, out: seen.add(out.dtype)
    )
    found = Validator(config, run, src, tgt, precision).loss(model)  # type: ignore[arg-type]
    hook.remove()
    assert seen == {dtype}

    corpus_ids = ParallelCorpus(run.store("dev"))
    pairs = [[ids.tolist() for ids in corpus_ids[i]] for i in range(len(corpus_ids))]
    fitting = [pair for pair in pairs if max(map(len, pair)) < 10]
    assert 0 < len(fitting) < len(pairs)
    total = 0.0
    for source, target in fitting:
        logits = model.eval()(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *target]]))[0]
        powers = logits.double().exp()
        chosen = powers[range(len(target) + 1), [*target, EOS]]
        total -= sum(math.log(share) for share in (chosen / powers.sum(1)).tolist())
    assert found == pytest.approx(
        total / sum(len(target) + 1 for _, target in fitting), rel=rounding
    )
