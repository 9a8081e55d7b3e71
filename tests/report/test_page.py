"""The page: all in one file, all text escaped, all rows there."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import invoke
from hostile import EVIL
from made_texts import HYPOTHESES, REFERENCES, SOURCES, WORSE
from report_runs import made_run

from nmt.report.page import rows
from nmt.report.page.html_text import html_of, visible
from nmt.report.page.plots import Series, lines
from nmt.report.page.rows import Names, make_rows, script_json
from nmt.report.systems.sentences import Output, Sentence


class Elements(HTMLParser):
    """Every element with its attributes, and the text outside scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def write(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8", newline="\n")
    return path


def page_of(*arguments: object, output: Path) -> str:
    result = invoke("report", *arguments, "-o", output)
    assert result.exit_code == 0, result.output
    return output.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """The options that give two systems with sources and a reference."""
    folder = tmp_path_factory.mktemp("texts")
    src, ref = write(folder / "src", SOURCES), write(folder / "ref", REFERENCES)
    ours, half = write(folder / "ours", HYPOTHESES), write(folder / "half", WORSE)
    return ["--src", src, "--ref", ref, "--hyp", f"ours={ours}", "--hyp", f"half={half}"]


@pytest.fixture(scope="module")
def both(texts: list[object], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of two systems."""
    folder = tmp_path_factory.mktemp("page")
    return page_of(*texts, output=folder / "report.html")


def test_the_page_asks_for_nothing_from_elsewhere(both: str) -> None:
    elements = Elements(both)
    links = [
        value
        for _, attributes in elements.found
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "action", "data", "srcset")
    ]
    assert links
    assert all((link or "").startswith("#") for link in links)
    assert "url(http" not in both
    assert "@import" not in both


def test_the_policy_allows_the_page_s_own_style_and_script_and_nothing_else(both: str) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', both)
    assert "default-src &#39;none&#39;" in policy
    assert "unsafe" not in policy
    attributes = [name for _, each in Elements(both).found for name in each]
    assert "style" not in attributes
    assert not [name for name in attributes if name.startswith("on")]


def test_every_id_stands_once_and_every_link_leads_to_one(both: str) -> None:
    elements = Elements(both).found
    ids = [each["id"] for _, each in elements if "id" in each]
    assert len(ids) == len(set(ids))
    links = [each["href"] for _, each in elements if each.get("href")]
    assert {str(link)[1:] for link in links} <= set(ids)


def test_without_javascript_all_rows_are_there(both: str) -> None:
    (plain,) = re.findall(r'<noscript id="plain">(.*?)</noscript>', both, re.DOTALL)
    text = "".join(Elements(plain).texts)
    assert plain.count("<article>") == len(REFERENCES)
    assert all(line in text for line in [*SOURCES, *REFERENCES, *HYPOTHESES, *WORSE])


def test_text_in_plots_is_text() -> None:
    svg = lines([Series(0, [1, 2], [3.0, 4.0])], "a & b", "updates", "p-")
    texts = Elements(svg).texts
    assert "updates" in texts
    assert 'aria-label="a &amp; b"' in svg
    assert "style=" not in svg
    assert "#fe00" not in svg  # no stand-in colour is left
    assert 'class="k0"' in svg.replace(" ", "") or "k0" in svg


def test_json_has_the_figures_of_the_page(texts: list[object], both: str) -> None:
    result = invoke("report", *texts, "--json", "--quiet")
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["quality"]["systems"] == ["ours", "half"]
    for part in found["quality"]["metrics"]:
        for score in part["scores"]:
            assert f"{score['value']:.2f}" in both
    keys = json.loads(re.findall(r'id="keys">(.*?)</script>', both)[0])
    assert keys["number"] == [sentence["number"] for sentence in found["sentences"]]


# --- hostile text ---


def test_no_text_of_others_becomes_an_element(tmp_path: Path) -> None:
    """Names, paths, sentences, settings, corpora: what each shows is text."""
    run = made_run(tmp_path / "<script>alert(1)<\u202e")
    evil = dict(enumerate(EVIL))
    settings = yaml.safe_load(run.config.read_text(encoding="utf-8"))
    settings["train"]["start_from"] = EVIL[1]
    settings["data"] = {"corpora": [{"name": EVIL[0], "tsv": EVIL[2], "licence": EVIL[4]}]}
    run.config.write_text(yaml.safe_dump(settings), encoding="utf-8")
    entry = {"name": EVIL[0], "read": 5, "kept": 4}
    totals = {"read": 5, "kept": 4, "dropped": {EVIL[3]: 1}, "variants": {EVIL[5]: 2}}
    prepared = {"totals": totals, "corpora": [entry], "train": {"pairs": 6}}
    run.prepare_report.write_text(json.dumps(prepared))
    lines_of = [text.replace("\n", " ") for text in evil.values()]
    src, ref = write(tmp_path / "src", lines_of), write(tmp_path / "ref", lines_of)
    other = write(tmp_path / "<title><b>", lines_of[::-1])
    names = [f"{text}={ref}" for text in ("<script>alert(1)<b>", '"><img onerror>')]
    arguments = ["--src", src, "--ref", ref, "--hyp", names[0], "--hyp", names[1], "--hyp", other]
    page = page_of(*arguments, output=tmp_path / "systems.html")
    page += page_of("--model", run.path, "--attention", 0, output=tmp_path / "run.html")
    elements = Elements(page).found
    names_of_elements = {name for name, _ in elements}
    assert "img" not in names_of_elements
    scripts = [attributes for name, attributes in elements if name == "script"]
    assert [each.get("id") for each in scripts] == ["keys", None]
    assert not {name for _, each in elements for name in each if name.startswith("on")}
    assert "\0" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page


@pytest.mark.parametrize("text", EVIL)
def test_text_is_visible_and_escaped(text: str) -> None:
    shown = html_of(text)
    assert "<" not in shown
    assert '"' not in shown
    assert shown.isprintable()
    assert "</" not in script_json({"text": text})
    assert json.loads(script_json(text)) == text


def test_what_cannot_be_seen_is_named() -> None:
    assert visible("a\0b\u202ec") == "a␀b⟨U+202E⟩c"
    assert visible("\u200b\ufeff\xad") == "⟨U+200B⟩⟨U+FEFF⟩⟨U+00AD⟩"
    assert visible("中文 text，😀 👩\u200d💻") == "中文 text，😀 👩\u200d💻"
    assert visible("\udce9") == "\ufffd"  # of a file's name that is no UTF-8


# --- many rows ---


def test_rows_beyond_a_size_travel_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = (Output("甲", 50.0, ()), Output("乙</script>", 20.0, ("copy",)))
    sentences = [Sentence(number, "a", ("甲",), ((),), outputs, 30.0) for number in range(1, 501)]
    names = Names(("one", "two"), "en", "zh")
    everything = make_rows(sentences, names)
    assert (len(everything.plain), everything.packed) == (500, "")
    monkeypatch.setattr(rows, "PLAIN_BYTES", 50_000)
    some = make_rows(sentences, names)
    rest = zlib.decompress(base64.b64decode(some.packed)).decode().split("\n")
    assert [*some.plain, *rest] == everything.plain
    assert 0 < len(some.plain) < 500
    assert some.count == 500


# --- mistakes ---


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "give --output FILE for a page, or --json for its figures"),
        (["-o", "-"], 2, "a page is a file; name one, such as report.html"),
        (["-o", "{tmp}/no/r.html", "--hyp", "{a}", "--ref", "{a}"], 2, "there is no folder"),
        (["-o", "{a}", "--hyp", "{b}", "--ref", "{b}"], 2, "exists already; name another"),
        (["--json", "--hyp", "{a}"], 2, "--hyp needs --ref FILE, the reference translations"),
        (["--json", "--ref", "{a}"], 2, "--ref goes with --hyp NAME=FILE"),
        (["--json", "--src", "{a}"], 2, "--src goes with --hyp NAME=FILE"),
        (["--json", "--metric", "bleu"], 2, "--metric goes with --hyp NAME=FILE"),
        (
            ["--json", "--ref", "{a}", "--hyp", "x={a}", "--hyp", "x={b}"],
            2,
            "are both called 'x'; name them",
        ),
        (["--json", "--ref", "{a}", "--hyp", "x="], 2, "write NAME=FILE, such as ours=out.zh"),
        (
            ["--json", "--ref", "{a}", "--hyp", "nofile"],
            3,
            "nofile: no such",
        ),
        (["--json", "--ref", "{a}", "--hyp", "{short}"], 3, "short has 2 lines, "),
        (["--json", "--ref", "{a}", "--ref", "{short}", "--hyp", "{b}"], 3, "has 2 lines, "),
        (["--json", "--ref", "{a}", "--src", "{short}", "--hyp", "{b}"], 3, "has 2 lines, "),
        (["--json", "--ref", "{empty}", "--hyp", "{empty}"], 3, "has no lines"),
        (["--json", "--ref", "{a}", "--hyp", "{b}", "--metric", "blue"], 2, "did you mean 'bleu'"),
        (["--json", "--ref", "{a}", "--hyp", "{binary}"], 3, "not UTF-8 at byte"),
        (["--json", "--segment-scores", "{a}"], 2, "--segment-scores goes with --hyp NAME=FILE"),
        (
            ["--json", "--ref", "{a}", "--hyp", "x={b}", "--segment-scores", "c={b}"],
            3,
            "b:2: '你知道怎么去火车站吗?' is not a number",
        ),
        (["--json", "--model", "nowhere"], 5, "nowhere: does not exist"),
        (
            ["--json", "--model", "{tmp}", "--model", "{tmp}"],
            2,
            "is given twice; give each run once",
        ),
        (["--json", "--attention", "-1"], 2, "--attention"),
        (["--json", "-o", "page.html"], 2, "--output writes a page, --json prints its figures"),
        (
            ["--json", "--ref", "{a}", "--hyp", "{b}", "--attention", "2"],
            2,
            "--attention goes with --model RUN",
        ),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NMT_MODEL", raising=False)
    files = {
        "a": write(tmp_path / "a", REFERENCES),
        "b": write(tmp_path / "b", HYPOTHESES),
        "short": write(tmp_path / "short", REFERENCES[:2]),
        "empty": write(tmp_path / "empty", []),
        "binary": tmp_path / "binary",
        "tmp": tmp_path,
    }
    files["binary"].write_bytes(b"\xff\xfe\xff\n" * 10)
    filled = [each.format(**files) for each in arguments]
    result = invoke("report", "--quiet", *filled)
    assert result.exit_code == code, result.output
    assert message in result.output
    assert result.output.count("\n") == 1
    assert result.stdout == ""


def test_scores_of_others_are_a_column_as_metrics_are(texts: list[object], tmp_path: Path) -> None:
    comet = write(tmp_path / "comet.tsv", ["ours\thalf", *["0.9\t0.2", "0.7\t0.4"] * 5])
    result = invoke("report", *texts, "--segment-scores", f"comet={comet}", "--json", "--quiet")
    part = json.loads(result.stdout)["quality"]["metrics"][-1]
    assert part["metric"] == "comet"
    assert [score["value"] for score in part["scores"]] == pytest.approx([0.8, 0.3])
    assert part["bootstrap"][0][1] < 0.01
    page = page_of(*texts, "--segment-scores", f"我的分={comet}", output=tmp_path / "r.html")
    assert "我的分 on 1,000 resampled test sets" in page


def test_eleven_systems_are_too_many(tmp_path: Path) -> None:
    path = write(tmp_path / "a", REFERENCES)
    systems = [each for number in range(11) for each in ("--hyp", f"s{number}={path}")]
    result = invoke("report", "--ref", path, *systems, "--json")
    assert result.exit_code == 2
    assert "11 systems; at most 10 are compared at a time" in result.output


@pytest.mark.parametrize("missing", ["matplotlib", "rapidfuzz"])
def test_without_the_extra_it_says_how_to_get_it(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a", REFERENCES)
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    arguments = ["--ref", path, "--hyp", path, "-o", tmp_path / "r.html"]
    result = invoke("report", *arguments)
    assert result.exit_code == 2
    assert f"nmt report needs {missing}; pip install matplotlib jinja2 rapidfuzz" in result.output
