"""What `nmt evaluate` writes and prints, and whether a gate holds."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.commands.evaluation.files import EvaluationFiles
from nmt.commands.shell.output_file import refuse_output
from nmt.commands.shell.streams import is_standard, put, warn
from nmt.errors import ConfigError

if TYPE_CHECKING:
    from nmt.commands.evaluation.submission import Submission
    from nmt.evaluation.evaluate import MeasuredSystems
    from nmt.evaluation.results import Evaluation


@dataclass(frozen=True)
class Results:
    """Where the results go: translations to `output`, scores of each sentence to `sentences`."""

    output: Path | None
    sentences: Path | None
    overwrite: bool
    as_json: bool
    quiet: bool

    def refuse(self, files: EvaluationFiles) -> None:
        """Raise ConfigError for what could not be written when the work is done, or would replace what is read."""
        if is_standard(self.sentences):
            raise ConfigError("--sentences needs a file; name one, such as sentences.tsv")
        written = [path for path in (self.output, self.sentences) if path is not None]
        if self.overwrite and not written:
            raise ConfigError(
                "--overwrite needs --output FILE or --sentences FILE; nothing else is replaced"
            )
        if len(written) == 2 and written[0].resolve() == written[1].resolve():
            raise ConfigError(f"{written[0]}: is named by --output and --sentences; name two files")
        for path in written:
            is_replaced = self.overwrite and not is_standard(path)
            refuse_output(path, is_replaced, inputs=files.read())
        if is_standard(self.output) and not self.quiet:
            raise ConfigError("--output - would mix translations and scores on stdout; add --quiet")
        if is_standard(self.output) and self.as_json:
            raise ConfigError("--output - and --json would both be on stdout; give --output FILE")

    def write_translations(self, submitted: "Submission") -> None:
        """Write the translations to where they are wanted, if anywhere."""
        from nmt.files import write_text

        text = "".join(f"{line}\n" for line in submitted.hypotheses)
        if is_standard(self.output):
            put(text)
        elif self.output is not None:
            write_text(self.output, text)

    def publish(
        self, evaluation: "Evaluation", measured: "MeasuredSystems", history: Path | None
    ) -> None:
        """Write the table of sentences if it is wanted, print the evaluation, and append it to the history."""
        from nmt.evaluation.history import append_history
        from nmt.evaluation.records import record_of
        from nmt.evaluation.tables import format_evaluation, format_warnings, sentence_table
        from nmt.files import writable, write_text

        if self.sentences is not None:
            write_text(self.sentences, writable(sentence_table(measured)))
        for warning in format_warnings(evaluation):
            warn(warning)
        if self.as_json:
            put(json.dumps(record_of(evaluation), ensure_ascii=False, indent=2) + "\n")
        elif not self.quiet:
            hypotheses = next(iter(measured.test_set.systems.values()))
            put(format_evaluation(evaluation, hypotheses) + "\n")
        if history:
            append_history(history, record_of(evaluation))


@dataclass(frozen=True)
class Gate:
    """What has to hold, for exit code 0."""

    floors: dict[str, float]
    is_below_baseline_a_failure: bool
    lower_is_better: list[str]

    @classmethod
    def of(cls, floors: Iterable[str], below_baseline: bool, files: EvaluationFiles) -> "Gate":
        """Read the bars. Raises ConfigError for one that cannot be read, or a baseline that is not there."""
        from nmt.evaluation.gate import parse_floors

        if below_baseline and files.baseline is None:
            raise ConfigError("--fail-below-baseline needs --baseline FILE")
        found = parse_floors(floors, files.segment_scores)
        return cls(found, below_baseline, files.lower_is_better)

    def check(self, evaluation: "Evaluation") -> None:
        """Raise GateError for what does not hold."""
        from nmt.evaluation.gate import check_gate
        from nmt.evaluation.metrics import LOWER_IS_BETTER

        scores = {name: result.all_scores for name, result in evaluation.systems.items()}
        comparisons = []
        if self.is_below_baseline_a_failure:
            [result] = evaluation.systems.values()
            comparisons = result.comparisons
        lower = {*LOWER_IS_BETTER, *self.lower_is_better}
        check_gate(scores, self.floors, comparisons, lower)
