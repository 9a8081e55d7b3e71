"""The codes that clients use for languages, and which language a text is in."""

from typing import NamedTuple

from nmt.serving.errors import RequestError
from nmt.text.scripts import HAS_HAN

_CHINESE = {"zh", "zh-hans", "zh-cn", "zh-sg", "zho", "chi", "cmn"}
_NAMES = {"en": "English", "zh": "Chinese"}


class Detected(NamedTuple):
    """The language of a text, and how sure that is, from 0 to 100."""

    language: str
    confidence: float


class Languages:
    """The two languages of a model."""

    def __init__(self, source: str, target: str) -> None:
        self.source = source
        self.target = target

    def name(self, code: str) -> str:
        """A language's English name."""
        return _NAMES.get(code, code)

    def check(self, source: str, target: str, names: tuple[str, str] = ("", "")) -> None:
        """Raise RequestError for languages between which the model does not translate; `names` stand before them."""
        sides = ((source, (self.source, self.target, "auto")), (target, (self.target,)))
        for name, (code, known) in zip(names, sides, strict=True):
            if normal_code(code) not in known:
                from_to = f"this model translates from {self.source} to {self.target}"
                raise RequestError(400, f"{name}{code[:20]} is not supported; {from_to}")


def normal_code(code: str) -> str:
    """`zh_CN`, `zh-Hans` → zh; `en-GB` → en."""
    lower = code.strip().lower().replace("_", "-")
    if lower in _CHINESE:
        return "zh"
    return "en" if lower == "en" or lower.startswith("en-") else lower


def language_of(text: str, source: str) -> str:
    """The language that a client says, or with "auto" the one that a text is in."""
    return detect(text).language if source == "auto" else source


def detect(text: str) -> Detected:
    """English or Chinese, by the letters."""
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return Detected("en", 0.0)
    han = len(HAS_HAN.findall("".join(letters)))
    share = 100 * han / len(letters)
    latin = sum(character.isascii() for character in letters)
    if share >= 100 * latin / len(letters):
        return Detected("zh", round(share, 1))
    return Detected("en", round(100 * latin / len(letters), 1))
