"""The settings and their defaults.

An option is one field here; its unit and meaning are in `configs/reference.yaml`. Settings that contradict each
other are refused here; no other module checks them again.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from nmt.config.kinds import (
    NO_BOOLEAN,
    AboveZero,
    Beams,
    Count,
    DeviceName,
    FilePath,
    Language,
    Layers,
    Metrics,
    NonNegative,
    OneLine,
    Positive,
    PublicTest,
    Rate,
    Share,
    Times,
    Token,
    TokenizerName,
    Weight,
    Width,
)


class Section(BaseModel):
    """A frozen group of settings that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _nothing_but_comments(cls, given: Any) -> Any:
        """A section that holds nothing but comments is null in YAML."""
        return {} if given is None else given


class CorpusConfig(Section):
    """One source of pairs: either `src` and `tgt` (line-aligned), or `tsv`, or `jsonl`; globs and .gz are allowed."""

    name: str = "corpus"
    src: FilePath | None = None
    tgt: FilePath | None = None
    tsv: FilePath | None = None
    jsonl: FilePath | None = None
    weight: Weight = 1
    cooldown: bool = True
    licence: OneLine | None = None
    source: OneLine | None = None

    @model_validator(mode="after")
    def _one_format(self) -> Self:
        given = {name for name in ("src", "tgt", "tsv", "jsonl") if getattr(self, name) is not None}
        if given not in ({"src", "tgt"}, {"tsv"}, {"jsonl"}):
            raise ValueError("give either both src and tgt, or tsv, or jsonl")
        return self


# What a corpus says of itself changes nothing in what is made of it.
STATEMENTS: dict[str, Any] = {"corpora": {"__all__": {"licence", "source"}}} | {
    split: {"licence", "source"} for split in ("dev", "test")
}


class DataConfig(Section):
    """Where the pairs come from."""

    path: FilePath | None = None
    corpora: tuple[CorpusConfig, ...] = ()
    dev: CorpusConfig | None = None
    test: CorpusConfig | None = None
    max_bytes: Positive = 2**36

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.path is not None and (self.corpora or self.dev or self.test):
            raise ValueError(
                "data.path is set beside data.corpora, data.dev or data.test; keep one: data.path=null leaves it out"
            )
        return self


class SideConfig(Section):
    """One language: how its text becomes tokens, and which tokens the model knows."""

    language: Language
    tokenizer: TokenizerName
    vocab_size: Positive = 32000
    min_frequency: Positive = 2
    lowercase: bool = False
    unknown: Literal["spell", "unk"] = "spell"


class EnglishConfig(SideConfig):
    """The source side's defaults."""

    language: Language = "en"
    tokenizer: TokenizerName = "whitespace"
    recase: bool = False
    detach: bool = False
    prefix: tuple[Token, ...] = ()


class ChineseConfig(SideConfig):
    """The target side's defaults."""

    language: Language = "zh"
    tokenizer: TokenizerName = "jieba"


class AugmentConfig(Section):
    """Variants of training pairs: each a share of the pairs that it fits; a share above 1 makes several of a pair."""

    masked: Times = 0.5
    masked_numbers: Times = 0.0
    tagged: Times = 0.0
    renumbered: Times = 0.0
    upper: Share = 0.0
    lower: Share = 0.0
    title: Share = 0.0
    unpunctuated: Share = 0.0
    casual: Share = 0.0
    shorthand: Share = 0.0
    switched: Times = 0.0
    enclosed: Times = 0.0
    quoted: Share = 0.0
    joined: Share = 0.0

    def without_case(self) -> Self:
        """For text whose case is folded."""
        return self.model_copy(update={"upper": 0.0, "lower": 0.0, "title": 0.0, "casual": 0.0})

    @property
    def protects(self) -> bool:
        """Whether train has placeholders, so that spans can travel as such."""
        return any((self.masked, self.masked_numbers, self.tagged, self.switched, self.enclosed))


class PrepareConfig(Section):
    """Which pairs are kept, how they are varied, and how train, dev and test are split."""

    max_tokens: Positive = 250
    max_ratio: AboveZero = 2.5
    traditional: Literal["keep", "drop", "convert"] = "drop"
    filters: bool = True
    deduplicate: bool = True
    public_tests: Literal["drop", "keep"] = "drop"
    allowed_tests: tuple[PublicTest, ...] = ()
    typography: bool = True
    augment: AugmentConfig = AugmentConfig()
    dev_size: Count = 1000
    test_size: Count = 1000
    seed: Count = 1
    workers: Count = 0


