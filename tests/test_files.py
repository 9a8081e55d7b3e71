"""Writing files whole or not at all."""

from pathlib import Path

import pytest

from nmt.files import replacing


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
