"""EPUB: an archive of XHTML."""

import re

from nmt.documents.formats.html import read

__all__ = ["MEMBERS", "read"]

MEMBERS = re.compile(r"(?!META-INF/).*\.(?:xhtml|xht|html?)", re.IGNORECASE)
