"""The sentences of `sentences.py` with sources that state a number, and a worse system beside."""

import sentences
from sentences import HYPOTHESES

SOURCES = ["I drink 3 cups of tea."] * 10
REFERENCES = [sentences.REFERENCES[0].replace("一杯", "三杯"), *sentences.REFERENCES[1:]]
WORSE = [line[: len(line) // 2] for line in HYPOTHESES]
__all__ = ["HYPOTHESES", "REFERENCES", "SOURCES", "WORSE"]
