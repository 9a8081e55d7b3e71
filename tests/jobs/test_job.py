"""Files translated shard by shard: whatever comes when, and whoever is killed, the bytes are the same."""

import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from nmt.corpus.reading.lines import blocks_of, decode_lines
from nmt.errors import ConfigError, DataError, ModelError, UserError
from nmt.files import write_json
from nmt.jobs import output
from nmt.jobs.job import Job, Pool, Watch, on_this_machine
from nmt.jobs.output import File, Output, is_packed, refuse_targets
from nmt.jobs.shards import Done, Failed, Outcome, Shard, Work, attempted, packed
from nmt.translate.windows import WINDOW

MODEL = "a model"


class Shouting:
    """A translator that writes capitals, and counts."""

    def __init__(self, fails_at: str = "nothing", times: int = 0) -> None:
        self.seen: Counter[str] = Counter()
        self._fails_at = fails_at
        self._times = times

    def __call__(self, shard: Shard) -> Done:
        self.seen[shard.name] += 1
        if self._fails_at in shard.lines and self.seen[shard.name] <= self._times:
            raise RuntimeError("it broke\nin two lines")
        text = "".join(line.upper() + "\n" for line in shard.lines)
        return Done(packed(text.encode(), shard.is_packed), ((shard.first, "loud"),))


class Told:
    """What a watcher was told."""

    def __init__(self) -> None:
        self.translated = 0
        self.found = 0
        self.kept: list[tuple[str, int]] = []
        self.finished: list[Path] = []
        self.warnings: list[str] = []

    def watch(self) -> Watch:
        def translated(lines: int) -> None:
            self.translated += lines

        def found(lines: int) -> None:
            self.found += lines

        return Watch(
            translated,
            found,
            lambda file: self.kept.append((file.target.name, file.lines)),
            lambda _: None,
            lambda file: self.finished.append(file.target),
            lambda file, number, fault: self.warnings.append(f"{file.text}:{number}: {fault}"),
            self.warnings.append,
        )


def lines_of(file: File) -> Iterator[str]:
    assert file.source is not None
    return decode_lines(blocks_of(file.source), file.source)


