"""What XML says about a document or a book: its title, its subject, the entries of its contents, its language."""

from collections.abc import Collection

from nmt.documents.asked import Asked
from nmt.documents.document import Document, Edit, Unit, replacing
from nmt.documents.office import Elements, escape
from nmt.documents.text import has_words, plain

_LANGUAGE = "dc:language"


def read(text: str, names: Collection[str], asked: Asked) -> Document:
    """The words of the elements with these names, or with these behind that of their parent: `navLabel/text`.

    Raises DataError with the line for XML that is not well formed.
    """
    elements = Elements(text, frozenset())
    units: list[Unit] = []
    about: list[Edit] = []
    opened = [""]
    for number, token in enumerate(elements.tokens):
        if token.kind == "close":
            opened.pop()
        if token.kind != "open":
            continue
        is_named = token.name in names or f"{opened[-1]}/{token.name}" in names
        opened.append(token.name)
        start, end = token.end, elements.tokens[elements.partner[number]].start
        words = "".join(map(elements.words, elements.children(number))).strip()
        is_plain = elements.partner[number] == number + 2 and "<" not in words
        if is_plain and is_named and has_words(words):
            unit = Unit(token.name, start, (plain(words, escape),), replacing(start, end))
            units.append(unit)
        elif is_plain and token.name == _LANGUAGE and words.lower().startswith("en"):
            about.append(Edit(start, end, asked.locale))
    return Document(text, units, about)
