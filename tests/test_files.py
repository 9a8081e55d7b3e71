"""Writing files whole or not at all, and where nothing is written."""

from pathlib import Path
from threading import Thread

import pytest

from nmt.errors import ConfigError
from nmt.files import opened_alone, refuse_taken, refuse_unwritable, replacing


def write_folder(folder: Path, text: str) -> None:
    with replacing(folder) as part:
        part.mkdir()
        (part / "weights").write_text(text)


def test_a_signal_while_a_folder_is_replaced_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "step"
    write_folder(folder, "old")
    rename = Path.replace

    def interrupted(path: Path, target: Path) -> Path:
        if target == folder and path.name == "step":
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_folder(folder, "new")
    assert (folder / "weights").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["step"]


def test_a_folder_is_free_if_it_is_absent_or_empty(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for free in (tmp_path / "empty", tmp_path / "absent", tmp_path / "absent" / "inner"):
        refuse_taken(free, "name another")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    for taken, reason in (
        ("full", "is not empty; name another"),
        ("full/file", "is no folder; name another"),
        ("link", "is no folder; name another"),
        ("nowhere", "is no folder; name another"),
    ):
        with pytest.raises(ConfigError, match=f"{tmp_path / taken}: {reason}"):
            refuse_taken(tmp_path / taken, "name another")


@pytest.mark.parametrize("name", ["file", "file/inner", "link", "link/inner"])
def test_no_folder_can_be_made_where_a_file_stands(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    place = tmp_path / name.partition("/")[0]
    with pytest.raises(ConfigError, match=f"{place}: there is a file where a folder is needed"):
        refuse_unwritable(tmp_path / name)


def test_a_file_is_opened_alone_after_the_one_before(tmp_path: Path) -> None:
    order = []

    def second() -> None:
        with opened_alone(tmp_path / "file"):
            order.append("second")

    with opened_alone(tmp_path / "file"):
        waiting = Thread(target=second)
        waiting.start()
        waiting.join(timeout=0.1)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]
