"""nmt info: what a run is, and the model card."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from command_line import invoke
from conftest import TINY, dev_losses, ready, tiny_config, train
from safetensors.torch import load_file

from nmt.config.load import load_config
from nmt.config.schema import Config
from nmt.corpus.cleaning.prepare import is_current
from nmt.corpus.reading.lines import read_lines
from nmt.corpus.stages import claim
from nmt.errors import ModelError
from nmt.files import append_text
from nmt.report.run.provenance_facts import conditions, licence_address
from nmt.run import checkpoint
from nmt.run.checkpoint import Meta
from nmt.run.folder import META, RunDir
from nmt.run.provenance import Corpus, Provenance
from nmt.run.start_from import load_training_config

CORPUS = (
    "{{name: number words, src: {0}/train.en, tgt: {0}/train.zh, weight: 2, "
    "licence: CC BY-SA 4.0, source: 'https://example.org/count'}}"
)


def licensed(corpus: Path, run_dir: Path, *overrides: str) -> Config:
    corpora = f"data.corpora=[{CORPUS.format(corpus)}]"
    dev = f"data.dev={{src: {corpus}/dev.en, tgt: {corpus}/dev.zh}}"
    test = f"data.test={{src: {corpus}/test.en, tgt: {corpus}/test.zh}}"
    return load_config(None, [corpora, dev, test, f"run_dir={run_dir}", *TINY, *overrides])


@pytest.fixture(scope="module")
def run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    folder = tmp_path_factory.mktemp("info") / "licensed"
    return train(licensed(corpus, folder))


def info(*arguments: object) -> dict[str, Any]:
    result = invoke("info", *arguments, "--json")
    assert result.exit_code == 0, result.output
    facts: dict[str, Any] = json.loads(result.stdout)
    return facts


def test_the_parameters_of_all_parts_are_those_of_the_model(run: RunDir) -> None:
    facts = info(run.path)
    best = checkpoint.best(run)
    assert best is not None
    weights = load_file(best / "model.safetensors")
    assert sum(facts["parameters"].values()) == sum(w.numel() for w in weights.values())
    assert facts["parameters"]["target embedding"] == weights["tgt_embedding.tokens.weight"].numel()
    assert torch.is_tensor(weights["decoder_norm.weight"])
    assert "other" not in facts["parameters"]


def test_it_says_data_with_licences_scores_versions_and_disk_use(run: RunDir) -> None:
    facts = info(run.path)
    (corpus,) = facts["corpora"]
    assert (corpus["name"], corpus["licence"]) == ("number words", "CC BY-SA 4.0")
    assert (corpus["kept"], corpus["weight"]) == (400, 2)
    assert facts["pairs"] == json.loads(run.vocab_report.read_text())["pairs"]
    best = checkpoint.best(run)
    assert best is not None
    meta = checkpoint.read_meta(best)
    assert {s["metric"]: s["value"] for s in facts["scores"]} == meta.scores
    assert facts["versions"]["torch"] == torch.__version__
    weights = sum(file.stat().st_size for file in run.checkpoints.rglob("*") if file.is_file())
    assert facts["disk"]["checkpoints"] == weights


def test_for_people_it_is_one_screen(run: RunDir) -> None:
    text = invoke("info", run.path).stdout
    assert len(text.splitlines()) <= 24
    assert "number words: 400 of 400 pairs × 2; CC BY-SA 4.0, https://example.org/count" in text
    assert "20 of 20 updates" in text


def test_a_corpus_without_a_licence_is_said_to_have_none(corpus: Path, tmp_path: Path) -> None:
    ready(tiny_config(corpus, tmp_path / "run"))
    text = invoke("info", tmp_path / "run").stdout
    assert "no licence stated" in text
    assert "`licence:` under data.corpora" in text


@pytest.mark.parametrize("inner", ["config.yaml", "checkpoints/step-00000020/meta.json", "best"])
def test_a_file_in_a_run_means_the_run(run: RunDir, inner: str) -> None:
    assert info(run.path / inner)["pairs"] == info(run.path)["pairs"]


def test_a_checkpoint_can_be_named(run: RunDir) -> None:
    assert info(run.path / "checkpoints/step-00000010")["checkpoint"] == "step-00000010"


def test_a_run_that_is_only_prepared_has_no_training(corpus: Path, tmp_path: Path) -> None:
    ready(licensed(corpus, tmp_path / "run"))
    facts = info(tmp_path / "run")
    assert facts["checkpoint"] is None
    assert facts["parameters"] == {}
    assert "none yet" in invoke("info", tmp_path / "run").stdout


def test_corpora_of_one_name_have_their_own_licences(corpus: Path, tmp_path: Path) -> None:
    files = f"src: {corpus}/train.en, tgt: {corpus}/train.zh"
    corpora = f"data.corpora=[{{{files}}}, {{{files}, licence: CC0-1.0}}]"
    config = licensed(corpus, tmp_path / "run", corpora)
    claim(config, overwrite=False)
    for _ in ("before it is prepared", "after"):
        licences = [each["licence"] for each in info(tmp_path / "run")["corpora"]]
        assert licences == [None, "CC0-1.0"]
        ready(config)


def test_a_licence_may_be_stated_later_and_nothing_becomes_stale(corpus: Path, run: RunDir) -> None:
    other = [f"data.corpora=[{CORPUS.format(corpus).replace('CC BY-SA 4.0', 'CC0-1.0')}]"]
    config = licensed(corpus, run.path, *other)
    assert is_current(config, run)
    before = run.config.read_text(encoding="utf-8")
    claim(config, overwrite=False)
    assert info(run.path)["corpora"][0]["licence"] == "CC0-1.0"
    claim(licensed(corpus, run.path), overwrite=False)
    assert run.config.read_text(encoding="utf-8") == before


def test_the_licences_of_corpora_are_in_the_checkpoint_and_bind_what_starts_from_it(
    run: RunDir, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (stated,) = checkpoint.read_meta(run.steps()[-1]).provenance.corpora
    assert stated == Corpus("number words", "CC BY-SA 4.0", "https://example.org/count")
    settings = [f"data.path={corpus}", f"run_dir={tmp_path / 'next'}", "train.updates=1"]
    train(load_training_config(None, [*settings, f"train.start_from={run.path}"]))
    assert "its licence binds this model too: CC BY-SA 4.0" in capsys.readouterr().err
    (ancestor,) = info(tmp_path / "next")["lineage"]
    assert ancestor["what"] == "started from"
    assert ancestor["corpora"] == [["number words", "CC BY-SA 4.0"]]


def test_the_model_s_own_licence_is_told_and_passed_on(corpus: Path, tmp_path: Path) -> None:
    licence = "train.licence=cc-by-sa-4.0"
    run = train(licensed(corpus, tmp_path / "run", licence, "train.updates=1"))
    assert checkpoint.read_meta(run.steps()[-1]).provenance.licence == "cc-by-sa-4.0"
    assert info(run.path)["licence"] == "cc-by-sa-4.0"
    assert "licence       cc-by-sa-4.0\n" in invoke("info", run.path).stdout
    assert card(run.path)[0]["license"] == "cc-by-sa-4.0"
    settings = [f"data.path={corpus}", f"run_dir={tmp_path / 'next'}", "train.updates=1"]
    later = train(load_training_config(None, [*settings, f"train.start_from={run.path}"]))
    assert info(later.path)["licence"] is None
    assert info(later.path)["lineage"][0]["licence"] == "cc-by-sa-4.0"
    assert card(later.path)[0]["license"] == "cc-by-sa-4.0"


def test_a_run_that_holds_nothing_but_an_average_needs_no_mark(run: RunDir, tmp_path: Path) -> None:
    copy = RunDir(Path(shutil.copytree(run.path, tmp_path / "copy")))
    *others, last = copy.steps_and_averages()
    for folder in others:
        shutil.rmtree(folder)
    last.rename(copy.checkpoints / "average-00000007")
    copy.best.unlink()
    facts = info(copy.path)
    assert facts["checkpoint"] == "average-00000007"
    assert facts["parameters"] == info(run.path)["parameters"]


def noted_of(run: RunDir) -> dict[str, object]:
    """What an evaluation notes of the model."""
    best = checkpoint.best(run) or Path()
    weights = checkpoint.weights_hash(best)
    return {"model": str(run.path), "checkpoint": best.name, "weights": weights}


def scores_by(what: str, run: RunDir, history: Path) -> dict[str, float]:
    """The scores in a history, each by what it is of, or by its search."""
    scores = info(run.path, "--history", history)["scores"]
    return {score[what]: score["value"] for score in scores if score["of"] != "dev"}


def test_test_sets_of_equal_names_and_several_references_are_told_apart(
    run: RunDir, tmp_path: Path
) -> None:
    lines = []
    for value, reference in enumerate(["a/ref.zh", "b/ref.zh", ["c/r1.zh", "c/r2.zh"]], start=1):
        scores = {"bleu": {"value": value}}
        record = {**noted_of(run), "model": f"{run.path}/../{run.path.name}"}
        lines.append(json.dumps({**record, "reference": reference, "scores": scores}) + "\n")
    history = tmp_path / "history"
    history.write_text("".join(lines))
    assert scores_by("of", run, history) == {"a/ref.zh": 1, "b/ref.zh": 2, "c/r1.zh, c/r2.zh": 3}


def test_scores_of_searches_that_differ_in_any_setting_are_told_apart(
    run: RunDir, tmp_path: Path
) -> None:
    record = {**noted_of(run), "reference": "r"}
    history = tmp_path / "history"
    searches = [
        {"method": "beam", "beam_size": 5, "length_penalty": 1.0, "batch_tokens": 10},
        {"method": "beam", "beam_size": 5, "length_penalty": 1.8, "verify": "retry"},
        {"method": "beam", "beam_size": 1, "verify": "off"},
    ]
    for value, search in enumerate(searches, start=1):
        line = {**record, "search": search, "scores": {"bleu": {"value": value}}}
        append_text(history, json.dumps(line) + "\n")
    assert scores_by("search", run, history) == {
        "beam 5": 1,
        "beam 5, length_penalty 1.8, verify retry": 2,
        "greedy": 3,
    }


def test_a_score_of_what_the_model_was_trained_on_says_so_and_is_no_result_of_the_card(
    run: RunDir, tmp_path: Path
) -> None:
    sources, history = tmp_path / "seen.en", tmp_path / "history"
    for language in ("en", "zh"):
        lines = list(read_lines(run.text("train", language)))[:40]
        (tmp_path / f"seen.{language}").write_text("\n".join(lines) + "\n")
    files = ["--src", sources, "--ref", sources.with_suffix(".zh")]
    for beams in (1, 2):
        asked = ["-m", run.path, "--quiet", "--history", history, "--beam-size", beams]
        assert invoke("evaluate", *asked, *files).exit_code == 0
    front, text = card(run.path, "--history", history)
    assert re.search(r"seen\.zh \(greedy, \d+ lines of it in train\)", text)
    assert re.search(r"seen\.zh \(beam 2, \d+ lines of it in train\)", text)
    assert {each["dataset"]["name"] for each in front["model-index"][0]["results"]} == {"dev"}


@pytest.mark.parametrize("command", ["info", "report"])
def test_a_file_that_is_no_history_is_named(command: str, run: RunDir, tmp_path: Path) -> None:
    history = tmp_path / "a.zh"
    history.write_text("你好。\n{}\n")
    asked = [run.path] if command == "info" else ["--model", run.path, "--json"]
    result = invoke(command, *asked, "--history", history)
    assert result.exit_code == 3
    assert "a.zh: has no scores; name a file that nmt evaluate --history wrote" in result.output


def test_a_stranger_s_reports_of_strange_numbers_are_no_traceback(
    run: RunDir, tmp_path: Path
) -> None:
    copy = RunDir(Path(shutil.copytree(run.path, tmp_path / "copy")))
    copy.vocab_report.write_text(json.dumps({"src": {"size": "many"}, "tgt": {"size": 10**400}}))
    assert info(copy.path)["vocabularies"]["src"]["size"] > 10


@pytest.mark.parametrize("origin", [3, {"corpora": ["x"]}, {"started_from": 1}])
def test_a_stranger_s_checkpoint_with_a_strange_origin_is_damaged(
    origin: object, run: RunDir, tmp_path: Path
) -> None:
    copy = RunDir(Path(shutil.copytree(run.path, tmp_path / "copy")))
    meta_file = copy.steps()[-1] / META
    values = json.loads(meta_file.read_text())
    del values["seal"]
    meta_file.write_text(json.dumps({**values, "origin": origin}))
    with pytest.raises(ModelError, match="missing or damaged"):
        checkpoint.read_meta(copy.steps()[-1])


def test_scores_of_evaluate_are_read_from_its_history(run: RunDir, tmp_path: Path) -> None:
    history = tmp_path / "scores.jsonl"
    assert invoke("evaluate", "-m", run.path, "--quiet", "--history", history).exit_code == 0
    scores = [
        s for s in info(run.path, "--history", history)["scores"] if s["of"] == "data/test.zh"
    ]
    noted = json.loads(history.read_text())["scores"]
    assert {s["metric"]: (s["value"], s["low"], s["signature"]) for s in scores} == {
        name: (score["value"], score["low"], score["signature"]) for name, score in noted.items()
    }


def test_scores_of_a_deleted_checkpoint_of_the_same_name_are_not_those_of_the_new_one(
    run: RunDir, tmp_path: Path
) -> None:
    history = tmp_path / "scores.jsonl"
    assert invoke("evaluate", "-m", run.path, "--quiet", "--history", history).exit_code == 0
    assert len(info(run.path, "--history", history)["scores"]) > 2
    record = json.loads(history.read_text())
    assert record["weights"] == checkpoint.weights_hash(checkpoint.best(run) or Path())
    history.write_text(json.dumps({**record, "weights": "0" * 64}) + "\n")
    assert {s["of"] for s in info(run.path, "--history", history)["scores"]} == {"dev"}


# --- the model card ---


def card(*arguments: object) -> tuple[dict[str, Any], str]:
    result = invoke("info", *arguments, "--card")
    assert result.exit_code == 0, result.output
    empty, front, text = result.stdout.split("---\n", 2)
    assert empty == ""
    return yaml.safe_load(front), text


def test_the_card_has_the_front_matter_of_the_hub_and_the_attribution(run: RunDir) -> None:
    front, text = card(run.path)
    assert front["language"] == ["en", "zh"]
    assert front["license"] == "unknown"
    assert front["datasets"] == ["number words"]
    assert front["metrics"] == ["bleu", "chrf"]
    assert "[CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/)" in text
    assert "name its authors, share alike" in text
    assert "filtered, normalised" in text


def test_the_card_is_written_whole_and_replaces_nothing_unasked(
    run: RunDir, tmp_path: Path
) -> None:
    path = tmp_path / "README.md"
    assert invoke("info", run.path, "--card", "-o", path).exit_code == 0
    assert path.read_text(encoding="utf-8").startswith("---\nlanguage:")
    result = invoke("info", run.path, "--card", "-o", path)
    assert result.exit_code == 2
    assert "exists already; name another file, or --overwrite it" in result.output


def test_what_strangers_wrote_steers_neither_yaml_nor_markdown_nor_the_terminal(
    run: RunDir, tmp_path: Path
) -> None:
    copy = RunDir(tmp_path / "copy")
    shutil.copytree(run.path, copy.path)
    evil = "x\\nlicense: mit\\n---\\n<script>alert(1)</script> [a](javascript:b) \\e[31m | y"
    text = copy.config.read_text(encoding="utf-8")
    copy.config.write_text(text.replace("name: number words", f'name: "{evil}"'))
    report = json.loads(copy.prepare_report.read_text())
    report["corpora"][0]["name"] = yaml.safe_load(f'"{evil}"')
    copy.prepare_report.write_text(json.dumps(report))
    front, card_text = card(copy.path)
    assert front["license"] == "unknown"
    assert "<script>" not in card_text
    assert re.search(r"(?<!\\)\]\(javascript", card_text) is None
    shown = invoke("info", copy.path).stdout
    assert "\x1b" not in shown
    assert [line for line in shown.splitlines() if line.startswith("license")] == []


def with_origin(run: RunDir, folder: Path, origin: dict[str, Any]) -> RunDir:
    """A copy of a run whose best checkpoint says that it comes from elsewhere."""
    copy = RunDir(Path(shutil.copytree(run.path, folder)))
    best = checkpoint.best(copy)
    assert best is not None
    meta, weights = checkpoint.load(best)
    provenance = Provenance.from_json(origin)
    told = Meta(meta.update, meta.fingerprints, provenance=provenance)
    checkpoint.save(copy, best.name, weights, told)
    return copy


ON_THE_HUB = {"source": "some/model", "revision": "abc", "kind": "Hugging Face MarianMT"}
IN_A_FOLDER = {"source": "/home/jane/secret/opus", "revision": None, "kind": "Marian"}


@pytest.mark.parametrize(
    ("imported", "told"),
    [
        (ON_THE_HUB, "imported from some/model at abc (Hugging Face MarianMT); no licence stated"),
        (IN_A_FOLDER, "imported from opus (Marian); no licence stated"),
    ],
)
def test_an_imported_run_says_so_instead_of_counting_updates(
    imported: dict[str, Any], told: str, run: RunDir, tmp_path: Path
) -> None:
    copy = with_origin(run, tmp_path / "copy", {"imported": imported})
    front, text = card(copy.path)
    shown = invoke("info", copy.path).stdout
    for each in (text, shown):
        assert told in each
        assert "updates" not in each
        assert "jane" not in each
    assert "training      none by nmt: imported; checkpoint: step-00000020\n" in shown
    assert "- imported, not trained by nmt; checkpoint `step-00000020`\n" in text
    assert front.get("base_model") == ("some/model" if imported is ON_THE_HUB else None)


def test_a_page_of_an_imported_run_says_where_it_is_from_and_shows_no_empty_plots(
    run: RunDir, tmp_path: Path
) -> None:
    copy = with_origin(run, tmp_path / "copy", {"imported": IN_A_FOLDER})
    for path in (copy.metrics, copy.text("dev", "en")):
        path.unlink()
    done = invoke("report", "-m", copy.path, "-o", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>Model: copy</h1>" in page
    assert "<p>copy: imported from opus (Marian); no licence stated. nmt has not trained it" in page
    assert "<figure" not in page
    assert "jane" not in page
    assert "attention" not in done.stderr  # no sentence is at hand to look at


def test_an_exported_run_still_tells_its_updates_and_its_corpora(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev_losses(monkeypatch, [3.0, 2.0, 1.0])  # of two steps, and of their mean
    run = train(licensed(corpus, tmp_path / "run"))
    exported = invoke("export", "nmt", tmp_path / "copy", "-m", run.path)
    assert exported.exit_code == 0, exported.output
    facts = info(tmp_path / "copy")
    assert facts["checkpoint"] == "average-00000020"
    assert facts["training"]["updates"] == 20
    assert [each["name"] for each in facts["corpora"]] == ["number words"]
    front, text = card(tmp_path / "copy")
    assert front["datasets"] == ["number words"]
    assert "| number words |  | CC BY-SA 4.0 | https://example.org/count |" in text
    assert "- number words (https://example.org/count), under " in text


def test_no_folder_of_this_machine_is_in_a_card(run: RunDir, tmp_path: Path) -> None:
    parent = {"imported": IN_A_FOLDER, "licence": "MIT"}
    started = {"checkpoint": "/home/jane/runs/a/checkpoints/step-00000007", "update": 7}
    copy = with_origin(run, tmp_path / "copy", {"started_from": {**started, "origin": parent}})
    _, text = card(copy.path)
    assert "- started from a/step-00000007 (7 updates)\n" in text
    assert "- imported from opus (Marian); MIT\n" in text
    assert "jane" not in text
    assert str(tmp_path) not in text


def test_a_corpus_that_is_a_folder_goes_by_the_folder_s_own_name(
    corpus: Path, tmp_path: Path
) -> None:
    ready(tiny_config(corpus, tmp_path / "run"))
    front, text = card(tmp_path / "run")
    assert front["datasets"] == [corpus.name]
    assert str(corpus.parent) not in text


def test_a_licence_of_the_weights_is_the_card_s(run: RunDir, tmp_path: Path) -> None:
    origin = {
        "licence": "apache-2.0",
        "imported": {"source": "some/model", "revision": "abc"},
    }
    copy = with_origin(run, tmp_path / "copy", origin)
    front, text = card(copy.path)
    assert front["license"] == "apache-2.0"
    assert front["base_model"] == "some/model"
    assert "imported from some/model at abc; apache-2.0" in text


@pytest.mark.parametrize(
    ("licence", "address", "asked"),
    [
        # The addresses are those of the deeds on creativecommons.org.
        ("CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/", ["name its authors"]),
        ("CC BY 2.0 FR", "https://creativecommons.org/licenses/by/2.0/fr/", ["name its authors"]),
        (
            "cc-by-nc-nd-4.0",
            "https://creativecommons.org/licenses/by-nc-nd/4.0/",
            ["name its authors", "no commercial use", "no derived works"],
        ),
        (
            "CC BY SA 4.0 or later",
            "https://creativecommons.org/licenses/by-sa/4.0/",
            ["name its authors", "share alike"],
        ),
        (
            "https://creativecommons.org/licenses/by/3.0/",
            "https://creativecommons.org/licenses/by/3.0/",
            ["name its authors"],
        ),
        (
            "https://creativecommons.org/licenses/by/2.0/fr/deed.fr",
            "https://creativecommons.org/licenses/by/2.0/fr/",
            ["name its authors"],
        ),
        (
            "CC BY 3.0 OR MIT",
            "https://creativecommons.org/licenses/by/3.0/",
            ["name its authors"],
        ),
        (
            "CC-BY-4.0 AB",  # 4.0 has no versions of countries
            "https://creativecommons.org/licenses/by/4.0/",
            ["name its authors"],
        ),
        ("CC BY", None, ["name its authors"]),
        ("Apache-2.0", None, []),
        ("CC0-1.0", None, []),
    ],
)
def test_creative_commons_licences(licence: str, address: str | None, asked: list[str]) -> None:
    assert licence_address(licence) == address
    assert conditions(licence) == asked


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere"], 5, "nowhere: does not exist; run nmt train"),
        (["{run}", "--json", "--card"], 2, "--json and --card are two outputs; give one"),
        (["{corpus}/train.en"], 5, "neither a run folder nor a file in one (no config.yaml"),
        (["{run}", "--history", "none"], 3, "none: no such file"),
        (["{run}", "-o", "no/such/file"], 2, "there is no folder no/such"),
        (["{run}/checkpoints/step-00000099"], 5, "no such checkpoint"),
    ],
)
def test_mistakes_are_one_line(
    run: RunDir, corpus: Path, arguments: list[str], code: int, message: str
) -> None:
    filled = [each.format(run=run.path, corpus=corpus) for each in arguments]
    result = invoke("info", *filled)
    assert result.exit_code == code, result.output
    assert message in result.output
    assert result.output.count("\n") == 1


def test_a_licence_of_several_lines_is_refused(corpus: Path, tmp_path: Path) -> None:
    settings = 'data.corpora=[{tsv: x.tsv, licence: "a\\nb"}]'
    result = invoke("train", settings, f"run_dir={tmp_path}")
    assert result.exit_code == 2
    assert "one line of text" in result.output