class ModelConfig(Section):
    """The Transformer's shape."""

    d_model: Width = 512
    heads: Positive = 8
    d_ff: Width = 2048
    encoder_layers: Layers = 6
    decoder_layers: Layers = 6
    decoder: Literal["attention", "ssru"] = "attention"
    decoder_start: Literal["bos", "zeros"] | None = None
    dropout: Rate = 0.1
    attention_dropout: Rate = 0.0
    activation_dropout: Rate = 0.0
    norm: Literal["pre", "post"] = "pre"
    final_norm: bool | None = None
    embedding_norm: bool = False
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    activation: Literal["relu", "gelu", "swish", "swiglu"] = "relu"
    bias: Literal["all", "feed_forward", "none"] = "all"
    output_bias: bool = False
    tie_embeddings: Literal["none", "target", "all"] = "target"
    scale: Literal["embedding", "output", "none"] = "embedding"
    init: Literal["xavier", "normal", "lexical"] = "xavier"
    max_length: Width = 256
    src_vectors: FilePath | None = None
    tgt_vectors: FilePath | None = None
    freeze_vectors: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.d_model % self.heads:
            divisors = [n for n in range(1, self.d_model + 1) if self.d_model % n == 0]
            near = min(divisors, key=lambda n: abs(n - self.heads))
            message = (
                f"model.d_model={self.d_model} cannot be divided among model.heads={self.heads}"
            )
            raise ValueError(f"{message}; choose heads that divide it, such as {near}")
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ValueError(f"model.d_model={self.d_model} must be even for sinusoidal positions")
        if self.freeze_vectors and not (self.src_vectors or self.tgt_vectors):
            raise ValueError("model.freeze_vectors needs model.src_vectors or model.tgt_vectors")
        return self

    @property
    def has_final_norm(self) -> bool:
        """A pre-norm stack ends with a norm unless that is set otherwise; a post-norm stack does not need one."""
        return self.norm == "pre" if self.final_norm is None else self.final_norm

    @property
    def starts_from_zeros(self) -> bool:
        """Whether the decoder starts from zeros, as Marian's do; one with SSRU does unless that is set otherwise."""
        if self.decoder_start is None:
            return self.decoder == "ssru"
        return self.decoder_start == "zeros"


