"""nmt prepare: the corpora become clean pairs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nmt.commands.shell import options
from nmt.commands.shell.stage import stage
from nmt.commands.shell.streams import say
from nmt.errors import Say, print_nothing

if TYPE_CHECKING:
    from nmt.machine.workers import MapChunks


def prepare(
    config: options.ConfigFile = None,
    overrides: options.Overrides = None,
    overwrite: options.OverwriteRun = False,
    max_bytes: options.MaxBytes = None,
    ray: options.Ray = None,
    quiet: options.Quiet = False,
) -> None:
    """Clean the corpora; set dev and test aside."""
    from nmt.corpus import stages

    tell = print_nothing if quiet else say
    asked = options.with_options(overrides, "data", {"max_bytes": max_bytes})
    with (
        stage(config, asked, overwrite, tell, "nothing is prepared yet") as (settings, run),
        _mapper(ray, tell) as in_chunks,
    ):
        stages.run_prepare(settings, run, tell, in_chunks)


@contextmanager
def _mapper(ray: str | None, tell: Say) -> "Iterator[MapChunks]":
    """What cleans the pairs, chunk by chunk: processes of this machine, or a Ray cluster."""
    if ray is None:
        from nmt.machine.workers import map_chunks

        yield map_chunks
        return
    from nmt.jobs.ray_chunks import chunks_on
    from nmt.jobs.ray_session import ray_session

    with ray_session(ray) as cluster:
        yield chunks_on(cluster, tell)
