"""Models that translate a source into itself, and sides of few tokens for them."""

import torch
from torch import Tensor, nn

from nmt.config.schema import AugmentConfig, ModelConfig, SearchConfig
from nmt.engines.decoder import Decoder
from nmt.model.transformer import Transformer
from nmt.text.reading import as_written
from nmt.text.side import Side
from nmt.text.tokenizers import Char, Plain
from nmt.text.vocab import EOS, PAD, PLACEHOLDERS, Vocab
from nmt.train.start.initialise import initialise
from nmt.translate.translator import Translator

HAN = "天地玄黄宇宙洪荒ab，。！▁"
WORDS = ["the", "cat", "sat", "on", "a", "mat", ",", ".", "and", "then", "it", "left"]
BLANK = ["", " ", "\t \u3000", "\u200b"]


def side(language: str, tokens: str | list[str]) -> Side:
    """A side of characters (zh) or of words between spaces (en)."""
    tokenizer = Char() if language == "zh" else Plain()
    return Side(
        language,
        tokenizer,
        Vocab(tokens, [1] * len(tokens)),
        reading=as_written,
        never_unknown=True,
        identity="",
    )


CHINESE, ENGLISH = side("zh", HAN), side("en", WORDS)


PROTECTING = side("zh", [*HAN, *PLACEHOLDERS])


class EchoCache:
    """The source, and which sentence each row is of."""

    def __init__(self, src: Tensor) -> None:
        self.src, self.length = src, 0
        self.rows = torch.arange(len(src))

    def reserve(self, beams: int) -> None:
        self.rows = self.rows.repeat_interleave(beams)

    def select(self, rows: Tensor) -> None:
        self.rows = self.rows[rows]


class Echo(nn.Module):
    """Translates a source into itself; like the Transformer, it has no more positions than `max_length`."""

    def __init__(self, max_length: int, tokens: int) -> None:
        super().__init__()
        self.config = ModelConfig(max_length=max_length)
        self.logits = nn.Parameter(torch.eye(tokens) * 30)
        self.dtype = self.logits.dtype

    def encode(self, src: Tensor) -> EchoCache:
        assert src.shape[1] <= self.config.max_length
        return EchoCache(src)

    def wanted(self, cache: EchoCache) -> Tensor:
        token = cache.src[cache.rows, min(cache.length, cache.src.shape[1] - 1)]
        return token.masked_fill(token == PAD, EOS)

    def decode(self, tgt_in: Tensor, cache: EchoCache) -> Tensor:
        wanted = self.wanted(cache)
        cache.length += tgt_in.shape[1]
        assert cache.length <= self.config.max_length
        return self.logits[wanted][:, None].clone()


class Forgetful(Echo):
    """Translates a source into itself, but for placeholders, which it would never write."""

    def decode(self, tgt_in: Tensor, cache: EchoCache) -> Tensor:
        logits = super().decode(tgt_in, cache)
        logits[:, :, PROTECTING.vocab.placeholders] = -20
        return logits


class Endless(Echo):
    """Says its fifth token for ever."""

    def wanted(self, cache: EchoCache) -> Tensor:
        return torch.full_like(cache.rows, 4)


# Of a model that was taught to leave numbers where their placeholders stand.
NUMBERS_MASKED = AugmentConfig(masked_numbers=0.5)


def translator(
    model: nn.Module,
    src: Side,
    tgt: Side,
    precision: str = "fp32",
    taught: AugmentConfig = NUMBERS_MASKED,
    **config: object,
) -> Translator:
    search = SearchConfig.model_validate(config)
    engine = Decoder(model, src, tgt, precision)  # type: ignore[arg-type]
    return Translator(engine, search, taught)


def echo(of: Side, max_length: int, **config: object) -> Translator:
    return translator(Echo(max_length, len(of.vocab)), of, of, **config)


def random_model(max_length: int = 24) -> Transformer:
    torch.manual_seed(3)
    shape = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1}
    config = ModelConfig(**shape, max_length=max_length, tie_embeddings="none", dropout=0.5)
    model = Transformer(config, len(ENGLISH.vocab), len(CHINESE.vocab))
    initialise(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    return model
