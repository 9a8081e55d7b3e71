"""English→Chinese machine translation, for the command line and for Python.

    import nmt

    translator = nmt.load()
    print(translator.translate("Good morning.").text)

Importing it loads neither torch nor a model: each name below is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nmt import errors

if TYPE_CHECKING:
    from nmt.api import TranslatedDocument, Translator, document, evaluate, load, serve
    from nmt.checks.faults import Fault
    from nmt.evaluation.results import Score
    from nmt.translate.translation import Candidate, Translation

__version__ = "0.1.0"

__all__ = [
    "Candidate",
    "Fault",
    "Score",
    "TranslatedDocument",
    "Translation",
    "Translator",
    "document",
    "errors",
    "evaluate",
    "load",
    "serve",
]

_MODULES = {
    "Candidate": "nmt.translate.translation",
    "Fault": "nmt.checks.faults",
    "Score": "nmt.evaluation.results",
    "TranslatedDocument": "nmt.api",
    "Translation": "nmt.translate.translation",
    "Translator": "nmt.api",
    "document": "nmt.api",
    "evaluate": "nmt.api",
    "load": "nmt.api",
    "serve": "nmt.api",
}


def __getattr__(name: str) -> Any:
    """Load a name of `__all__` (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module 'nmt' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
