"""bash, in which `nmt` and `python` are forks of processes that have loaded torch: see loaded.py."""

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread

from loaded import Loaded, Script

# What `nmt` is in that shell: it hands its words, folder, environment and streams to the tests, and waits for the code.
_CLIENT = """#!{python} -ISE
import os, socket, struct, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
environment = [f"{{name}}={{value}}" for name, value in os.environ.items()]
words = [{program!r}, os.getcwd(), str(len(sys.argv) - 1), *sys.argv[1:], *environment]
data = chr(0).join(words).encode()
socket.send_fds(server, [struct.pack("<I", len(data))], [0, 1, 2])
server.sendall(data)
sys.exit(struct.unpack("<i", server.recv(4))[0] % 256)
"""


def _python() -> None:
    """`python -c CODE` or `python FILE`."""
    option, *rest = sys.argv[1:]
    if option == "-c":
        code, *sys.argv[1:] = rest
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102
    else:
        sys.argv = [option, *rest]
        Script(Path(option))()


# multiprocessing looks at all its processes when it starts one: two threads at once may take each other's exit codes.
_one_at_a_time = Lock()


@contextmanager
def loaded_programs() -> Iterator[Path]:
    """A folder for the front of $PATH, with `nmt` and `python`."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        address = folder / "socket"
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(address))
        server.listen()
        Thread(target=_serve, args=(server,), daemon=True).start()
        for program in ("nmt", "python"):
            client = _CLIENT.format(python=sys.executable, address=str(address), program=program)
            (folder / program).write_text(client, encoding="utf-8")
            (folder / program).chmod(0o755)
        try:
            yield folder
        finally:
            server.shutdown(socket.SHUT_RDWR)
            server.close()


def _serve(server: socket.socket) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:  # closed
            return
        Thread(target=_run, args=(client,), daemon=True).start()


def _run(client: socket.socket) -> None:
    """Run a program with the streams that came with the request, and answer its exit code."""
    with client:
        size, streams, _, _ = socket.recv_fds(client, 4, 3)
        data = b""
        while len(data) < struct.unpack("<I", size)[0]:
            part = client.recv(2**20)
            if not part:  # the client was killed
                return
            data += part
        program, folder, count, *words = data.decode().split("\0")
        arguments, variables = words[: int(count)], words[int(count) :]
        environment = dict(variable.split("=", 1) for variable in variables)
        options = {} if program == "nmt" else {"main": _python}
        with _one_at_a_time:
            process = Loaded(arguments, *streams, cwd=Path(folder), env=environment, **options)
        for stream in streams:
            os.close(stream)
        wait([process.sentinel])
        with _one_at_a_time:
            code = process.wait()
        client.sendall(struct.pack("<i", code))


def run_shell(
    block: str, folder: Path, programs: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run lines of bash, which end at the first that fails."""
    variables = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"} | environment
    return subprocess.run(
        ["bash", "-c", f"set -eu\n{block}"],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
