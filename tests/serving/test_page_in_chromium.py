"""The page at `/` in headless Chromium: people type, read, look at words, choose, and drop documents."""

import base64
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from chromium import CHROMIUM, Browser, browser

pytest.importorskip("starlette.testclient")

from served import Served, listening

from nmt.serving.settings import ServeSettings

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (apt install chromium)"),
]
STATUS = "document.getElementById('status').textContent"
CHINESE = "[...document.querySelectorAll('#target p')].map((each) => each.textContent)"
LINKED = "[...document.querySelectorAll('.linked')].map((each) => each.textContent)"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def served() -> Served:
    return Served()


@pytest.fixture
def page(tab: Browser, served: Served) -> Iterator[Browser]:
    with listening(served) as address:
        yield opened(tab, address)
    assert tab.complaints == []


def opened(tab: Browser, address: str, width: int = 1200, scheme: str = "light") -> Browser:
    tab.complaints.clear()
    tab.requests.clear()
    tab.size(width)
    tab.scheme(scheme)
    tab.open(f"{address}/")
    tab.wait_for("document.title === 'English → Chinese'")
    return tab


def typed(page: Browser, text: str, expected: list[str]) -> None:
    page.type("source", text)
    page.wait_for(f"JSON.stringify({CHINESE}) === JSON.stringify({expected})")


def centre(page: Browser, element: str) -> tuple[float, float]:
    place = f"{element}.getBoundingClientRect()"
    x, y = page.value(f"(() => {{ const r = {place}; return [r.x + r.width / 2, r.y + 5]; }})()")
    return float(x), float(y)


def test_chinese_appears_while_one_types(page: Browser, served: Served) -> None:
    typed(page, "good tea\n\nsee you", ["译good tea", "", "译see you"])
    typed(page, " soon", ["译good tea", "", "译see you soon"])
    assert [line for batch in served.model.batches for line in batch].count("good tea") == 1
    assert page.value("document.getElementById('copy').disabled") is False
    assert {url.split("/")[2] for url in page.requests if "://" in url} == {
        page.value("location.host")
    }


def test_no_text_is_obeyed(page: Browser) -> None:
    evil = "<img src=x onerror=alert(1)> <b>tea</b>"
    typed(page, evil, [f"译{evil}"])
    assert page.value("document.querySelectorAll('img, #target b').length") == 0
    assert page.dialogs == 0


def test_words_that_belong_together_are_marked_on_both_sides(page: Browser) -> None:
    typed(page, "good \N{GRINNING FACE} tea", ["译good \N{GRINNING FACE} tea"])
    page.point(*centre(page, "document.querySelector('#target span')"))
    page.wait_for("document.querySelector('#target p').children.length > 2")
    word = "[...document.querySelectorAll('#target span')].find((e) => e.textContent === 'tea')"
    page.point(*centre(page, word))
    page.wait_for(f"JSON.stringify({LINKED}) === JSON.stringify(['tea', 'tea'])")
    assert page.value("document.getElementById('word').textContent") == "tea → tea"
    word = "[...document.querySelectorAll('#backdrop span')].find((e) => e.textContent === 'good')"
    page.point(*centre(page, word))
    page.wait_for("document.getElementById('word').textContent === 'good → good'")


def test_the_caret_marks_words_too(page: Browser) -> None:
    typed(page, "good tea\nmore", ["译good tea", "译more"])
    page.value("new Promise((done) => setTimeout(done, 400))")  # one has stopped typing
    page.value("document.getElementById('source').setSelectionRange(6, 6)")
    page.wait_for("document.getElementById('word').textContent === 'tea → tea'")
    assert page.value("document.getElementById('line-name').textContent") == "Line 1"


def test_faults_are_listed_and_lead_to_their_lines(page: Browser, served: Served) -> None:
    served.model.faults = {"bad": "repetition"}
    typed(page, "good\nbad", ["译good", "译bad"])
    assert page.value("document.getElementById('faults').innerText") == "Line 2: repetition: bad"
    assert page.value("document.querySelectorAll('#target p.doubtful').length") == 1
    page.value("document.querySelector('#faults button').click()")
    chosen = "[document.activeElement.selectionStart, document.activeElement.selectionEnd]"
    assert page.value(chosen) == [5, 8]
    assert page.value("document.getElementById('notes').textContent") == "repetition: bad"


