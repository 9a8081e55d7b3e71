"""A Ray cluster to work on: one of this machine's own cores, or one that is there.

Ray reports nothing to anyone, shows no dashboard, and what it has to say of itself goes to its own log files.
A cluster that nmt starts listens on 127.0.0.1 alone, needs a token that only its processes know, and ends with nmt.
"""

import logging
import os
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_tb
from typing import Any

from nmt.errors import ConfigError, Say, UserError, counted
from nmt.machine.cpu import cores
from nmt.run.version import version

LOCAL = "local"
AUTO = "auto"
_NO_CLUSTER = (
    "no cluster runs on this machine; start one with ray start --head, or give --ray local"
)
_OBJECTS = 256 * 2**20  # bytes of shared memory for what travels between processes
_ANSWER_WITHIN = 120  # seconds, in which a node says what is installed there, and loads a model
_SILENCE = 30  # seconds before it is said that nothing comes
_AGAIN = 60  # seconds until it is said again
_CONNECT_WITHIN = 5  # seconds
# Ray puts sockets below its folder, and the name of a socket has at most 107 bytes.
_LONGEST_FOLDER = 30
# The name of a setting for other systems, whose meaning is what is wanted here: addresses are 127.0.0.1.
_STAY_AT_HOME = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "token"}


@dataclass(frozen=True)
class Node:
    """A machine of a cluster, and what Ray may use of it."""

    id: str
    name: str
    cpus: int
    gpus: int


class Cluster:
    """A cluster that this process is connected to."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray

    def nodes(self) -> list[Node]:
        """The nodes that are alive."""
        nodes = []
        for node in self.ray.nodes():
            if node["Alive"]:
                name = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
                resources = node["Resources"]
                cpus, gpus = (int(resources.get(kind, 0)) for kind in ("CPU", "GPU"))
                nodes.append(Node(node["NodeID"], name, cpus, gpus))
        return nodes

    def ask_each_node(
        self, question: Callable[..., Any], *about: Any, num_cpus: int = 0, num_gpus: int = 0
    ) -> list[Any]:
        """What a function answers on each node that has room for it; a node that dies meanwhile has no answer.

        Raises what the function raises as a UserError, else UserError, which names a node where it does not run.
        """
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        ask = self.ray.remote(num_cpus=num_cpus, num_gpus=num_gpus, max_retries=0)(question)
        asked = {}
        for node in self.nodes():
            if node.cpus >= num_cpus and node.gpus >= num_gpus:
                there = NodeAffinitySchedulingStrategy(node.id, soft=False)
                asked[node] = ask.options(scheduling_strategy=there).remote(*about)
        answers = (self._answer(node, answer) for node, answer in asked.items())
        return [answer for answer in answers if answer is not None]

    def _answer(self, node: Node, answer: Any) -> Any:
        exceptions = self.ray.exceptions
        try:
            return self.ray.get(answer, timeout=_ANSWER_WITHIN)
        except exceptions.GetTimeoutError:
            message = f"has not answered for {_ANSWER_WITHIN} s"
            raise UserError(f"node {node.name}: {message}; look at it, or remove it") from None
        except exceptions.RayError as error:
            if node not in self.nodes():
                return None
            cause = getattr(error, "cause", None)
            if isinstance(cause, UserError):
                raise type(cause)(f"node {node.name}: {cause}") from None
            fix = f"install nmt {version()} on every node"
            why = last_line(error)
            raise UserError(f"node {node.name}: nmt does not run there ({why}); {fix}") from None

    def refuse_other_versions(self) -> None:
        """Raise UserError, by name, for a node on which another nmt is installed, or none."""
        own = version()
        for name, found in self.ask_each_node(_version_there):
            if found != own:
                fix = f"install nmt {own} on every node"
                raise UserError(f"node {name}: has nmt {found}, and this is nmt {own}; {fix}")


class Waiting:
    """Asked again and again while nothing comes, it says now and then for what others' work leaves no room."""

    def __init__(self, ray: Any, say: Say) -> None:
        self._ray = ray
        self._say = say
        self._next: float | None = None  # when the next line is due

    def goes_on(self, wanted: str) -> None:
        """Nothing has come; `wanted` is what needs room, in words."""
        now = time.monotonic()
        if self._next is None:
            self._next = now + _SILENCE
        if now >= self._next:
            self._next = now + _AGAIN
            self._say(f"waiting for {wanted}; the cluster has {self._free()} free")

    def ends(self) -> None:
        """Something has come."""
        self._next = None

    def _free(self) -> str:
        free = self._ray.available_resources()
        cpus = counted(int(free.get("CPU", 0)), "CPU")
        gpus = int(free.get("GPU", 0))
        return f"{cpus} and {counted(gpus, 'GPU')}" if gpus else cpus


