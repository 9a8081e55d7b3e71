"""EPUB: an archive of XHTML."""

import re

MEMBERS = re.compile(r"(?!META-INF/).*\.(?:xhtml|xht|html?)", re.IGNORECASE)
