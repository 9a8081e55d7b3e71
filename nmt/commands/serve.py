"""nmt serve: translations for other programs, over HTTP."""

from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated

import typer

from nmt.commands.shell import options
from nmt.commands.shell.streams import say, warn
from nmt.commands.shell.trained_run import engine_request, find_run, refuse_files_elsewhere
from nmt.errors import ConfigError, print_nothing

if TYPE_CHECKING:
    from types import ModuleType

    from nmt.serving.settings import ServeSettings

Host = Annotated[str, options.option("ADDRESS", "Where to listen; 0.0.0.0: to the whole network.")]
Port = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0: any that is free.")]
KeyFile = Annotated[
    Path | None,
    options.path_option(
        "FILE", "Keys, one a line, and # comments; requests need one.", "--api-key-file"
    ),
]
AllowHost = Annotated[
    list[str] | None,
    options.option("NAME", "A name by which it is called, besides localhost and IP addresses."),
]
AllowOrigin = Annotated[
    list[str] | None,
    options.option("ORIGIN", "A page that may ask, such as https://example.org; '*': every page."),
]
Glossaries = Annotated[
    Path | None,
    options.path_option("DIR", "Where glossaries that clients make are kept.", "--glossaries"),
]


def serve(
    model: options.Model = None,
    glossary: options.Glossary = None,
    host: Host = "127.0.0.1",
    port: Port = 5000,
    api_key_file: KeyFile = None,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
    glossaries: Glossaries = None,
    verify: options.Verify = None,
    beam_size: options.BeamSize = None,
    engine: options.Engine = "auto",
    precision: options.Precision = "auto",
    device: options.Device = "auto",
    quiet: options.Quiet = False,
) -> None:
    """A page that translates, and a server for other programs."""
    options.check_option("--device", "train.device", device)
    search = {"glossary": glossary, "verify": verify, "beam_size": beam_size}
    asked = options.with_options([], "search", search)
    trained = find_run(model, None, asked)
    refuse_files_elsewhere(trained.run, trained.config.search, None, asked)
    server = _library()

    settings = _settings(api_key_file, allow_host, allow_origin, glossaries)
    tell = print_nothing if quiet else say
    with server.listening(host, port) as sock:
        from nmt.serving.app import make_app
        from nmt.serving.service import service_of
        from nmt.translate.aligner import Aligner
        from nmt.translate.opening import load_translator, open_translator

        request = engine_request(engine, device, precision, None)._replace(helpers=False)
        translator = open_translator(trained.config, trained.run, request, warn, tell)
        in_torch = partial(load_translator, trained.config, trained.run, device, "auto", warn)
        turn = Lock()
        service = service_of(translator, Aligner(translator, in_torch, turn), turn, settings)
        app = make_app(service, tell)
        _warn_of_strangers(host, settings)
        tell(f"nmt: listening at {_address(host, sock.getsockname()[1])}; Ctrl-C ends")
        server.run(app, sock)


def _library() -> "ModuleType":
    """The module that runs a server. Raises ConfigError without the packages that it needs."""
    try:
        import_module("nmt.serving.app")  # the parts that a server needs
        from nmt.serving import server
    except ModuleNotFoundError as error:
        fix = "run pip install starlette uvicorn python-multipart"
        raise ConfigError(f"nmt serve needs {error.name}, which is not installed; {fix}") from None
    return server


def _settings(
    key_file: Path | None,
    hosts: list[str] | None,
    origins: list[str] | None,
    glossaries: Path | None,
) -> "ServeSettings":
    from nmt.serving.settings import ServeSettings

    keys: tuple[str, ...] = ()
    if key_file is not None:
        from nmt.corpus.reading.lines import read_lines

        lines = [line.strip() for line in read_lines(key_file)]
        keys = tuple(line for line in lines if line and not line.startswith("#"))
        if not keys:
            raise ConfigError(f"{key_file}: no keys in it; write one on each line")
    return ServeSettings(keys, tuple(hosts or ()), tuple(origins or ()), glossaries)


def _warn_of_strangers(host: str, settings: "ServeSettings") -> None:
    """Say it if others may reach the server, and need no key."""
    from nmt.serving.hosts import is_this_machine

    if not settings.keys and not is_this_machine(host):
        warn(f"--host {host}: anyone who can reach this machine can use it; see --api-key-file")


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
