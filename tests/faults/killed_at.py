"""Train runs, killing the process with SIGKILL at chosen touches of the file system, until so many kills are done.

A process of its own, since it forks: python killed_at.py CORPUS FOLDER KILLS. Each life of a training is killed at a
touch (opening, making, renaming, deleting) of a file or folder: two in three at one of a checkpoint, which one by
chance. The next life resumes. A run that is at its end is compared with an undisturbed one, and another is begun.
Prints the number of kills; fails where a run differs.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

from conftest import tiny_config, train
from trainings import outcome

from nmt.files import locked
from nmt.run.folder import RunDir

SETTINGS = [
    *(
        "train.updates=12",
        "train.save_every=3",
        "train.validate_every=6",
        "train.keep=2",
        "train.average=2",
    ),
    *("train.patience=9", "train.average_of=best", "model.dropout=0.1", "model.d_model=16"),
]
TOUCHES = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree")


def life(corpus: Path, run: Path, hook: Callable[[str, tuple[object, ...]], None]) -> bool:
    """Train in a process of its own, `hook` told of everything; gives whether it came to its end."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            sys.addaudithook(hook)
            with locked(run, RunDir(run).places()):
                train(tiny_config(corpus, run, *SETTINGS))
        except BaseException as error:
            sys.stdout.write(f"{run}: {error!r}\n")
            sys.stdout.flush()
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return False
    assert os.WEXITSTATUS(status) == 0
    return True


def killing(run: Path, chance: Random) -> Callable[[str, tuple[object, ...]], None]:
    """A hook that kills at some touch."""
    text, most = chance.choice([("/checkpoints/", 50), ("/checkpoints/", 50), ("/", 400)])
    left = chance.randint(1, most)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in TOUCHES and str(arguments[0]).startswith(f"{run}{text}"):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return hook


def main(corpus: Path, folder: Path, kills: int) -> None:
    """Kill, resume, compare."""
    chance, done, number = Random(1), 0, 0
    straight = outcome(train(tiny_config(corpus, folder / "straight", *SETTINGS)))
    while done < kills:
        run, number = folder / f"run-{number}", number + 1
        while done < kills and not life(corpus, run, killing(run, chance)):
            done += 1
        assert life(corpus, run, lambda *_: None)
        assert outcome(RunDir(run)) == straight, run
        assert [path.name for path in run.rglob(".*")] == [".lock"], run
    sys.stdout.write(f"{done}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
