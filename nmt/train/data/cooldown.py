"""Which pairs the cooldown of schedule wsd has: those of the corpora that are good enough for the last updates.

A model remembers best what it sees last (Hu et al., 2024, arXiv:2404.06395, §4).
"""

import numpy as np
import numpy.typing as npt

from nmt.config.schema import Config
from nmt.errors import ModelError
from nmt.files import read_json
from nmt.run.folder import RunDir


def cooldown_pairs(config: Config, run: RunDir, pairs: int) -> npt.NDArray[np.bool_] | None:
    """Whether the cooldown has each of the `pairs` of train, in the order in which `prepare` wrote them; None: all.

    Raises ModelError if `prepare` has counted others.
    """
    has = [corpus.cooldown for corpus in config.data.corpora]
    if all(has):
        return None
    counts = [entry.get("pairs", 0) for entry in read_json(run.prepare_report)["corpora"]]
    if len(counts) != len(has) or sum(counts) != pairs:
        fix = "run nmt prepare and nmt build-vocab again"
        raise ModelError(
            f"{run.prepare_report}: does not count the pairs of the train split; {fix}"
        )
    return np.repeat(has, counts)
