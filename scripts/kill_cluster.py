"""Kill workers and nodes of a Ray cluster, with SIGKILL at random moments, and see whether anything is lost.

Makes a cluster of two nodes with one CPU each on this machine, lets nmt translate files or prepare a corpus on it, and
kills meanwhile: a worker, the second node (another one takes its place), or, of a translation, the command itself,
which is then started again. Compares every byte with what one process writes. Starts anew until there were N kills
(by default 20). Prints `N of N` and exits with 0 if all is equal, else with 1.

    python scripts/kill_cluster.py translate RUN FILE… [--kills N] [--seed SEED] [--folder DIR]
    python scripts/kill_cluster.py prepare CONFIG [--kills N] …
"""

import argparse
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

QUIETLY = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # addresses are 127.0.0.1
    "RAY_AUTH_MODE": "token",
    "OMP_NUM_THREADS": "1",
}
OBJECTS = 100 * 2**20  # bytes of shared memory for each node
WAIT = 3600  # seconds for one command
# What is killed how often: [worker, node, the command].
SHARES = {"translate": (0.6, 0.25, 0.15), "prepare": (0.7, 0.3, 0.0)}


class TwoNodes:
    """A cluster of two nodes on this machine."""

    def __init__(self) -> None:
        os.environ.update(QUIETLY)
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        # A short name, for the sockets in it.
        self._folder = tempfile.TemporaryDirectory(prefix="two-", dir="/tmp")
        os.environ["RAY_TMPDIR"] = self._folder.name
        (Path(self._folder.name) / "ray").mkdir()
        from ray.cluster_utils import Cluster

        node = {"num_cpus": 1, "object_store_memory": OBJECTS, "include_dashboard": False}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=node)
        self._nodes: list[Any] = [self._cluster.head_node]
        self.add_node()

    @property
    def address(self) -> str:
        """HOST:PORT of the head."""
        return str(self._cluster.address)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self._cluster.shutdown()
        self._folder.cleanup()

    def add_node(self) -> None:
        """Let a node join."""
        self._nodes.append(self._cluster.add_node(num_cpus=1, object_store_memory=OBJECTS))

    def kill_node(self) -> None:
        """Kill all processes of the node that joined last."""
        self._cluster.remove_node(self._nodes.pop(), allow_graceful=False)

    def workers(self) -> list[int]:
        """The processes that work for nmt."""
        raylets = set()
        for node in self._nodes:
            raylets |= {each.process.pid for each in node.all_processes["raylet"]}
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
                title = (process / "cmdline").read_bytes()
                is_at_work = title.startswith((b"ray::_translated", b"ray::_applied"))
                if parent in raylets and is_at_work:
                    found.append(int(process.name))
        return found


class Job:
    """A command on the cluster, which is killed and started again."""

    def __init__(self, command: Sequence[object], log: Path) -> None:
        self._command = [sys.executable, "-m", "nmt", *map(str, command)]
        self._log = log
        self.process = self._started()

    def _started(self) -> "subprocess.Popen[bytes]":
        with self._log.open("ab") as log:
            return subprocess.Popen(self._command, stdout=log, stderr=log)

    def kill(self) -> None:
        """Kill it, and start it again."""
        self.process.kill()
        self.process.wait()
        self.process = self._started()

    def is_over(self) -> bool:
        """Whether it has ended. Exits if it failed."""
        status = self.process.poll()
        if status:
            said = self._log.read_text(encoding="utf-8")
            raise SystemExit(f"{said}kill: the command failed with {status}")
        return status is not None


def kill_often(
    job: Job, nodes: TwoNodes, options: argparse.Namespace, most: int, chance: Random
) -> Counter[str]:
    """Kill until the job is over, at most so many times; gives how many of each."""
    shares = SHARES[options.what]
    killed: Counter[str] = Counter()
    end = time.monotonic() + WAIT
    while not job.is_over():
        if time.monotonic() > end:
            job.process.kill()
            raise SystemExit(f"kill: not done after {WAIT} s")
        time.sleep(chance.uniform(0.5, options.pause))
        if killed.total() < most and not job.is_over():
            kind = chance.choices(("worker", "node", "command"), shares)[0]
            killed[kind] += kill_one(kind, job, nodes, chance)
    return killed


