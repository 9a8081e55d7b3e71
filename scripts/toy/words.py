"""Words of the toy corpus and their forms, such as plurals and pasts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_IRREGULAR_S = {"be": "is", "have": "has", "photo": "photos", "scarf": "scarves"}
_SIBILANT = re.compile(
    r"""
    (s | sh | ch | x | o) $    # glasses, dishes, watches, boxes, goes
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Word:
    """A word or phrase: its forms by name in both languages; "" names the plain form."""

    en: Mapping[str, str]
    zh: Mapping[str, str]


def pronoun(subject: str, obj: str, possessive: str, be: str, zh: str) -> Word:
    """A personal pronoun, such as he, him, his, is, 他."""
    english = {
        "": subject,
        "obj": obj,
        "poss": possessive,
        "he": subject,
        "his": possessive,
        "be": be,
    }
    chinese = {"": zh, "poss": f"{zh}的", "he": zh, "his": f"{zh}的"}
    return Word(english, chinese)


def person(en: str, later: Word, zh: str) -> Word:
    """Somebody with a name or a title; `later` is the pronoun for later mentions."""
    english = {**later.en, "": en, "obj": en, "poss": f"{en}'s"}
    chinese = {**later.zh, "": zh, "poss": f"{zh}的"}
    return Word(english, chinese)


def noun(en: str, measure: str, zh: str) -> Word:
    """A thing to count, such as book, 本, 书."""
    english = {"": en, "a": add_article(en), "s": add_s(en)}
    return Word(english, {"": zh, "m": measure})


def verb(base: str, past: str, rest: str, zh: str) -> Word:
    """A verb phrase, such as eat, ate, rice, 吃了米饭: the plain Chinese leaves 了 out."""
    forms = {"": base, "s": add_s(base), "past": past, "ing": add_ing(base)}
    english = {name: f"{form} {rest}".rstrip() for name, form in forms.items()}
    return Word(english, {"": zh.replace("了", ""), "le": zh})


def adjective(en: str, comparative: str, zh: str) -> Word:
    """An adjective, such as cold, colder, 冷."""
    return Word({"": en, "er": comparative}, {"": zh})


def phrase(en: str, zh: str) -> Word:
    """A phrase of one form."""
    return Word({"": en, "a": add_article(en)}, {"": zh})


def add_s(phrase: str) -> str:
    """The plural of a noun or the third person of a verb; a phrase changes in its first word: cups of tea."""
    head, space, rest = phrase.partition(" ")
    if head in _IRREGULAR_S:
        return _IRREGULAR_S[head] + space + rest
    stem = re.sub(r"(?<=[^aeou])y$", "ie", head)  # city: cities, but day: days
    ending = "es" if _SIBILANT.search(head) else "s"
    return stem + ending + space + rest


def add_ing(verb: str) -> str:
    """The -ing form of a verb."""
    stem = re.sub(r"(?<=[^aeiou])([ie])([mt])$", r"\1\2\2", verb)  # swim: swimming, get: getting
    stem = re.sub(r"e$", "", stem)  # dance: dancing
    return stem + "ing"


def add_article(phrase: str) -> str:
    """The phrase with `a` or `an`."""
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


def agree(subject: Word, verb: str) -> str:
    """The form of the verb that goes with the subject; `be` and `was` change most."""
    be = subject.en["be"]
    if verb == "be":
        return be
    if verb == "was":
        return "were" if be == "are" else "was"
    return add_s(verb) if be == "is" else verb