class TrainConfig(Section):
    """The course of training. `updates` and `max_minutes` end it, whichever comes first."""

    updates: Positive = 100_000
    max_minutes: AboveZero | None = None
    batch_tokens: Positive = 4096
    accumulate: Positive = 1
    optimizer: Literal["adamw", "adam", "muon"] = "adamw"
    betas: tuple[Rate, Rate] = (0.9, 0.98)
    weight_decay: NonNegative = 0.0
    schedule: Literal["noam", "inverse_sqrt", "cosine", "constant", "wsd"] = "inverse_sqrt"
    peak_lr: AboveZero = 5e-4
    warmup: Count = 4000
    cooldown: Positive | None = None
    label_smoothing: Rate = 0.1
    word_dropout: Rate = 0.0
    clip_norm: NonNegative = 1.0
    validate_every: Positive = 1000
    save_every: Positive = 1000
    log_every: Positive = 100
    keep: Positive = 5
    early_stop: Literal["loss", "bleu", "chrf"] = "loss"
    patience: Count = 0
    average: Count = 5
    average_of: Literal["last", "best"] = "last"
    precision: Literal["auto", "fp32", "bf16", "fp16"] = "auto"
    compile: Literal["auto", "off"] = "auto"
    seed: Count = 1
    device: DeviceName = "auto"
    tensorboard: bool = False
    licence: OneLine | None = None
    start_from: FilePath | None = None
    new_tokens: Count = 0
    freeze: Literal["none", "embeddings", "encoder"] = "none"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.average > self.keep:
            raise ValueError(
                f"train.average={self.average} needs as many checkpoints; set train.keep={self.average}"
            )
        if self.schedule in ("noam", "inverse_sqrt") and self.warmup == 0:
            raise ValueError(
                f"train.schedule={self.schedule} needs train.warmup of at least 1 update"
            )
        if self.cooldown is not None and self.schedule != "wsd":
            raise ValueError(f"train.cooldown={self.cooldown} needs train.schedule=wsd")
        for key in ("new_tokens", "freeze"):
            if self.start_from is None and getattr(self, key) not in (0, "none"):
                raise ValueError(f"train.{key}={getattr(self, key)} needs train.start_from")
        if self.freeze == "embeddings" and self.new_tokens:
            raise ValueError("train.freeze=embeddings would leave train.new_tokens untrained")
        return self

    @property
    def cooldown_updates(self) -> int:
        """The updates at the end in which the rate of schedule wsd falls: a fifth of all unless set."""
        return self.cooldown or max(1, self.updates // 5)

    @property
    def stable_updates(self) -> int:
        """The updates before that."""
        return self.updates - self.cooldown_updates


class SearchConfig(Section):
    """How a translation is looked for."""

    method: Literal["greedy", "beam", "sample"] = "beam"
    beam_size: Beams = 5
    length_penalty: Annotated[float, Field(ge=0, le=10), NO_BOOLEAN] = 1.0
    max_ratio: Annotated[float, Field(gt=0, le=1000), NO_BOOLEAN] = 3.0
    max_length: Positive | None = None
    n_best: Positive = 1
    temperature: Annotated[float, Field(ge=1e-30, le=1e30), NO_BOOLEAN] = 1.0
    top_k: Count = 0
    seed: Count | None = None
    no_repeat_ngram: Count = 0
    typography: Literal["off", "keep", "none", "space"] = "keep"
    verify: Literal["off", "flag", "retry"] = "off"
    abbreviations: bool = True
    unknown_word: Rate = 0.15
    glossary: tuple[FilePath, ...] = ()
    memory: FilePath | None = None
    memory_weight: Annotated[float, Field(gt=0, le=0.99), NO_BOOLEAN] = 0.7
    memory_temperature: Annotated[float, Field(ge=1e-6, le=1e6), NO_BOOLEAN] = 0.2
    memory_pairs: Positive = 32
    memory_tokens: Positive = 16
    batch_tokens: Positive | None = None

    @model_validator(mode="after")
    def _enough_beams(self) -> Self:
        if self.method == "greedy" and self.n_best > 1:
            raise ValueError(f"search.n_best={self.n_best} needs search.method=beam or sample")
        if self.method == "beam" and self.n_best > self.beam_size:
            raise ValueError(
                f"search.n_best={self.n_best} is more than search.beam_size={self.beam_size}"
            )
        return self

    @property
    def effective_method(self) -> Literal["greedy", "beam", "sample"]:
        """The method that searches: a beam of one hypothesis is greedy search."""
        if self.method == "beam" and self.beam_size == 1:
            return "greedy"
        return self.method

    @property
    def beams(self) -> int:
        """How many hypotheses of a sentence are kept at each step."""
        return self.beam_size if self.effective_method == "beam" else 1


class EvaluateConfig(Section):
    """What `nmt evaluate` measures, and where it appends a line each time."""

    metrics: Metrics = ("bleu", "bleu_width", "chrf")
    history: FilePath | None = None


class Config(Section):
    """Everything that a run depends on."""

    run_dir: FilePath = "runs/default"
    shared_vocab: bool = False
    data: DataConfig = DataConfig()
    src: EnglishConfig = EnglishConfig()
    tgt: ChineseConfig = ChineseConfig()
    prepare: PrepareConfig = PrepareConfig()
    model: ModelConfig = ModelConfig()
    train: TrainConfig = TrainConfig()
    search: SearchConfig = SearchConfig()
    evaluate: EvaluateConfig = EvaluateConfig()

    @model_validator(mode="after")
    def _cooldown_has_corpora(self) -> Self:
        cools = [corpus.cooldown for corpus in self.data.corpora]
        if all(cools):
            return self
        if self.train.schedule != "wsd":
            raise ValueError("cooldown: false in data.corpora needs train.schedule=wsd")
        if not any(cools):
            raise ValueError("all of data.corpora have cooldown: false; leave it out of one")
        return self

    @model_validator(mode="after")
    def _sides_agree(self) -> Self:
        if self.src.language == self.tgt.language:
            raise ValueError(
                f"src.language and tgt.language are both {self.src.language}; they name files: change one"
            )
        if self.shared_vocab and (self.src.tokenizer == "sentencepiece") != (
            self.tgt.tokenizer == "sentencepiece"
        ):
            raise ValueError("shared_vocab=true needs sentencepiece on both sides or on neither")
        for key in ("vocab_size", "min_frequency", "unknown", "lowercase"):
            if self.shared_vocab and getattr(self.src, key) != getattr(self.tgt, key):
                raise ValueError(f"shared_vocab=true needs src.{key} equal to tgt.{key}")
        if self.src.recase and (self.src.tokenizer != "sentencepiece" or self.src.lowercase):
            raise ValueError(
                "src.recase=true needs src.tokenizer=sentencepiece, src.lowercase=false"
            )
        if self.src.detach and self.src.tokenizer != "sentencepiece":
            raise ValueError("src.detach=true needs src.tokenizer=sentencepiece")
        if self.model.tie_embeddings == "all" and not self.shared_vocab:
            raise ValueError("model.tie_embeddings=all needs shared_vocab=true")
        if len(self.src.prefix) + 2 > self.model.max_length:  # beside a token and EOS
            raise ValueError("src.prefix leaves no place in model.max_length")
        return self

    def side(self, name: Literal["src", "tgt"]) -> SideConfig:
        """The section of one side."""
        return self.src if name == "src" else self.tgt
