"""A table of every sentence's scores, for other programs: tab-separated, a line for each sentence of each system."""

from collections.abc import Mapping, Sequence

from nmt.evaluate.groups import Group
from nmt.evaluate.measurement import Measurement


def sentence_table(
    systems: Mapping[str, int], measured: Sequence[Measurement], groups: Sequence[Group]
) -> str:
    """Columns `line` (from 1), `system`, `label` if there are groups, then the score by each measurement.

    `systems`: name → place among the measured ones, the last being -1. BLEU of a sentence uses only the orders of
    n-grams that it has, as `sacrebleu --sentence-level`.
    """
    scores = [each.sentences() for each in measured]  # [metric][S, N]
    labels = {number: group.label for group in groups for number in group.lines}
    label_column = ["label"] if labels else []
    header = ["line", "system", *label_column, *(each.metric for each in measured)]
    rows = ["\t".join(header)]
    for name, place in systems.items():
        for number, values in enumerate(zip(*(each[place] for each in scores), strict=True)):
            label = [labels[number]] if labels else []
            fields = [str(number + 1), name, *label, *(f"{value:.4f}" for value in values)]
            rows.append("\t".join(fields))
    return "".join(f"{row}\n" for row in rows)
