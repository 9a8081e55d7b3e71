"""What messages of programs have among their words: placeholders of each convention, tags, escapes.

The patterns are fragments for `re.VERBOSE` without groups of their own.
"""

import re
from collections.abc import Iterator

from nmt.documents.text import Escape, Text, Writer, as_it_is

PRINTF = r"""
    % (?: \d{1,2}\$ )? [-+\ \#0']{0,5} (?: \d{1,5} | \* )? (?: \. (?: \d{1,5} | \* )? )?
      (?: hh? | ll? | [qjztL] | I64 )? [diouxXeEfFgGaAcCsSpn@] (?: %% )?   # %s, %1$s, %5.2f, %lu, %d%%
  | % [-+\ \#0']{0,5} \d{0,5} <PRI\w{1,9}>                             # of C's inttypes.h
  | %%
"""
# %s in a text that is not marked as a format: no space as a flag, and no letter behind.
LIKELY_PRINTF = r"""
    (?<! [\w%] ) % (?: \d{1,2}\$ )? [-+\#0]{0,5} \d{0,5} (?: \.\d{1,5} )?
    (?: hh? | ll? | [zjtL] )? [diufgxXcs@] (?! [A-Za-z]{2} ) (?: %% )?
"""
SYMFONY = r"(?<! [\w%] ) % [A-Za-z_] [\w.]{0,60} % (?! \w )"  # %name%
PYTHON = r"% \( [\w.\ -]{1,99} \) [-+\ \#0]{0,5} \d{0,5} (?: \.\d{1,5} )? [diouxXeEfFgGcrsa]"
PYTHON_BRACE = r"""
    \{\{ | \}\} | \{ [\w.\[\]]{0,99} (?: ![rsa] )? (?: : [^{}]{0,99} (?: \{ [^{}]{0,99} \} [^{}]{0,99} )? )? \}
"""
MUSTACHE = r"\{\{\{ [^{}]{1,199} \}\}\} | \{\{ [^{}]{1,199} \}\} %?"  # {{name}}, {{count, number}}
BRACES = r"\{ [^{}\n]{0,199} (?: \{ [^{}\n]{0,99} \} [^{}\n]{0,99} ){0,9} \} %?"  # {name}, {0}, {0, number, #.#}
RUBY = r"%\{ [^{}\s]{1,99} \} | %< [\w.]{1,99} > [-+\ \#0]{0,5} \d{0,5} (?: \.\d{1,5} )? [a-zA-Z]"
QUOTED_BRACES = r"' [{}] [^'\n]{0,99} '"  # '{', of ICU
DOLLAR = r"\$\{ [^{}\n]{1,199} \}"  # ${name}
CHROME = r"\$\$ | \$ \w{1,99} \$ | \$ [1-9] (?! \d )"  # $name$, $1
NESTING = r"\$t\( [^()\n]{1,199} (?: \( [^()\n]{0,99} \) [^()\n]{0,99} )? \)"  # $t(key), of i18next
LINKED = (
    r"@ (?: \.\w{1,20} )? : (?: \( [^()\n]{1,99} \) | \w [\w.-]{0,98} \w | \w )"  # @:key, of Vue
)
ENTITY = r"& \w{2,60} ;"
QT = r"% (?: L? \d{1,2} | n )"

TAG = r"</? (?: [A-Za-z] [\w.:-]{0,60} | \d{1,3} ) (?: \s [^<>]{0,2000} )? /? >"
CODE = r"<code> [^<>]{1,300} </code> | <kbd> [^<>]{1,300} </kbd> | <samp> [^<>]{1,300} </samp>"
COMMENT = r"<!-- (?: (?! --> ) [\s\S] ){0,5000} -->"
_PARTS_OF_TAG = re.compile(r"<(/?)([\w.:-]+)[^>]*?(/?)>")
_VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)


def message_pattern(*placeholders: str) -> re.Pattern[str]:
    """What is no words of a message: its placeholders, tags, code in these, and line breaks."""
    parts = "|".join([COMMENT, *placeholders, CODE, TAG, r"\n | \t+"])
    return re.compile(f"(?a:{parts})", re.VERBOSE)


def message(words: str, pattern: re.Pattern[str], can_number: bool = False) -> Text:
    """The text of a message, whose placeholders and tags are found by a `message_pattern`.

    `%%` is a word, %, if there is no single one.
    """
    is_doubled = "%%" in words and "%" not in pattern.sub("", words)
    writer = Writer(_doubled if is_doubled else as_it_is)
    for piece, is_piece in _pieces(words, pattern):
        if is_piece and not (is_doubled and piece == "%%"):
            _add_piece(writer, piece, as_it_is)
        else:
            writer.words("%" if is_piece else piece)
    return writer.text(can_number)


def _doubled(words: str) -> str:
    return words.replace("%", "%%")


def add_message(
    writer: Writer, words: str, pattern: re.Pattern[str], escape: Escape = as_it_is
) -> None:
    """Add a message to a text. `escape` writes pieces as the format has them."""
    for piece, is_piece in _pieces(words, pattern):
        if is_piece:
            _add_piece(writer, piece, escape)
        else:
            writer.words(piece)


def _pieces(words: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    """Words and what the pattern finds between them, in order; whether each was found."""
    end = 0
    for match in pattern.finditer(words):
        yield words[end : match.start()], False
        yield match[0], True
        end = match.end()
    yield words[end:], False


def _add_piece(writer: Writer, piece: str, escape: Escape) -> None:
    tag = _PARTS_OF_TAG.fullmatch(piece)
    if piece.isspace():  # a line break or tabs: what is beside them is no sentence with it
        writer.line_break(escape(piece))
    elif tag is None or tag[3] or tag[2].lower() in _VOID:
        writer.single(escape(piece))
    elif tag[1]:
        writer.close(escape(piece), tag[2].partition(".")[0])
    else:
        writer.open(escape(piece), tag[2].partition(".")[0])  # <c.red> of WebVTT
