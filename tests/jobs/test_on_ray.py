"""nmt on Ray itself: a cluster of two nodes on this machine, one of which is killed."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import NMT, counting_pairs, run_nmt

from nmt.run.folder import RunDir

SCRIPTS = Path(__file__).parents[2] / "scripts"
QUIETLY = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": "0" * 64,
}
# The cluster, in a process of its own: it says its address, and kills a node for each line that comes.
CLUSTER = """
import sys
from kill_cluster import TwoNodes
with TwoNodes() as nodes:
    print(nodes.address, flush=True)
    for line in sys.stdin:
        nodes.kill_node()
"""
pytestmark = pytest.mark.slow


class Nodes:
    """Two nodes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin = process.stdin
        self.address = process.stdout.readline().strip()

    def kill_node(self) -> None:
        """Kill the second."""
        self._stdin.write("\n")
        self._stdin.flush()


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Nodes]:
    for name, value in QUIETLY.items():
        monkeypatch.setenv(name, value)
    process = subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=SCRIPTS,
    )
    with process:
        yield Nodes(process)
        process.communicate(timeout=60)


def wait_for(condition: Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def write_english(path: Path, count: int) -> Path:
    lines = [pair[0] for pair in counting_pairs(2_000, seed=3)]
    path.write_text("".join(f"{lines[i % 2_000]}\n" for i in range(count)), encoding="utf-8")
    return path


def test_a_node_that_is_killed_costs_nothing_but_time(
    nodes: Nodes, trained: RunDir, tmp_path: Path
) -> None:
    source = write_english(tmp_path / "a.en", 20_000)
    search = "search.beam_size=1"
    one = run_nmt("translate", "-m", trained.path, "-i", source, "-q", search)
    out = tmp_path / "out"
    command = [*NMT, "translate", "-m", str(trained.path), "-i", str(source), search]
    command += ["--output-dir", str(out), "--ray", nodes.address]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    wait_for(lambda: list(out.glob(".nmt/a.en.part/0*")))
    nodes.kill_node()
    stdout, stderr = process.communicate(timeout=180)
    assert process.returncode == 0, stderr
    assert stdout == b""
    assert (out / "a.en").read_bytes() == one.stdout
    said = stderr.decode().splitlines()
    assert all(line.startswith("nmt: ") for line in said)  # nothing of Ray's


def test_prepare_writes_the_same_bytes_on_a_cluster(nodes: Nodes, tmp_path: Path) -> None:
    pairs = counting_pairs(30_000, seed=5)
    table = tmp_path / "pairs.tsv"
    table.write_text("".join(f"{en}\t{zh}\n" for en, zh in pairs * 2), encoding="utf-8")
    config = tmp_path / "c.yaml"
    config.write_text(f"run_dir: run\ndata: {{corpora: [{{name: a, tsv: {table}}}]}}\n")
    folders = []
    for name, options in (("one", []), ("two", ["--ray", nodes.address])):
        folder = tmp_path / name
        folder.mkdir()
        done = run_nmt("prepare", "--config", config, *options, cwd=folder)
        assert done.returncode == 0, done.stderr
        files = (path for path in folder.rglob("*") if path.is_file())
        folders.append({path.relative_to(folder): path.read_bytes() for path in files})
    assert folders[0] == folders[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_cluster_of_ours_ends_with_us(
    trained: RunDir, tmp_path: Path, number: signal.Signals
) -> None:
    source = write_english(tmp_path / "a.en", 200_000)
    out = tmp_path / "out"
    command = [*NMT, "translate", "-m", str(trained.path), "-i", str(source)]
    command += ["--output-dir", str(out), "--ray", "local", "--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    wait_for(lambda: list(out.glob(".nmt/a.en.part/0*")))
    of_ours = processes_of_ray(process.pid)
    assert of_ours
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 128 + number
        how = f"{out} keeps what is done; the same command continues"
        assert stderr.decode().splitlines()[-1] == f"nmt: {number.name}: {how}"
    wait_for(lambda: not [pid for pid in of_ours if Path(f"/proc/{pid}").exists()], 150)


def processes_of_ray(parent: int) -> set[int]:
    """The processes below one, as /proc tells."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    found = {parent}
    while more := {pid for pid, above in parents.items() if above in found} - found:
        found |= more
    return found - {parent}


def test_a_cluster_of_ours_listens_on_this_machine_alone(tmp_path: Path) -> None:
    code = (
        "import subprocess, os, sys; from nmt.jobs.ray_session import ray_session\n"
        "with ray_session('local') as cluster:\n"
        "    cluster.refuse_other_versions()\n"
        "    print(os.environ['RAY_USAGE_STATS_ENABLED'], [n.cpus for n in cluster.nodes()])\n"
        "    print(open('/proc/net/tcp').read(), open('/proc/net/tcp6').read(), sep='---')\n"
        "    import ray; print(ray._private.worker.global_worker.node.get_session_dir_path())\n"
    )
    before = listening(Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text())
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout.startswith("0 [")
    opened = listening(done.stdout) - before
    assert opened
    everywhere = {"00000000", "0" * 32}
    assert not {place for place in opened if place.partition(":")[0] in everywhere}
    folder = Path(done.stdout.strip().splitlines()[-1])
    assert folder.name.startswith("session_")
    assert not folder.parent.exists()  # nothing is left behind


def listening(table: str) -> set[str]:
    """The local addresses of sockets in state 0A, listening."""
    rows = [line.split() for line in table.splitlines()]
    return {row[1] for row in rows if len(row) > 3 and row[3] == "0A"}