def test_another_translation_is_chosen(page: Browser) -> None:
    typed(page, "tea", ["译tea"])
    page.value("document.getElementById('more').click()")
    page.wait_for("document.querySelector('#others button')")
    page.value("document.querySelector('#others button').click()")
    assert page.value(CHINESE) == ["或tea"]


def test_a_document_is_dropped_and_fetched(page: Browser) -> None:
    page.value(
        """(() => {
            const files = new DataTransfer();
            files.items.add(new File(["Good tea.\\n"], "a.txt"));
            files.items.add(new File(["%PDF"], "b.pdf"));
            const how = { dataTransfer: files, bubbles: true, cancelable: true };
            document.body.dispatchEvent(new DragEvent("drop", how));
        })()"""
    )
    page.wait_for("document.querySelectorAll('#files a, #files .fault').length === 2")
    url = page.value("document.querySelector('#files a').href")
    with urlopen(url) as answer:  # noqa: S310
        assert answer.read().decode() == "译Good tea.\n"
    assert "PDF" in page.value("document.querySelector('#files .fault').textContent")
    page.complaints.clear()  # the browser itself notes that b.pdf was refused


def test_a_busy_server_is_asked_again(tab: Browser) -> None:
    served = Served(ServeSettings(room=1, patience=0.3))
    with listening(served) as address:
        page = opened(tab, address)
        served.model.before = lambda: page and __import__("time").sleep(0.6)
        page.type("source", "tea")
        page.wait_for(f"{STATUS} === 'The server is busy; asking again …'")
        served.model.before = lambda: None
        page.wait_for(f"JSON.stringify({CHINESE}) === JSON.stringify(['译tea'])")
        assert page.value(STATUS) == ""


def test_a_key_is_asked_for(tab: Browser) -> None:
    with listening(Served(ServeSettings(keys=("secret",)))) as address:
        page = opened(tab, address)
        assert page.value("document.getElementById('key-form').hidden") is False
        assert page.value("document.getElementById('source').disabled") is True
        page.type("key", "wrong")
        page.value("document.querySelector('#key-form button').click()")
        page.type("source", "tea")
        page.wait_for(f"{STATUS} === 'Invalid API key'")
        assert page.value("document.getElementById('key-form').hidden") is False
        page.value("document.getElementById('key').value = 'secret'")
        page.value("document.querySelector('#key-form button').click()")
        page.wait_for(f"JSON.stringify({CHINESE}) === JSON.stringify(['译tea'])")


def test_a_line_that_fails_stops_no_other(page: Browser) -> None:
    page.type("source", "tea\nfail\nmilk")
    page.wait_for(f"JSON.stringify({CHINESE}) === JSON.stringify(['译tea', '', '译milk'])")
    told = page.value("document.getElementById('faults').innerText")
    assert told == "Line 2: It cannot be translated; see the server's log"
    page.complaints.clear()  # the browser itself notes the refusals


def test_a_long_text_is_translated_part_by_part(page: Browser, served: Served) -> None:
    lines = [f"line {number}" for number in range(300)]
    typed(page, "\n".join(lines), [f"译{line}" for line in lines])
    assert max(map(len, served.model.batches)) <= 24


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_follows_the_colours(
    tab: Browser, served: Served, width: int, scheme: str, tmp_path: Path
) -> None:
    with listening(served) as address:
        page = opened(tab, address, width, scheme)
        long = "a" * 300 + " https://example.org/" + "b" * 200
        typed(page, long, [f"译{long}"])
        assert page.value("document.documentElement.scrollWidth") <= width
        both = "['backdrop', 'source'].map((id) => document.getElementById(id).scrollHeight)"
        copy, text = page.value(both)
        assert abs(copy - text) < 2  # words lie under their marks
        colour = page.value("getComputedStyle(document.getElementById('source')).color")
        is_light_text = sum(map(int, colour.strip("rgb()").split(", ")[:3])) > 3 * 128
        assert is_light_text == (scheme == "dark")
        page.picture(tmp_path / "page.png")
        assert base64.b64encode((tmp_path / "page.png").read_bytes()).startswith(b"iVBOR")
