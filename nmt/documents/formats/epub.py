"""EPUB: an archive of XHTML, with its contents and what is said about the book.

Facts are those of EPUB 3.3 (https://www.w3.org/TR/epub-33/) and of the NCX of EPUB 2.
"""

import re

from nmt.documents import described
from nmt.documents.asked import Asked
from nmt.documents.document import Document
from nmt.documents.formats import html

MEMBERS = re.compile(r"(?!META-INF/).*\.(?:xhtml|xht|html?|opf|ncx)", re.IGNORECASE)

_NO_PAGE = re.compile(r"<(?:\w+:)?(?:package|ncx)\b")
_SAID = ("dc:title", "dc:description", "dc:subject", "navLabel/text", "docTitle/text")
_FIRST = 2000  # characters that are looked at


def read(text: str, asked: Asked) -> Document:
    """The texts of a member. Raises DataError with the line for XML that is not well formed."""
    if _NO_PAGE.search(text, 0, _FIRST):
        return described.read(text, _SAID, asked)
    return html.read(text, asked)
