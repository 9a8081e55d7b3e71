"""What searches for translations: ids in, hypotheses out. Nothing here needs torch."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from nmt.config.schema import SearchConfig
from nmt.run.trained import TrainedRun
from nmt.search.hypotheses import NBest
from nmt.text.side import Side

Phrases = Sequence[Sequence[int]]  # of one sentence
EngineName = Literal["auto", "torch", "ctranslate2", "fxtranslate"]


class EngineRequest(NamedTuple):
    """What computes, on which device, and how exactly; each may be `auto`.

    `others` are trained runs whose models decide together with that of the run that translates. `helpers`: whether
    other processes on this machine may help; `scores`: whether the scores of translations are shown.
    """

    engine: EngineName = "auto"
    device: str = "auto"
    precision: str = "auto"
    others: tuple[TrainedRun, ...] = ()
    helpers: bool = True
    scores: bool = False


class Engine(Protocol):
    """A model that decodes."""

    name: str  # for reports: what computes, and how exactly
    helpers: int  # how many processes of one thread may translate in the place of this one
    src: Side
    tgt: Side

    @property
    def protects(self) -> bool:
        """Whether both vocabularies have placeholders for protected spans."""

    @property
    def longest(self) -> int:
        """The most tokens of a sentence."""

    @property
    def threads(self) -> int:
        """How many batches are searched at a time; the cut into batches depends on it."""

    def decode(
        self, sources: Sequence[list[int]], search: SearchConfig, phrases: Sequence[Phrases] = ()
    ) -> list[NBest]:
        """Translate sentences, each without EOS and of at most `longest` tokens; in order.

        `phrases`: what each translation has to have, as ids. Raises ConfigError for them if the engine cannot.
        """

    def fingerprint(self) -> str:
        """A hash of all that decides what is found for a source."""
