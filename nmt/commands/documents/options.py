"""The options of nmt document alone."""

from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.shell import options
from nmt.documents.asked import FRONT_MATTER
from nmt.documents.registry import BY_NAME

Files = Annotated[
    list[str] | None,
    options.argument("FILE", "Files, patterns or folders to translate; default: stdin."),
]
FormatName = Annotated[
    str | None,
    options.option(
        "FORMAT",
        f"One of {', '.join(BY_NAME)}; default: by the file's name or first lines.",
        "--format",
    ),
]
OutputDir = Annotated[
    Path | None,
    options.path_option("DIR", "Folder for the translations of several files."),
]
Bilingual = Annotated[
    bool,
    options.flag(
        "Keep the English beside the Chinese (subtitles, Markdown, HTML, text, EPUB).",
        "--bilingual",
    ),
]
OnlyNew = Annotated[
    bool,
    options.flag(
        "Keep the values that the --output has already (JSON, YAML, Android, properties).",
        "--only-new",
    ),
]
Memory = Annotated[
    Path | None,
    options.path_option(
        "FILE", "A table, source<TAB>target: its translations are taken, and new ones are added."
    ),
]
OverwriteTranslations = Annotated[
    bool,
    options.flag(
        "Replace translations that are in the file, a person's too.", "--overwrite-translations"
    ),
]
Keys = Annotated[
    str | None,
    options.option(
        "KEYS", f"Keys of front matter to translate; default: {', '.join(FRONT_MATTER)}."
    ),
]
Columns = Annotated[
    str,
    options.option("SOURCE,TARGET", "Columns of a table (CSV, TSV) to read and to fill."),
]
Width = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, help="Longest line of subtitles, in full-width characters; 0: no limit."
    ),
]
Extract = Annotated[
    bool, options.flag("Print the texts as lines of JSON, without translating.", "--extract")
]
Apply = Annotated[
    Path | None,
    options.path_option("FILE", "Take the translations from lines of JSON that --extract printed."),
]
DryRun = Annotated[
    bool, options.flag("Only print what would be translated of each file.", "--dry-run")
]
Strict = Annotated[bool, options.flag("Exit with 4 if a text was left as it was.", "--strict")]
AsJson = Annotated[bool, options.flag("Print what became of each file as JSON.", "--json")]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Number of models with --ray; default: one per GPU or CPU."
    ),
]
