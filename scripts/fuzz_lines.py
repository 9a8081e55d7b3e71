"""Send mutated lines through spans, numbers, checks and typography: nothing may fail, lose a byte or take long.

Lines of data/ are cut, joined, repeated and peppered with codes, amounts, marks and other scripts. Of each line:

- its spans come back byte for byte, from masking and from a text in which their placeholders are;
- what a translation must have is found in the line itself, so the line as its own translation damages nothing;
- repairing typography twice is repairing it once, and changes nothing but punctuation and spaces;
- numbers are read, amounts reworded, faults looked for; each line takes less than a second.

    python scripts/fuzz_lines.py [LINES] [--seed SEED]

Prints the first line that fails and exits with 1; else prints how many lines came through.
"""

import argparse
import gzip
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from nmt.checks.faults import ENGLISH_TO_CHINESE, damage, faults
from nmt.chinese.typography import check, repair
from nmt.numbers.chinese import chinese
from nmt.numbers.english import english
from nmt.numbers.rewording import reworded
from nmt.spans.exact import lost
from nmt.spans.masking import find, mask, mask_pair
from nmt.text.normalize import normalize
from nmt.text.vocab import JOINT, PLACEHOLDERS

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 1.0  # seconds for a line
CODES = """
DE89 3704 0044 0532 0130 00|+44 20 7946 0958|550e8400-e29b-41d4-a716-446655440000|2001:db8::1|x >= 3|a^2 + b^2 = c^2
https://x.org/a?b=1|`f(x)`|<b>|</b>|{0}|%s|%(n)d|&nbsp;|me@x.org|C:\\Users|max_tokens|v1.2.3|#ff8800|1. e4 e5|:-)|😀
$45.6m|£20k|HK$5|₹5 lakh|half a million|one in three|6'2"|-5 °C|12:30 p.m.|03/04/2025
3-5%|Mon-Fri|Привет|مرحبا|東京タワー|AED1 billion|2H2 + O2 -> 2H2O|a[i] <= a[i+1]|forty-two thousand|24-Dec-2025
，|。|“|”|"|'|(|)|（|—| — |…|...|!!|?|:|;|-|--|*|_|**|\u200d|\u3000|\ue010|\xa0|&#39;|①|½|〇|𠀀|三分之二|20万|百分之五
"""
POOL = [piece for line in CODES.strip("\n").split("\n") for piece in line.split("|")]


def lines_of_data() -> list[str]:
    """Lines of both languages of the corpora in data/."""
    lines = []
    for file in sorted(ROOT.glob("data/phrases/*.tsv")):
        for line in file.read_text("utf-8").splitlines():
            lines += line.split("\t")[:2]
    for file in sorted(ROOT.glob("data/translated/*.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as opened:
            lines += opened.read().splitlines()
    return lines


def mutated(lines: list[str], chance: random.Random) -> str:
    """A line of data, changed in up to six places; some are very long."""
    line = chance.choice(lines) if chance.random() < 0.9 else ""
    for _ in range(chance.randint(0, 6)):
        at, end = sorted(chance.randint(0, len(line)) for _ in range(2))
        change = chance.randrange(5)
        piece = chance.choice(POOL)
        if change == 0:
            line = line[:at] + line[end:]
        elif change == 1:
            line = line[:end] + line[at:end] + line[end:]
        elif change == 2:
            line = (
                line[:at] + chance.choice(["", " "]) + piece + chance.choice(["", " "]) + line[at:]
            )
        elif change == 3:
            line = (
                line[:at]
                + chr(chance.choice([chance.randrange(32, 127), chance.randrange(160, 0xD800)]))
                + line[at:]
            )
        else:
            line += chance.choice(lines)[: chance.randrange(80)]
    if chance.random() < 0.001:
        line += chance.choice([chance.choice(POOL), line[:40]]) * 300
    return " ".join(line.split("\n"))


def problems(line: str, other: str) -> Iterator[str]:
    """What is wrong with how a line is treated; `other` stands for its translation."""
    plain = line.replace(JOINT, " ")
    for into_chinese in (False, True):
        masked = mask(line, into_chinese=into_chinese)
        has_own = any(placeholder in plain for placeholder in PLACEHOLDERS)
        # Tags may change places, and spaces are put between a span and a word.
        same = sorted("".join(masked.fill(masked.text).split())) == sorted("".join(plain.split()))
        if not has_own and "&" not in plain and not same:
            yield f"masking and filling makes {masked.fill(masked.text)!r}"
        shuffled = "".join(f"好{placeholder}" for placeholder in reversed(masked.spans))
        for span in masked.spans.values():
            if span.strip() not in masked.fill(shuffled):
                yield f"the span {span!r} is lost in a translation"
    for numbers in ("figures", "all"):
        mask(line, numbers, into_chinese=True)
        mask_pair(line, other, first=3, numbers=numbers, foreign=True)
    if lost(plain, plain):
        yield f"it lacks its own spans {lost(plain, plain)}"
    once = repair(other)
    if repair(once) != once:
        yield f"{other!r} repaired twice is {repair(once)!r}, once {once!r}"
    if letters(once) != letters(other):
        yield f"repairing {other!r} changes letters: {once!r}"
    check(other)
    faults(line, other, ENGLISH_TO_CHINESE)
    damage(line, other, ENGLISH_TO_CHINESE)
    for read in (english, chinese, reworded, find):
        read(line)
    normalize(line, "en")


def letters(text: str) -> list[str]:
    """The letters and digits of a text."""
    return [character for character in text if character.isalnum()]


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("lines", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    lines = lines_of_data()
    slowest = 0.0
    for number in range(1, options.lines + 1):
        line, other = mutated(lines, chance), mutated(lines, chance)
        start = time.process_time()
        found = next(problems(line, other), "")
        seconds = time.process_time() - start
        slowest = max(slowest, seconds)
        if found or seconds > LONGEST:
            print(f"line {number}: {line!r}: {found or f'it takes {seconds:.1f} s'}")
            return 1
    print(f"{options.lines:,} lines came through; the slowest took {slowest:.3f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
