"""Pages opened in headless Chromium: they work, obey no text of others, and fit a phone."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from chromium import CHROMIUM, Browser, browser
from command_line import invoke
from hostile import EVIL
from made_texts import HYPOTHESES, REFERENCES, SOURCES, WORSE
from report_runs import made_run
from test_page import write

from nmt.report.page import rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (apt install chromium)"),
]
COUNT = 120  # sentences


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs and three systems; among the sentences, names and paths are texts that want to be obeyed."""
    folder = tmp_path_factory.mktemp("page")
    evil = [text.replace("\n", " ") for text in EVIL]
    times = COUNT // 10
    src = write(folder / "src", [*SOURCES * times, *evil])
    ref = write(folder / "ref", [*REFERENCES * times, *evil[::-1]])
    ours = write(folder / "ours", [*HYPOTHESES * times, *evil])
    half = write(folder / "half", [*WORSE * times, *evil[::-1]])
    runs = [made_run(folder / "<script>alert(2)<"), made_run(folder / "b", 4.0, resumed=150)]
    options = [option for run in runs for option in ("--model", run.path)]
    systems = [
        f"ours={ours}",
        f"<script>alert(1)<b>={half}",
        f'"><img onerror>={ref}',
    ]
    options += [option for system in systems for option in ("--hyp", system)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "PLAIN_BYTES", 60_000)  # so that some rows travel compressed
        # The made runs have no vocabularies.
        patch.setattr("nmt.commands.report._side", lambda _runs: None)
        output = folder / "report.html"
        result = invoke("report", "--src", src, "--ref", ref, *options, "-o", output)
    assert result.exit_code == 0, result.output
    assert 'id="packed"' in output.read_text(encoding="utf-8")
    return output


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def opened(tab: Browser, page: Path, width: int = 1300, scheme: str = "light") -> Browser:
    tab.complaints.clear()
    tab.requests.clear()
    tab.size(width)
    tab.scheme(scheme)
    tab.open(page)
    tab.wait_for("document.documentElement.dataset.ready === 'yes'")
    return tab


def numbers(tab: Browser) -> list[int]:
    """The line numbers of the rows that are shown, from the top."""
    headings: list[str] = tab.value(
        "[...document.querySelectorAll('#rows h4')].map((each) => each.textContent)"
    )
    return [int(re.findall(r"line ([\d,]+)", text)[0].replace(",", "")) for text in headings]


def choose(tab: Browser, identity: str, value: str) -> None:
    tab.value(
        f"(() => {{ const each = document.getElementById({identity!r}); each.value = {value!r}; "
        "each.dispatchEvent(new Event('change')); each.dispatchEvent(new Event('input')); })()"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1300])
def test_it_opens_without_a_complaint_and_fits(
    tab: Browser, page: Path, width: int, scheme: str
) -> None:
    opened(tab, page, width, scheme)
    assert tab.complaints == []
    assert tab.dialogs == 0
    assert {url.partition(":")[0] for url in tab.requests} == {"file"}
    assert len(set(tab.requests)) == 1
    assert tab.value("document.documentElement.scrollWidth") <= width
    background = tab.value("getComputedStyle(document.body).backgroundColor")
    is_dark = sum(map(int, re.findall(r"\d+", background)[:3])) < 3 * 128
    assert is_dark == (scheme == "dark")


def test_no_text_of_others_is_obeyed(tab: Browser, page: Path) -> None:
    opened(tab, page)
    while not tab.value("document.getElementById('more').hidden"):
        tab.value("document.getElementById('more').click()")
    assert len(numbers(tab)) == COUNT + len(EVIL)
    assert tab.value("document.querySelectorAll('img, #rows script, #rows svg').length") == 0
    assert (tab.complaints, tab.dialogs) == ([], 0)
    shown = tab.value("document.getElementById('rows').textContent")
    assert "</noscript><img src=x onerror=alert(1)>" in shown
    assert "{{ 7 * 7 }}" in shown


def test_rows_are_sorted_as_asked(tab: Browser, page: Path) -> None:
    opened(tab, page)
    choose(tab, "order", "number")
    assert numbers(tab)[:40] == list(range(1, 41))
    choose(tab, "order", "worst")
    choose(tab, "system", "0")
    values = tab.value(
        "[...document.querySelectorAll('#rows li:nth-child(1) .v')].map((e) => Number(e.textContent))"
    )
    assert values == sorted(values)
    choose(tab, "order", "ahead")
    choose(tab, "other", "1")
    ahead = tab.value(
        "[...document.querySelectorAll('#rows article')].map((row) => { const v = "
        "[...row.querySelectorAll('.v')].map((e) => Number(e.textContent)); return v[0] - v[1]; })"
    )
    assert ahead[0] > 0
    assert all(one >= other - 0.11 for one, other in pairwise(ahead))


def test_rows_are_filtered_as_asked(tab: Browser, page: Path) -> None:
    opened(tab, page)
    choose(tab, "search", "PYTHON和")
    tab.wait_for("document.getElementById('count').textContent.startsWith('12 of')")
    assert {number % 10 for number in numbers(tab)} == {7}
    choose(tab, "search", "")
    tab.wait_for(f"document.getElementById('count').textContent.startsWith('{COUNT + len(EVIL)}')")
    punctuation = tab.value("document.querySelector('#kind option:nth-child(3)').value")
    choose(tab, "kind", punctuation)
    choose(tab, "system", "0")
    assert 0 < len(numbers(tab)) < COUNT
    lacking = tab.value(
        "[...document.querySelectorAll('#rows li:nth-child(1)')]"
        ".filter((e) => !e.textContent.includes('punctuation to fix')).length"
    )
    assert lacking == 0


def test_scrolling_brings_more_rows(tab: Browser, page: Path) -> None:
    opened(tab, page)
    before = len(numbers(tab))
    tab.value("window.scrollTo(0, document.body.scrollHeight)")
    tab.wait_for(f"document.querySelectorAll('#rows article').length > {before}")


def test_minutes_and_updates_take_turns(tab: Browser, page: Path) -> None:
    opened(tab, page)
    seen = "[...document.querySelectorAll('.over > .grid')].map((e) => e.offsetHeight > 0)"
    assert tab.value(seen) == [True, False]
    tab.value("document.getElementById('by-minutes').click()")
    assert tab.value(seen) == [False, True]


def test_text_in_plots_can_be_selected(tab: Browser, page: Path) -> None:
    opened(tab, page)
    tab.value("getSelection().selectAllChildren(document.querySelector('figure'))")
    assert "updates" in tab.value("getSelection().toString()")


def test_without_javascript_the_rows_are_shown(tab: Browser, page: Path) -> None:
    tab.script(False)
    try:
        tab.size(1300)
        tab.open(page)
        document = tab.call("DOM.getDocument", depth=-1)
        text = str(document)
        assert text.count("'nodeName': 'ARTICLE'") > 40
        assert "Without JavaScript" in text
    finally:
        tab.script(True)


def test_it_prints(tab: Browser, page: Path, tmp_path: Path) -> None:
    opened(tab, page)
    tab.pdf(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    assert tab.complaints == []
