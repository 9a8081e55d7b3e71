"""The lottery that makes pairs of train dev and test: a function of the seed and of what the pairs say."""

import heapq

from nmt.run_dir import Split

_LARGEST_SHARE = 10  # a split gets at most one pair in this many
_SPARE = (
    4  # lots remembered for each that is asked for, so that no sentence needs to be drawn twice
)


Winner = tuple[Split, int, int]  # where a drawn pair goes, and the keys of its sentences


class Draw:
    """Pairs enter as they stream by; those with the smallest keys win."""

    def __init__(self, asked: dict[Split, int]) -> None:
        """`asked`: how many pairs each split should get, the first served first."""
        self.asked = asked
        self._entered = 0
        self._room = _SPARE * sum(asked.values())
        self._lots: list[tuple[int, int, int]] = []  # a heap of (-key, src_key, tgt_key)

    def enter(self, key: int, src_key: int, tgt_key: int) -> None:
        """Take part; equal pairs may enter once."""
        self._entered += 1
        lot = (-key, src_key, tgt_key)
        if len(self._lots) < self._room:
            heapq.heappush(self._lots, lot)
        elif self._lots and lot > self._lots[0]:
            heapq.heapreplace(self._lots, lot)

    def winners(self) -> dict[int, Winner]:
        """Map keys to what they won. No sentence wins twice, and no split more than its largest share."""
        lots = iter(sorted(self._lots, reverse=True))
        winners: dict[int, Winner] = {}
        taken: set[int] = set()
        for split, asked in self.asked.items():
            left = min(asked, self._entered // _LARGEST_SHARE)
            while left and (lot := next(lots, None)):
                key, sides = -lot[0], lot[1:]
                if taken.isdisjoint(sides):
                    winners[key] = (split, *sides)
                    taken.update(sides)
                    left -= 1
        return winners
