"""nmt glossary and --glossary, as a user types them."""

import json
from pathlib import Path

import pytest
from command_line import invoke

from nmt.commands.translation.files import Job, model_of
from nmt.config.schema import Config, SearchConfig
from nmt.engines.base import EngineRequest
from nmt.run.folder import RunDir


@pytest.fixture
def terms(tmp_path: Path) -> Path:
    file = tmp_path / "mine #1: a.tsv"
    file.write_text("two\t贰\nfive\t伍\n", encoding="utf-8")
    return file


def test_terms_are_in_every_translation(trained: RunDir, tmp_path: Path, terms: Path) -> None:
    english = tmp_path / "in.en"
    english.write_text("one two.\nthree four five.\n\nnine.\n")
    common = ["translate", "-m", trained.path, "-i", english]
    done = invoke(*common, "--glossary", terms)
    assert done.exit_code == 0, done.stderr
    first, second, blank, _ = done.stdout.splitlines()
    assert ("贰" in first, "伍" in second, blank) == (True, True, "")
    asked = invoke(*common, "--format", "jsonl", "--glossary", terms)
    records = [json.loads(line) for line in asked.stdout.splitlines()]
    assert [[term["target"] for term in each["terms"]] for each in records] == [
        ["贰"],
        ["伍"],
        [],
        [],
    ]
    without = invoke(*common, "--format", "jsonl")
    assert "terms" not in json.loads(without.stdout.splitlines()[0])


def test_a_glossary_serves_a_document(trained: RunDir, tmp_path: Path, terms: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("# one two\n\nthree **two** five.\n")
    done = invoke("document", page, "-m", trained.path, "--glossary", terms)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("贰") == 2


def test_evaluate_says_how_far_translations_keep_to_it(
    trained: RunDir, tmp_path: Path, terms: Path
) -> None:
    files = {"a.en": "one two.\nfive.\n", "a.zh": "一贰。\n五。\n", "a.hyp": "一贰。\n伍。\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    source, reference = tmp_path / "a.en", tmp_path / "a.zh"
    common = ["evaluate", "--ref", reference, "--glossary", terms]
    done = invoke(*common, "--hyp", tmp_path / "a.hyp", "--src", source)
    assert done.exit_code == 0, done.stderr
    assert "as in the glossary           100.0 %      50.0 %" in done.stdout
    of_model = invoke(*common, "-m", trained.path, "--src", source, "--json")
    record = json.loads(of_model.stdout)
    assert record["terms"]["as in the glossary"] == {"translation": 100.0, "reference": 50.0}
    assert (record["terms_in_source"], record["terms_in_reference"]) == (2, 1)
    blind = invoke(*common, "--hyp", tmp_path / "a.hyp")
    assert blind.exit_code == 2
    assert "--glossary needs the sources: give --src FILE" in blind.stderr


def test_a_report_shows_the_terms(tmp_path: Path, terms: Path) -> None:
    files = {"a.en": "one two.\nfive.\n", "a.zh": "一贰。\n五。\n", "b.zh": "一二。\n伍。\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    common = ["report", "--hyp", f"a={tmp_path / 'b.zh'}", "--ref", tmp_path / "a.zh", "--json"]
    done = invoke(*common, "--src", tmp_path / "a.en", "--glossary", terms)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["quality"]["terms"][0] == {
        "kind": "as in the glossary",
        "systems": [50.0],
        "references": 50.0,
    }
    blind = invoke(*common, "--glossary", terms)
    assert blind.exit_code == 2
    assert "--glossary goes with --hyp NAME=FILE and --src FILE" in blind.stderr


def test_a_run_cannot_name_terms_elsewhere(trained: RunDir, tmp_path: Path, terms: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in trained.path.iterdir():
        (copy / file.name).symlink_to(file.absolute())
    text = trained.config.read_text(encoding="utf-8")
    assert "glossary: []" in text
    (copy / "config.yaml").unlink()
    (copy / "config.yaml").write_text(text.replace("glossary: []", f"glossary: ['{terms}']"))
    (tmp_path / "in.en").write_text("one.\n")
    done = invoke("translate", "-m", copy, "-i", tmp_path / "in.en")
    assert done.exit_code == 2
    assert (
        "is outside the run's folder; if you want that, give --config FILE or --glossary FILE"
        in done.stderr
    )


def test_workers_elsewhere_find_the_terms(
    trained: RunDir, terms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(terms.parent)
    settings = Config(search=SearchConfig(glossary=(terms.name,)))
    job = Job(settings, trained, EngineRequest(), "text", False, "error", True)
    assert model_of(job).settings.search.glossary == (str(terms),)


def test_check_prints_what_is_odd_and_exits_with_4(tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("bank\t银行\nbank\t岸\n", encoding="utf-8")
    done = invoke("glossary", "check", file)
    assert done.exit_code == 4
    assert done.stdout == f"{file}:2: 'bank' has two translations, 银行 and 岸; {file}:1 is taken\n"
    assert done.stderr == "nmt: 2 terms, 1 remark\n"
    file.write_text("bank\t银行\n", encoding="utf-8")
    good = invoke("glossary", "check", file)
    assert (good.exit_code, good.stdout, good.stderr) == (0, "", "nmt: 1 term, 0 remarks\n")


def test_apply_names_the_lines_that_use_other_words(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("bank\t银行\n", encoding="utf-8")
    (tmp_path / "a.en").write_text("A bank.\nTwo banks.\n")
    (tmp_path / "a.zh").write_text("一家银行。\n两岸。\n", encoding="utf-8")
    names = ["--src", tmp_path / "a.en", "--tgt", tmp_path / "a.zh"]
    done = invoke("glossary", "apply", tmp_path / "t.tsv", *names)
    assert done.exit_code == 4
    assert done.stdout == "2: banks is not 银行: 两岸。\n"
    assert done.stderr == "nmt: 1 place where a translation does not use a term\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["apply", "t.tsv"], "glossary apply needs --src FILE --tgt FILE"),
        (["check", "t.tsv", "--src", "a"], "--src and --tgt go with glossary apply"),
        (["check", "no.tsv"], "no.tsv: no such file"),
        (["look", "t.tsv"], "'look' is not one of 'check', 'apply'"),
        (["check"], "FILE"),
    ],
)
def test_what_is_typed_wrong_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.tsv").write_text("bank\t银行\n", encoding="utf-8")
    done = invoke("glossary", *arguments)
    assert done.exit_code in (2, 3)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
