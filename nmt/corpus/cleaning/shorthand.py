"""English as people type it in chats: `pls`, `gonna`, `dont`."""

import re
from random import Random

_SHARE = 0.9  # of the words that have a short spelling

# What may be written otherwise, as a pattern, and how. `gonna` is before a verb only: not going to school.
_VERBS = """
    ask be become break bring build buy call change come cry die do eat find finish fix forget get give go happen have
    hurt join keep kill know learn leave let lie live lose love make marry meet miss move need pay play quit rain read
    say see sell send sing sit sleep snow start stay stop study take talk teach tell throw travel try turn use wait win
    write
"""
_SPELLINGS: dict[str, tuple[str, ...]] = {
    rf"going to (?=(?:{'|'.join(_VERBS.split())})\b)": ("gonna ",),
    r"I don't know\b": ("idk", "dunno"),
    r"I'll be right back\b": ("brb",),
    r"as soon as possible\b": ("asap",),
    r"at the moment\b": ("atm",),
    r"be right back\b": ("brb",),
    r"by the way\b": ("btw",),
    r"don't know\b": ("dunno",),
    r"got to\b": ("gotta",),
    r"in my opinion\b": ("imo",),
    r"never ?mind\b": ("nvm",),
    r"oh,? my god\b": ("omg",),
    r"right now\b": ("rn",),
    r"see you\b": ("see u", "see ya"),
    r"thank you\b": ("thank u", "thx", "ty"),
    r"to be honest\b": ("tbh",),
    r"want to\b": ("wanna",),
    r"are\b": ("r",),
    r"because\b": ("bc", "cos", "cuz"),
    r"before\b": ("b4",),
    r"give me\b": ("gimme",),
    r"good ?bye\b": ("bye", "bye bye"),
    r"great\b": ("gr8",),
    r"hello\b": ("hey", "hiya"),
    r"let me\b": ("lemme",),
    r"message\b": ("msg",),
    r"no\b(?=[,.!]|$)": ("nah", "nope"),
    r"okay\b": ("k", "ok"),
    r"people\b": ("ppl",),
    r"please\b": ("plz", "pls"),
    r"somebody\b": ("sb",),
    r"something\b": ("smth", "sth"),
    r"thanks\b": ("thanx", "thx"),
    r"though\b": ("tho",),
    r"through\b": ("thru",),
    r"today\b": ("2day",),
    r"tomorrow\b": ("tmr", "tmrw"),
    r"tonight\b": ("2nite", "tonite"),
    r"why\b": ("y",),
    r"with\b": ("w/",),
    r"without\b": ("w/o",),
    r"yes\b": ("yeah", "yep", "yup"),
    r"you're\b": ("u r", "ur"),
    r"your\b": ("ur",),
    r"you\b(?!')": ("u",),
}
_BY_NAME = {f"spelling_{i}": spelling for i, spelling in enumerate(_SPELLINGS.items())}
_ALTERNATIVES = "|".join(f"(?P<{name}>{pattern})" for name, (pattern, _) in _BY_NAME.items())
_WORDS = re.compile(rf"(?<![\w'-])(?:{_ALTERNATIVES})", re.IGNORECASE)
_APOSTROPHE = re.compile("(?<=[a-z])'(?=(?:d|ll|m|re|s|t|ve)\\b)", re.IGNORECASE)  # of don't, I'm


def shorthand(text: str, chance: Random) -> str:
    """The text with short spellings for some of its words."""

    def shorten(match: re.Match[str]) -> str:
        if match.lastgroup is None or chance.random() > _SHARE:
            return match[0]
        short = chance.choice(_BY_NAME[match.lastgroup][1])
        return short.capitalize() if match[0][0].isupper() else short

    shortened = _WORDS.sub(shorten, text)
    return _APOSTROPHE.sub("", shortened) if chance.random() < _SHARE else shortened
