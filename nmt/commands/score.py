"""nmt score: the log-probability of translations that are given."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nmt.commands.shell import options
from nmt.commands.shell.output_file import refuse_output
from nmt.commands.shell.streams import (
    flush,
    input_lines,
    is_standard,
    is_watched,
    put,
    refuse_unreadable,
    say,
    warn,
)
from nmt.commands.shell.trained_run import find_run
from nmt.errors import ConfigError, counted, print_nothing

if TYPE_CHECKING:
    from nmt.corpus.reading.pairs import SentencePair
    from nmt.engines.encoded_pairs import Unfit
    from nmt.scoring.scoring import Scored, Scorer

Source = Annotated[Path | None, options.path_option("FILE", "Sources; - is stdin.", "--src")]
Target = Annotated[
    Path | None, options.path_option("FILE", "Their translations; - is stdin.", "--tgt")
]
Input = Annotated[
    Path | None,
    options.path_option(
        "FILE", "Instead: source, tab, translation on each line; default: stdin.", "--input", "-i"
    ),
]
OutputFormat = Annotated[
    Literal["text", "jsonl"],
    options.option(
        "[text|jsonl]",
        "One number per line, or a JSON object with the number of each token.",
        "--format",
    ),
]
PerToken = Annotated[
    bool,
    options.flag(
        "Divide each number by the number of tokens, end of sentence included.", "--per-token"
    ),
]
BatchTokens = Annotated[
    int, typer.Option(metavar="N", min=1, help="Tokens of one side per batch, padding included.")
]
Precision = Annotated[
    Literal["auto", "fp32", "bf16", "fp16"],
    options.option("[auto|fp32|bf16|fp16]", "Number format of the computation."),
]
# What is said of pairs without a score.
_REASONS = {
    "empty": "with an empty side",
    "too long": "longer than the model's max_length",
}


def score(
    src: Source = None,
    tgt: Target = None,
    input_file: Input = None,
    model: options.Model = None,
    config: options.ConfigFile = None,
    output_format: OutputFormat = "text",
    per_token: PerToken = False,
    batch_tokens: BatchTokens = 4096,
    precision: Precision = "auto",
    device: options.Device = "auto",
    output: options.OutputFile = None,
    overwrite: options.OverwriteOutput = False,
    invalid: options.InvalidBytes = "error",
    quiet: options.Quiet = False,
) -> None:
    """Score given translations: their log-probability, one a line."""
    _refuse_sources(src, tgt, input_file)
    refuse_output(output, overwrite, inputs=[src, tgt] if src else [input_file])
    options.check_option("--device", "train.device", device)
    settings, run = find_run(model, config, [])

    from nmt.engines.base import EngineRequest
    from nmt.engines.load import load_decoder
    from nmt.scoring.scoring import Scorer

    asked = EngineRequest("torch", device, precision)
    decoder, _ = load_decoder(settings, run, asked, warn, print_nothing if quiet else say)
    scorer = Scorer(decoder, batch_tokens)
    render = _Renderer(output_format, per_token)
    pairs = _pairs(src, tgt, input_file, invalid)
    if output is None or is_standard(output):
        for text in _written(pairs, scorer, render, quiet):
            put(text)
            flush()
    else:
        from nmt.files import replacing

        with replacing(output) as part, part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(_written(pairs, scorer, render, quiet))
    render.warn_of_unscored()


def _refuse_sources(src: Path | None, tgt: Path | None, input_file: Path | None) -> None:
    """Raise for a combination of files that cannot be meant, or cannot be read."""
    if (src is None) != (tgt is None):
        message = "without both, source<TAB>translation is read from --input or stdin"
        raise ConfigError(f"command line: --src and --tgt go together; {message}")
    if src is not None and input_file is not None:
        raise ConfigError("command line: give either --src and --tgt, or --input")
    refuse_unreadable(src, tgt, input_file)


def _pairs(
    src: Path | None, tgt: Path | None, input_file: Path | None, invalid: str
) -> "Iterator[SentencePair]":
    from nmt.corpus.reading.pairs import aligned, columns_of

    if src is None or tgt is None:
        return columns_of(input_lines(input_file, invalid), _name(input_file))
    return aligned(input_lines(src, invalid), input_lines(tgt, invalid), _name(src), _name(tgt))


def _name(path: Path | None) -> Path:
    """A file's name in messages."""
    return Path("stdin") if path is None or is_standard(path) else path


def _written(
    pairs: "Iterator[SentencePair]", scorer: "Scorer", render: "_Renderer", quiet: bool
) -> Iterator[str]:
    """What is written for each window of pairs."""
    from nmt.translate.windows import shown, windows

    for window in shown(windows(pairs, characters=_characters), is_watched(quiet)):
        yield "".join(map(render, scorer.score(window)))


def _characters(pair: "SentencePair") -> int:
    return len(pair.src) + len(pair.tgt)


@dataclass
class _Renderer:
    """Scores to lines; notes which had none."""

    output_format: str
    per_token: bool
    lines: int = 0
    unscored: Counter[str] = field(default_factory=Counter)  # by reason
    first: dict[str, int] = field(default_factory=dict)  # the first line of each reason

    def __call__(self, found: "Scored | Unfit") -> str:
        """The line for the next pair."""
        from nmt.engines.encoded_pairs import Unfit

        self.lines += 1
        if isinstance(found, Unfit):
            self.unscored[found.why] += 1
            self.first.setdefault(found.why, self.lines)
        if self.output_format == "jsonl":
            return self._as_json(found)
        if isinstance(found, Unfit):
            return "nan\n"
        number = found.mean if self.per_token else found.log_prob
        return f"{round(number, 4) + 0.0:.4f}\n"  # + 0.0: no -0.0000

    def _as_json(self, found: "Scored | Unfit") -> str:
        import json

        from nmt.engines.encoded_pairs import Unfit

        record: dict[str, object] = {"line": self.lines}
        if isinstance(found, Unfit):
            record |= {"log_prob": None, "why": found.why}
        else:
            record["log_prob"] = found.mean if self.per_token else found.log_prob
            of_tokens = zip(found.tokens, found.log_probs, strict=True)
            record["tokens"] = [{"token": token, "log_prob": number} for token, number in of_tokens]
        return json.dumps(record, ensure_ascii=False) + "\n"

    def warn_of_unscored(self) -> None:
        """Say how many pairs have no score, and why; or that there was none."""
        if self.lines == 0:
            warn("no pair to score: the input has no lines")
        for why, count in self.unscored.items():
            written = "null" if self.output_format == "jsonl" else "nan"
            reason = _REASONS[why]
            warn(f"{counted(count, 'pair')} {reason}, first line {self.first[why]}: {written}")
