"""Values of keyed files: messages of programs, with whatever placeholders their libraries have."""

import re
from collections.abc import Callable, Sequence

from nmt.documents import icu, placeholders
from nmt.documents.document import Edit, Unit
from nmt.documents.text import Text, has_words
from nmt.documents.wrapping import unwrapped

# Of i18next, Vue, FormatJS, Rails, Angular and what else reads JSON and YAML.
ANY = placeholders.message_pattern(
    placeholders.QUOTED_BRACES,
    placeholders.NESTING,
    placeholders.LINKED,
    placeholders.MUSTACHE,
    placeholders.RUBY,
    placeholders.DOLLAR,
    placeholders.SYMFONY,
    placeholders.PYTHON,
    placeholders.BRACES,
    placeholders.LIKELY_PRINTF,
    placeholders.ENTITY,
)
_BAR_WITHIN = re.compile(r"\{[^{}]*\|")  # {0,choice,0#none|1#one}
_FORMS = re.compile(r"(\s*\|\s*)")  # car | cars
# What a machine reads as a whole: a colour, a path, names of icons, a date's format, a key, a filter of files.
_FOR_MACHINES = re.compile(
    r"""
    [a-z][\w+.-]*://\S+ | \#[\da-fA-F]{3,8} | [\w.+-]+@[\w-]+\.[\w.-]+
  | [a-z\d]+(?:[-_.:/][A-Za-z\d]+)+ | [a-z]+[A-Z][A-Za-z\d]* | /[\w./-]*
  | [YMDdHhmsSaAzZEL][YMDdHhmsSaAzZEL ,./:-]* (?<= [YMDdHhms] )
  | (?: % [-^0]? [A-Za-z] | [^\w%] | \d ){2,}
  | [A-Za-z] | (?: \* \. \w{1,9} [;,\s]* ){1,20} | [a-z\d]+ (?: -[a-z\d]+ )+ (?: \s+ [a-z\d]+ (?: -[a-z\d]+ )+ )+
  | [^\s_/{}%@]{0,99} [_/{}%@] \S{0,200} \. [a-z\d]{1,5}
    """,
    re.VERBOSE,
)

Written = Callable[[str], str]


def message_unit(
    name: str,
    value: str,
    place: tuple[int, int],
    write: Written,
    pattern: re.Pattern[str] = ANY,
    context: str = "",
    can_number: bool = False,
) -> Unit | None:
    """The unit of a value that stands at a place; None if there is nothing to translate.

    `can_number`: %s may be written %1$s. `write` gives a value as the format writes it, with its escapes.
    """
    if is_for_machines(value):
        return None
    texts, together = _texts(value, pattern, can_number)
    if not any(has_words(text.words) for text in texts):
        return None
    is_unread = icu.has_choices(value) and len(texts) == 1 and icu.read(value) is None
    return Unit(
        name,
        place[0],
        texts,
        lambda filled: [Edit(*place, write(together(filled)))],
        context=context,
        problem="its plurals or choices cannot be read" if is_unread else "",
    )


def _texts(
    value: str, pattern: re.Pattern[str], can_number: bool
) -> tuple[tuple[Text, ...], Callable[[Sequence[str]], str]]:
    """What is translated of a value, and what puts that together again."""
    message = icu.read(value)
    if message is not None:
        return message.texts, message.written
    words = unwrapped(value)
    forms = [words] if _BAR_WITHIN.search(words) else _FORMS.split(words)

    def together(filled: Sequence[str]) -> str:
        between = [*forms[1::2], ""]
        return "".join(a + b for a, b in zip(filled, between, strict=True))

    return tuple(placeholders.message(form, pattern, can_number) for form in forms[::2]), together


def is_for_machines(value: str) -> bool:
    """Whether a value is a URL, a key, an identifier or a format, and no words."""
    return len(value) < 500 and _FOR_MACHINES.fullmatch(value.strip()) is not None
