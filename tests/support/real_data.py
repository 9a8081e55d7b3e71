"""Real corpora and the output of real systems, for the tests that read them where they are at hand."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"
ABSENT = "real data absent"


def needs_real_data(name: str) -> pytest.MarkDecorator:
    """Skip a test where this part of the data is absent; the summary then says so."""
    return pytest.mark.skipif(
        not (FOLDER / name).exists(), reason=f"{ABSENT}: ../shared/data/{name}"
    )
