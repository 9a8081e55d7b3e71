"""What a user asks of the translation of a document."""

from dataclasses import dataclass

FRONT_MATTER = (
    "title",
    "description",
    "summary",
    "subtitle",
    "sidebar_label",
    "excerpt",
    "tagline",
    "text",
    "details",
    "linkTitle",
)


@dataclass(frozen=True)
class Asked:
    """How a document is read and written."""

    locale: str = "zh-CN"  # how the language is called where a document names it
    bilingual: bool = False  # the source stays beside its translation
    overwrite: bool = False  # translations that are there are replaced
    front_matter: tuple[str, ...] = FRONT_MATTER  # its keys whose values are translated
    width: int = 20  # of a line of subtitles, in full-width characters
    columns: tuple[str, str] = ("source", "target")  # of a table
    kept_tags: frozenset[str] = frozenset()  # of HTML, whose content stays, beside those of code
    inline_tags: frozenset[str] = frozenset()  # within a sentence, beside those that HTML knows
