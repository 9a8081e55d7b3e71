"""SpBLEU, with a small model in the place of the one that sacrebleu downloads."""

from pathlib import Path

import pytest
import sentencepiece
from made_systems import GOOD, REFERENCES
from sacrebleu import BLEU
from sacrebleu.tokenizers import tokenizer_spm

from nmt.errors import ConfigError
from nmt.evaluation import sentencepiece_bleu
from nmt.evaluation.measurement import score


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which sacrebleu looks for models."""
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr(sentencepiece_bleu, "SACREBLEU_DIR", str(tmp_path))
    (tmp_path / "models").mkdir()
    return tmp_path / "models"


def test_it_is_bleu_of_the_pieces(models: Path) -> None:
    text = models / "text"
    text.write_text("\n".join(REFERENCES), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(  # type: ignore[attr-defined]
        input=str(text), model_prefix=str(models / "small"), vocab_size=60, minloglevel=2
    )
    (models / "small.model").rename(models / "flores200sacrebleuspm")
    pieces = sentencepiece.SentencePieceProcessor(str(models / "flores200sacrebleuspm"))
    cut = [
        [" ".join(pieces.encode(line, out_type=str)) for line in side]
        for side in (GOOD, REFERENCES)
    ]
    expected = BLEU(tokenize="none").corpus_score(cut[0], [cut[1]])
    [found] = score(GOOD, [REFERENCES], ["bleu_flores200"])
    assert found.value == expected.score
    assert "|tok:flores200|" in found.signature


@pytest.mark.parametrize("name", ["bleu_flores101", "bleu_flores200"])
def test_without_its_model_it_says_how_to_get_it_and_downloads_nothing(
    name: str, models: Path
) -> None:
    with pytest.raises(ConfigError, match=r"needs .*, which is not there; get it with: python -c"):
        score(GOOD, [REFERENCES], [name])
    assert list(models.iterdir()) == []


def test_a_model_that_is_none_is_named(models: Path) -> None:
    (models / "flores200sacrebleuspm").write_bytes(b"half a downl")
    with pytest.raises(ConfigError, match="flores200sacrebleuspm: is no sentencepiece model"):
        score(GOOD, [REFERENCES], ["bleu_flores200"])
