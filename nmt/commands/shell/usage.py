"""Mistakes on the command line, one line each: options that are not there, given twice, or without a value."""

import re
from typing import Any

import typer
import typer.core

from nmt.errors import ConfigError

# What other programs, and our other commands, call an option: click would suggest what is spelled alike.
_MEANT = {
    "--file": "--input",
    "--input": "--src",
    "--json": "--format",
    "--ref": "--tgt",
    "--src": "--input",
    "--tgt": "--ref",
}


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
    context = error.ctx
    if getattr(error, "possibilities", None) is not None:
        error.possibilities = _possibilities(error, context)
    message = " ".join(error.format_message().replace("Value error, ", "").split())
    says_what_to_do = re.search("Did you mean|Possible options|Invalid value", message)
    if says_what_to_do:
        return f"command line: {message.rstrip('.')}"
    is_file = "unexpected extra argument" in message and "--input" in _options(context)
    program = "nmt" if context is None else context.command_path
    fix = "give a file as --input FILE" if is_file else f"see {program} --help"
    return f"command line: {message.rstrip('.')}; {fix}"


def _possibilities(error: Any, context: Any) -> list[str]:
    """What may have been meant by an option that is not there."""
    meant = _MEANT.get(error.option_name)
    if meant in _options(context):
        return [meant]
    return _settings(error.option_name, context) or error.possibilities


def _options(context: Any) -> list[str]:
    return [name for parameter in _parameters(context) for name in parameter.opts]


def _parameters(context: Any) -> list[Any]:
    """What a command takes; the parser does not always say which command it was."""
    return [] if context is None else context.command.params


def _settings(option: str, context: Any) -> list[str]:
    """The settings that were taken for an option, such as train.updates=VALUE, if the command takes settings."""
    if all(each.name != "overrides" for each in _parameters(context)):
        return []
    from nmt.config.load import settings_named

    is_trained = context.command.name in ("translate", "evaluate")
    found = []
    for setting in settings_named(option.lstrip("-").replace("-", "_")):
        if setting.startswith(("search.", "evaluate.")) == is_trained:
            found.append(f"{setting}=VALUE")
    return found