class World:
    """Three files, and a folder to translate them into."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.out = path / "out"
        self.expected = {}
        for name, count in (("a.en", 2 * WINDOW + 5), ("b.en.gz", WINDOW + 1), ("c.en", 0)):
            lines = [f"{name} says {number}" for number in range(count)]
            self.put(name, lines)
            self.expected[name] = "".join(line.upper() + "\n" for line in lines)

    def put(self, name: str, lines: list[str]) -> None:
        text = "".join(line + "\n" for line in lines)
        (self.path / name).write_bytes(packed(text.encode(), is_packed(Path(name))))

    def files(self) -> list[File]:
        return [File(self.path / name, self.out / name) for name in self.expected]

    def translate(self, pool: Pool, made_with: str = MODEL) -> Told:
        told = Told()
        folder = self.output()
        files = self.files()
        with folder.locked(files):
            refuse_targets(folder, files, made_with)
            Job(files, folder, made_with, lines_of, told.watch()).run(pool)
        return told

    def output(self, overwrite: bool = False) -> Output:
        return Output(self.out / ".nmt", "--output-dir", overwrite)

    def texts(self) -> dict[str, str]:
        found = {}
        for path in self.out.iterdir():
            if path.is_file():
                content = path.read_bytes()
                whole = gzip.decompress(content) if path.suffix == ".gz" else content
                found[path.name] = whole.decode()
        return found


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def in_any_order(work: Work, chance: Random, most: int = 3) -> Pool:
    """A pool that has up to `most` shards, and is done with any of them."""

    def translate(shards: Iterator[Shard]) -> Iterator[tuple[Shard, Outcome]]:
        held = list(islice(shards, most))
        while held:
            shard = held.pop(chance.randrange(len(held)))
            yield attempted(work, shard)
            held += islice(shards, most - len(held))

    return translate


def killed_after(count: int, work: Work) -> Pool:
    def translate(shards: Iterator[Shard]) -> Iterator[tuple[Shard, Outcome]]:
        for done, shard in enumerate(shards):
            if done == count:
                raise KeyboardInterrupt
            yield shard, work(shard)

    return translate


@pytest.mark.parametrize("seed", range(5))
def test_files_have_their_lines_in_order_whatever_is_done_first(world: World, seed: int) -> None:
    work = Shouting()
    told = world.translate(in_any_order(work, Random(seed)))
    assert world.texts() == world.expected
    assert set(work.seen.values()) == {1}
    assert told.translated == 3 * WINDOW + 6
    assert sorted(told.finished) == [world.out / name for name in sorted(world.expected)]
    assert len(told.warnings) == 5


def test_what_is_done_is_not_done_again(world: World) -> None:
    work = Shouting()
    for count in (1, 0, 2):
        with pytest.raises(KeyboardInterrupt):
            world.translate(killed_after(count, work))
    assert "b.en.gz" not in world.texts()
    told = world.translate(on_this_machine(work))
    assert told.found + told.translated == WINDOW + 1
    assert world.texts() == world.expected
    assert set(work.seen.values()) == {1}
    left = {path.name for path in (world.out / ".nmt").iterdir()}
    assert left == {".lock", "a.en.done", "b.en.gz.done", "c.en.done"}


def test_a_record_is_written_once_whatever_the_number_of_files(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []

    def write(path: Path, value: object) -> None:
        write_json(path, value)
        sizes.append(path.stat().st_size)

    monkeypatch.setattr(output, "write_json", write)
    world.expected = {f"{number:03}.en": "ONE\n" for number in range(40)}
    for name in world.expected:
        world.put(name, ["one"])
    world.translate(on_this_machine(Shouting()))
    assert world.texts() == world.expected
    assert len(sizes) == 40
    assert max(sizes) < 2 * min(sizes)


@pytest.mark.parametrize("content", ["[1]", "{", "5"])
def test_a_damaged_record_is_named(world: World, content: str) -> None:
    world.translate(on_this_machine(Shouting()))
    (world.out / ".nmt" / "a.en.done").write_text(content)
    with pytest.raises(ModelError, match=r"a\.en\.done: "):
        world.translate(on_this_machine(Shouting()))


def test_finished_files_stay_as_they_are(world: World) -> None:
    world.translate(on_this_machine(Shouting()))
    before = {path: path.stat().st_mtime_ns for path in world.out.iterdir() if path.is_file()}
    os.utime(world.path / "a.en")  # touched, as a copy is
    os.utime(world.out / "b.en.gz")
    work = Shouting()
    told = world.translate(on_this_machine(work))
    assert not work.seen
    assert told.kept == [("a.en", 2 * WINDOW + 5), ("b.en.gz", WINDOW + 1), ("c.en", 0)]
    after = {path: path.stat().st_mtime_ns for path in before if path.name != "b.en.gz"}
    assert after.items() <= before.items()


def test_a_process_killed_while_a_file_gets_its_name_loses_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def killed(self: Path, target: Path) -> Path:
        if target == world.out / "a.en":
            raise KeyboardInterrupt
        return replace(self, target)

    work = Shouting()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            world.translate(on_this_machine(work))
    world.translate(on_this_machine(work))
    assert world.texts() == world.expected
    assert set(work.seen.values()) == {1}


def test_a_shard_that_fails_twice_is_done_the_third_time(world: World) -> None:
    world.translate(on_this_machine(Shouting(fails_at="a.en says 7", times=2)))
    assert world.texts() == world.expected


def test_a_shard_that_fails_three_times_is_named_and_the_rest_goes_on(world: World) -> None:
    told = Told()
    folder = world.output()
    files = world.files()
    work = Shouting(fails_at="a.en says 7", times=3)
    with (
        folder.locked(files),
        pytest.raises(UserError, match=r"^not translated: \S+a\.en; their finished parts") as error,
    ):
        Job(files, folder, MODEL, lines_of, told.watch()).run(on_this_machine(work))
    assert error.value.exit_code == 1
    name = world.path / "a.en"
    assert f"{name}: lines 1 to 2,000: failed 3 times: RuntimeError: it broke" in told.warnings
    assert world.texts() == {name: world.expected[name] for name in ("b.en.gz", "c.en")}
    told = world.translate(on_this_machine(Shouting()))
    assert world.texts() == world.expected
    assert (told.found, told.translated) == (WINDOW + 5, WINDOW)


def test_a_damaged_file_is_named_and_the_others_are_translated(world: World) -> None:
    (world.path / "b.en.gz").write_bytes(b"no gzip")
    with pytest.raises(DataError, match=r"not translated: \S+b\.en\.gz") as error:
        world.translate(on_this_machine(Shouting()))
    assert error.value.exit_code == 3
    assert world.texts() == {name: world.expected[name] for name in ("a.en", "c.en")}


def test_results_of_another_model_or_other_lines_are_not_taken(world: World) -> None:
    with pytest.raises(KeyboardInterrupt):
        world.translate(killed_after(2, Shouting()))
    lines = world.expected["a.en"].lower().splitlines()
    lines[3] = "new"
    world.put("a.en", lines)
    world.expected["a.en"] = "".join(line.upper() + "\n" for line in lines)
    told = world.translate(on_this_machine(Shouting()))
    assert told.found == WINDOW  # of a.en's second shard; its first has changed
    assert world.texts() == world.expected


def interrupted_by(happens: Callable[[], object]) -> Pool:
    """A pool in which something happens outside after the first shard."""

    def translate(shards: Iterator[Shard]) -> Iterator[tuple[Shard, Outcome]]:
        for number, shard in enumerate(shards):
            if number == 1:
                happens()
            yield attempted(Shouting(), shard)

    return translate


@pytest.mark.parametrize("changed", ["replaced", "deleted"])
def test_a_source_that_changes_meanwhile_is_named_and_translated_by_the_next_command(
    world: World, changed: str
) -> None:
    source = world.path / "a.en"

    def change() -> None:
        if changed == "replaced":
            new = world.path / "new"
            new.write_text("new\n")
            new.replace(source)  # who reads the old file goes on reading it
        else:
            source.unlink()

    with pytest.raises(DataError, match=r"^not translated: \S+a\.en;"):
        world.translate(interrupted_by(change))
    assert set(world.texts()) == {"b.en.gz", "c.en"}
    if changed == "replaced":
        world.translate(on_this_machine(Shouting()))
        assert world.texts()["a.en"] == "NEW\n"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_that_appears_meanwhile_is_replaced_only_when_asked(
    world: World, overwrite: bool
) -> None:
    def appear() -> None:
        (world.out / "a.en").write_text("mine\n")

    told = Told()
    folder = world.output(overwrite)
    files = world.files()
    with folder.locked(files):
        work = Job(files, folder, MODEL, lines_of, told.watch())
        if overwrite:
            work.run(interrupted_by(appear))
        else:
            with pytest.raises(UserError, match=r"^not translated: \S+a\.en;"):
                work.run(interrupted_by(appear))
    if overwrite:
        assert world.texts() == world.expected
        return
    place = world.out / "a.en"
    fix = "name another --output-dir, or --overwrite it"
    assert f"{place}: was created by another program in the meantime; {fix}" in told.warnings
    assert world.texts() == world.expected | {"a.en": "mine\n"}
    with pytest.raises(ConfigError, match=r"a\.en: exists already"):
        world.translate(on_this_machine(Shouting()))


def test_a_file_made_with_another_model_is_not_replaced_unasked(world: World) -> None:
    world.translate(on_this_machine(Shouting()))
    with pytest.raises(
        ConfigError, match=r"a\.en: was made from another input, or with another model"
    ):
        world.translate(on_this_machine(Shouting()), made_with="another")


def test_a_file_that_somebody_has_changed_is_not_replaced_unasked(world: World) -> None:
    world.translate(on_this_machine(Shouting()))
    (world.out / "a.en").write_text("mine\n")
    with pytest.raises(ConfigError, match=r"a\.en: exists already; name another --output-dir"):
        world.translate(on_this_machine(Shouting()))
    assert (world.out / "a.en").read_text() == "mine\n"


def test_two_processes_do_not_write_into_one_folder(world: World) -> None:
    with (
        world.output().locked(world.files()),
        pytest.raises(UserError, match="another process is working"),
    ):
        world.translate(on_this_machine(Shouting()))


def test_a_folder_of_the_name_that_is_not_ours_is_refused(world: World) -> None:
    (world.out / ".nmt").mkdir(parents=True)
    (world.out / ".nmt" / "notes").write_text("mine")
    with pytest.raises(ConfigError, match=r"\.nmt: not written by nmt"):
        world.translate(on_this_machine(Shouting()))


def test_a_pool_gives_failures_as_outcomes() -> None:
    shard = Shard("a", 1, ["x"], "name", is_packed=False)
    assert attempted(Shouting("x", 9), shard)[1] == Failed("RuntimeError: it broke")


@pytest.mark.parametrize(
    ("error", "outcome", "tries"),
    [
        (KeyError(5), Failed("KeyError: 5"), 3),
        (AssertionError(), Failed("AssertionError"), 3),
        (ModelError("no model"), Failed("no model", is_final=True), 1),
    ],
)
def test_an_error_is_named_and_a_users_error_is_not_tried_again(
    error: Exception, outcome: Failed, tries: int
) -> None:
    tried = []

    def work(shard: Shard) -> Done:
        tried.append(shard)
        raise error

    assert attempted(work, Shard("a", 1, ["x"], "name", is_packed=False))[1] == outcome
    assert len(tried) == tries


def test_a_failure_that_is_final_is_told_without_a_number(world: World) -> None:
    def pool(shards: Iterator[Shard]) -> Iterator[tuple[Shard, Outcome]]:
        for shard in shards:
            yield shard, Failed("no model", is_final=True)

    told = Told()
    folder = world.output()
    files = world.files()
    with folder.locked(files), pytest.raises(UserError, match="not translated"):
        Job(files, folder, MODEL, lines_of, told.watch()).run(pool)
    assert f"{world.path / 'a.en'}: lines 1 to 2,000: failed: no model" in told.warnings
