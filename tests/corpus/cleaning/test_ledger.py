from collections import Counter

from nmt.corpus.cleaning.ledger import Ledger, ledger_line

LEDGER = Ledger(
    Counter({"read": 9, "ratio": 1, "kept": 5, "empty": 2, "test": 1, "mended": 4}),
    Counter({"masked": 1, "upper": 2}),
)
ENTRY = {
    "read": 9,
    "kept": 5,
    "test": 1,
    "dev": 0,
    "mended": 4,
    "variants": {"upper": 2, "masked": 1},
    "dropped": {"empty": 2, "ratio": 1},
}


def test_an_entry_tells_what_became_of_every_pair_the_most_frequent_first() -> None:
    entry = LEDGER.entry()
    assert entry == ENTRY
    assert list(entry) == list(ENTRY)
    assert list(entry["variants"]) == ["upper", "masked"]
    assert list(entry["dropped"]) == ["empty", "ratio"]


def test_a_total_adds_up_and_leaves_its_parts_as_they_were() -> None:
    other = Ledger(Counter({"read": 3, "empty": 3}), Counter({"upper": 1}))
    total = Ledger.total([LEDGER, other])
    assert total.entry() == ENTRY | {
        "read": 12,
        "variants": {"upper": 3, "masked": 1},
        "dropped": {"empty": 5, "ratio": 1},
    }
    assert LEDGER.entry() == ENTRY
    assert Ledger.total([]).entry()["read"] == 0


def test_a_line_tells_all_of_an_entry() -> None:
    assert ledger_line(ENTRY) == (
        "9 pairs read, 5 kept, 4 with Chinese punctuation repaired, 1 drawn for test; "
        "dropped: empty 2, ratio 1; added: upper 2, masked 1"
    )
    plain = ENTRY | {"mended": 0, "variants": {}}
    assert ledger_line(plain) == "9 pairs read, 5 kept, 1 drawn for test; dropped: empty 2, ratio 1"
    assert ledger_line(plain | {"test": 0, "dropped": {}}) == "9 pairs read, 5 kept; dropped: none"