def kill_one(kind: str, job: Job, nodes: TwoNodes, chance: Random) -> int:
    """Kill a worker, a node or the command; gives how many were there to kill."""
    if kind == "node":
        nodes.kill_node()
        nodes.add_node()
    elif kind == "command":
        job.kill()
    else:
        workers = nodes.workers()
        if not workers:
            return 0
        with suppress(ProcessLookupError):
            os.kill(chance.choice(workers), signal.SIGKILL)
    say(f"  killed a {kind}")
    return 1


def contents(folder: Path) -> dict[str, bytes]:
    """All that a command leaves for its user; `.nmt/` and `.lock` are its own."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith(".")}


def say(text: str) -> None:
    """Print a line to stderr at once: stdout holds only the result."""
    print(text, file=sys.stderr, flush=True)


def commands(options: argparse.Namespace, folder: Path) -> Iterator[tuple[Path, list[object]]]:
    """The command, with a folder of its own each time that it is asked for."""
    number = 0
    while True:
        out = folder / f"out{number}"
        number += 1
        if options.what == "prepare":
            # The settings are a part of a run's folder, and its name one of them.
            yield out, ["prepare", "--config", options.given[0], f"run_dir={out}"]
        else:
            pattern = options.given[1]
            given = ["--model", options.given[0], "--input", pattern, "--output-dir", out]
            yield out, ["translate", *given, "search.beam_size=1"]


def comparable(found: dict[str, bytes], folder: Path) -> dict[str, bytes]:
    """The same, whatever the folder's name."""
    own = str(folder).encode()
    # `config.yaml` holds the name, and `written.json` the hash of that.
    hashes = "written.json"
    return {name: text.replace(own, b"") for name, text in found.items() if name != hashes}


@contextmanager
def working_folder(asked: Path | None) -> Iterator[Path]:
    """Where to work."""
    if asked is not None:
        asked.mkdir(parents=True, exist_ok=True)
        yield asked.resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def main() -> None:
    """Work undisturbed in one process, then on the cluster under kills, and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("what", choices=("translate", "prepare"))
    parser.add_argument("given", nargs="+", help="RUN 'PATTERN', or CONFIG")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pause", type=float, default=8, help="seconds between kills, at most")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    parser.add_argument("--folder", type=Path, help="where to work; default: a temporary folder")
    options = parser.parse_args()
    with working_folder(options.folder) as folder:
        kill_and_compare(options, folder)
    print(f"{options.kills} of {options.kills}")


def kill_and_compare(options: argparse.Namespace, folder: Path) -> None:
    """Exit with 1 and say what differs, if anything does."""
    chance = Random(options.seed)
    given = commands(options, folder)
    straight, command = next(given)
    begun = time.monotonic()
    subprocess.run([sys.executable, "-m", "nmt", *map(str, command)], check=True)
    expected = comparable(contents(straight), straight)
    say(f"one process: {time.monotonic() - begun:.0f} s")
    killed: Counter[str] = Counter()
    with TwoNodes() as nodes:
        for out, command in given:
            begun = time.monotonic()
            log = folder / f"{out.name}.stderr"
            job = Job([*command, "--ray", nodes.address], log)
            left = options.kills - killed.total()
            killed += kill_often(job, nodes, options, left, chance)
            counts = ", ".join(f"{count} × {kind}" for kind, count in killed.items())
            say(f"on the cluster: {time.monotonic() - begun:.0f} s; killed so far: {counts}")
            say("  " + log.read_text(encoding="utf-8").strip().replace("\n", "\n  "))
            found = comparable(contents(out), out)
            differing = [name for name in expected | found if expected.get(name) != found.get(name)]
            if differing:
                raise SystemExit(f"kill: differs: {', '.join(differing)}")
            if killed.total() >= options.kills:
                return


if __name__ == "__main__":
    main()
