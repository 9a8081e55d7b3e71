"""Mistakes on the command line, one line each: options that are not there, given twice, or without a value."""

import difflib
from typing import Any

import typer
import typer.core

from nmt.errors import ConfigError

# What other programs call our options. A group may hold an option of one command and its twin of another.
_SYNONYMS = (
    ("--input", "--src", "--source", "--file", "--in", "--infile", "--input-file", "--text"),
    ("--output", "--out", "--outfile", "--output-file", "--save"),
    ("--hyp", "--hypothesis", "--hypotheses", "--sys", "--system", "--translation"),
    ("--ref", "--reference", "--references", "--tgt", "--target"),
    ("--model", "--run", "--run-dir", "--checkpoint", "--model-dir", "--model-path"),
    ("--config", "--cfg", "--conf", "--configuration", "--settings", "--yaml"),
    ("--beam-size", "--beam", "--beams", "--num-beams"),
    ("--n-best", "--nbest", "--num-return-sequences"),
    ("--overwrite", "--force"),
    ("--format", "--json", "--jsonl", "--output-format"),
)


class Command(typer.core.TyperCommand):
    """A command that takes each option once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line. Raises ConfigError where the first of two values would be ignored."""
        if not ctx.resilient_parsing:  # a line that is being completed may be anything
            _refuse_repeated(self, ctx, args)
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            vars(error)["ctx"] = ctx  # which command it was, the parser does not always say
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the help of arguments, without their types, and of options."""
        parameters: list[Any] = self.params
        arguments = [each for each in parameters if each.param_type_name == "argument"]
        rows = [(each.metavar, each.help) for each in arguments]
        if rows:
            with formatter.section("Arguments"):
                formatter.write_dl(rows)
        super().format_options(ctx, formatter)


def _refuse_repeated(command: Command, ctx: Any, args: list[str]) -> None:
    try:
        _values, _rest, given = command.make_parser(ctx).parse_args(args=list(args))
    except typer.TyperException:
        return  # the parser will say the same again
    seen = set()
    parameters: Any = given
    for parameter in parameters:
        takes_one = parameter.param_type_name == "option" and not parameter.multiple
        if takes_one and parameter.name in seen and not parameter.is_flag:
            name = max(parameter.opts, key=len)
            raise ConfigError(f"command line: {name} is given twice; give it once")
        seen.add(parameter.name)


def describe(error: Any) -> str:
    """One line for a mistake that the parser found: what is wrong, and what to do."""
    context = getattr(error, "ctx", None)
    if hasattr(error, "possibilities"):
        return f"command line: {_no_such_option(error.option_name, context)}"
    message = " ".join(error.message.replace("Value error, ", "").split()).rstrip(".")
    parameter = getattr(error, "param", None)
    if parameter is not None:
        is_argument = parameter.param_type_name == "argument"
        name = parameter.metavar if is_argument else max(parameter.opts, key=len)
        return f"command line: {name}: {message or f'missing; see {_help(context)}'}"
    message = message[:1].lower() + message[1:]
    message = message.replace(" requires an argument", " needs a value").replace(". Did", "; did")
    if message.startswith("got unexpected extra argument"):
        return f"command line: {_unexpected(message, context)}"
    if message.endswith("?"):
        choices = message.replace("', '", "' or '")
        return f"command line: {choices}"
    return f"command line: {message}; see {_help(context)}"


def _no_such_option(name: str, context: Any) -> str:
    near = nearest_option(name, _options(context)) or _setting(name, context)
    fix = f"did you mean {near}?" if near else f"see {_help(context)}"
    return f"no such option {name}; {fix}"


def _setting(name: str, context: Any) -> str | None:
    """The setting that was taken for an option, such as train.updates=VALUE; None if there is none."""
    if context is None or all(each.name != "overrides" for each in context.command.params):
        return None
    from nmt.config.load import settings_named

    is_trained = context.command.name in ("translate", "evaluate")
    sections = ("search", "evaluate") if is_trained else (context.command.name, "data", "model")
    found = settings_named(name.lstrip("-").replace("-", "_"))
    for section in sections:
        for setting in found:
            if setting.startswith(f"{section}."):
                return f"{setting}=VALUE"
    return None


def _unexpected(message: str, context: Any) -> str:
    argument = message.partition("(s) (")[2].removesuffix(")")
    if "--input" in _options(context):
        return f"unexpected argument {argument}; did you mean --input {argument}?"
    return f"unexpected argument {argument}; see {_help(context)}"


def _options(context: Any) -> list[str]:
    """The long names of a command's options."""
    if context is None:
        return []
    names = [name for parameter in context.command.params for name in parameter.opts]
    return [name for name in names if name.startswith("--")]


def _help(context: Any) -> str:
    path = context.command_path if context is not None else "nmt"
    return f"{path} --help"


def nearest_option(name: str, options: list[str]) -> str | None:
    """The option that was meant: one of the same meaning, one that begins so, or one that is spelled alike."""
    alike = [option for group in _SYNONYMS if name in group for option in group]
    for option in alike:
        if option in options:
            return option
    word = name.lstrip("-")
    for option in options:
        if len(word) > 1 and option.startswith(f"--{word}"):
            return option
    words = [option.lstrip("-") for option in options]
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return f"--{near[0]}" if near else None
