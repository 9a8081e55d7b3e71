"""Systems of a known quality: references, and copies with some of the characters wrong."""

import random

CHARACTERS = "我你他她们的是不在有这那一二三人来去说看想吃喝茶饭水天地日月山，"


def sentences(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [
        "".join(chance.choices(CHARACTERS, k=chance.randint(6, 14))) + "。" for _ in range(count)
    ]


def spoilt(lines: list[str], rate: float, seed: int) -> list[str]:
    """A system that gets each character wrong with probability `rate`."""
    chance = random.Random(seed)
    return [
        "".join(chance.choice("错误坏") if chance.random() < rate else c for c in line)
        for line in lines
    ]


REFERENCES = sentences(60, seed=1)
GOOD = spoilt(REFERENCES, 0.2, seed=2)
EQUAL = spoilt(REFERENCES, 0.2, seed=3)
BAD = spoilt(REFERENCES, 0.4, seed=4)
SYSTEMS = {"good": GOOD, "bad": BAD, "nearly": [*EQUAL[:55], *BAD[55:]]}
