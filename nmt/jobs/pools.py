"""What translates shards: this process, or workers elsewhere; as the driver sees it."""

from collections.abc import Callable, Iterator

from nmt.jobs.shards import Done, Failed, Outcome, Shard, failure

ATTEMPTS = 3

# Takes shards as it has hands free, and gives each with its outcome, in any order.
Pool = Callable[[Iterator[Shard]], Iterator[tuple[Shard, Outcome]]]
Work = Callable[[Shard], Done]


def in_this_process(work: Work) -> Pool:
    """A pool that translates one shard after another."""

    def translate(shards: Iterator[Shard]) -> Iterator[tuple[Shard, Outcome]]:
        for shard in shards:
            yield shard, attempted(work, shard)

    return translate


def attempted(work: Work, shard: Shard) -> Outcome:
    """The result of a shard, or why it failed: a UserError at once, anything else each time."""
    outcome: Outcome = Failed("it was not tried")
    for _ in range(ATTEMPTS):
        try:
            return work(shard)
        except Exception as error:
            outcome = failure(error)
            if outcome.is_final:
                break
    return outcome