def _version_there() -> tuple[str, str]:
    return this_node(), version()


def this_node() -> str:
    """The name and the address of the node that asks."""
    ray = load_ray()
    return f"{os.uname().nodename} ({ray.util.get_node_ip_address()})"


@contextmanager
def ray_session(address: str) -> Iterator[Cluster]:
    """A cluster at `local`, `auto` or HOST:PORT, on every node of which this nmt is installed.

    Raises ConfigError for a wrong address or without Ray, UserError if there is no cluster or a node differs.
    """
    if address == LOCAL:
        with _own_cluster() as cluster:
            yield cluster
        return
    _refuse_strange_address(address)
    ray = load_ray()
    fix = "is this machine a node of it, and has $RAY_AUTH_MODE and the token of its head?"
    try:
        _init(ray, address=address)
    except ConnectionError as error:
        if address == AUTO:
            raise UserError(f"--ray auto: {_NO_CLUSTER}") from None
        raise UserError(f"--ray {address}: cannot be used ({last_line(error)}); {fix}") from None
    except Exception as error:
        raise UserError(f"--ray {address}: cannot be used ({last_line(error)}); {fix}") from None
    try:
        cluster = Cluster(ray)
        with _naming_the_lost_cluster(ray, address):
            cluster.refuse_other_versions()
            yield cluster
    finally:
        ray.shutdown()


@contextmanager
def _naming_the_lost_cluster(ray: Any, address: str) -> Iterator[None]:
    """Raise UserError where Ray itself has gone: its head, or what runs of it on this machine."""
    try:
        yield
    except ray.exceptions.RayTaskError:
        raise  # a bug in nmt
    except (ray.exceptions.RayError, OSError) as error:
        if isinstance(error, OSError) and not _is_raised_in_ray(error):
            raise
        fix = "start Ray again, then give the same command"
        raise UserError(f"--ray {address}: Ray has gone ({last_line(error)}); {fix}") from None


def _is_raised_in_ray(error: OSError) -> bool:
    """Whether Ray's own code raised it; its C++ raises plain OSErrors where a connection is lost."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    raised_in = str(frames[-1].f_globals.get("__name__", ""))
    return error.errno is None and raised_in.split(".")[0] == "ray"


def _init(ray: Any, **settings: Any) -> None:
    """Connect, quietly. Signals go on meaning what they did: Ray's own answer to SIGTERM aborts the process."""
    before = signal.getsignal(signal.SIGTERM)
    with _silent():
        ray.init(log_to_driver=False, logging_level=logging.CRITICAL, **settings)
    signal.signal(signal.SIGTERM, before)


@contextmanager
def _silent() -> Iterator[None]:
    """Send stderr to nowhere: before it gives up, Ray's C++ tells twenty times what its exception then says."""
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)


def load_ray() -> Any:
    """Ray, which does not report its use. Raises ConfigError if it is not installed."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
    except ImportError:
        raise ConfigError("--ray needs Ray, which is not installed; run pip install ray") from None
    # It tells of every lost node on stdout, twenty lines each, and has no public setting against it.
    ray._private.worker._worker_logs_enabled = False
    library: Any = ray
    return library


@contextmanager
def _own_cluster() -> Iterator[Cluster]:
    os.environ.update(_STAY_AT_HOME)
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    ray = load_ray()
    folder = _short_folder()
    try:
        try:
            _init(
                ray,
                address=LOCAL,
                num_cpus=cores(),
                include_dashboard=False,
                object_store_memory=_OBJECTS,
                _temp_dir=str(folder),
            )
        except Exception as error:
            raise UserError(f"--ray local: Ray does not start ({last_line(error)})") from None
        with _naming_the_lost_cluster(ray, LOCAL):
            yield Cluster(ray)
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def _short_folder() -> Path:
    usual = tempfile.gettempdir()
    where = usual if len(usual) <= _LONGEST_FOLDER else "/tmp"  # noqa: S108 - mkdtemp makes it ours
    return Path(tempfile.mkdtemp(prefix="nmt-ray-", dir=where))


def _refuse_strange_address(address: str) -> None:
    """Raise ConfigError for what is no address, UserError where nobody listens: Ray would try for a minute."""
    if address == AUTO:
        return
    host, _, port = address.rpartition(":")
    if "/" in address or not host or not port.isdecimal() or int(port) >= 2**16:
        fix = "give local, auto, or the HOST:PORT of ray start --head"
        raise ConfigError(f"command line: --ray {address}: not the address of a cluster; {fix}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_WITHIN).close()
    except OSError as error:
        fix = f"start Ray there: ray start --head --port {port}"
        raise UserError(f"--ray {address}: no answer ({error}); {fix}") from None


def last_line(error: BaseException) -> str:
    """What an error says in its last line, which in Ray's errors is the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__
