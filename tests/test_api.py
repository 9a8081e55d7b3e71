"""What Python sees of nmt: `import nmt`, and the names in `nmt.__all__`."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from threading import enumerate as enumerate_threads
from typing import Any

import pytest
from conftest import run_nmt
from sacrebleu import BLEU

import nmt
from nmt.errors import ConfigError, DataError, ModelError
from nmt.run.folder import RunDir
from nmt.run.ownership import write_latest

LINES = ["one two three.", "", "four five.", "six."]


@pytest.fixture(scope="module")
def translator(trained: RunDir) -> nmt.Translator:
    return nmt.load(trained.path, engine="torch", device="cpu", precision="fp32")


def test_every_name_is_there_and_no_other() -> None:
    assert all(getattr(nmt, name) is not None for name in nmt.__all__)
    assert set(nmt.__all__) < set(dir(nmt))
    with pytest.raises(AttributeError, match="module 'nmt' has no attribute 'tarnslate'"):
        _ = nmt.tarnslate  # type: ignore[attr-defined]


def test_importing_costs_neither_torch_nor_the_libraries_of_the_commands() -> None:
    code = "import sys, nmt; print(*{'torch', 'pydantic', 'yaml', 'numpy', 'typer'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "\n"


def test_it_translates_as_the_command_does(translator: nmt.Translator, trained: RunDir) -> None:
    options = ["--engine", "torch", "--device", "cpu", "--precision", "fp32"]
    text = "".join(f"{line}\n" for line in LINES)
    command = run_nmt("translate", "-m", trained.path, *options, stdin=text)
    translations = translator.translate(LINES)
    assert "".join(f"{each.text}\n" for each in translations) == command.stdout.decode()
    assert [each.source for each in translations] == LINES


def test_a_line_alone_gives_one_translation(translator: nmt.Translator) -> None:
    alone = translator.translate(LINES[0])
    assert alone == translator.translate((LINES[0],))[0]
    assert alone.candidates[0].text == alone.text
    assert alone.score == alone.candidates[0].score
    assert translator.translate("").score is None


def test_a_stream_gives_the_same_and_takes_lines_of_a_file(translator: nmt.Translator) -> None:
    expected = translator.translate(LINES)
    assert list(translator.stream(f"{line}\r\n" for line in LINES)) == expected
    assert [each.text for each in translator.stream(iter(LINES))] == [
        each.text for each in expected
    ]


def test_a_stream_answers_before_the_next_line_is_there(translator: nmt.Translator) -> None:
    def asking() -> Iterator[str]:
        for line in ("one.", "two.", "three."):
            yield line
            assert answered.wait(timeout=60), line
            answered.clear()

    answered = Event()
    answers = []
    for translation in translator.stream(asking()):
        answers.append(translation.source)
        answered.set()
    assert answers == ["one.", "two.", "three."]


def test_who_leaves_a_stream_leaves_neither_a_thread_nor_an_open_source(
    translator: nmt.Translator,
) -> None:
    def endless() -> Iterator[str]:
        try:
            while True:
                yield "one."
        finally:
            closed.set()

    closed = Event()
    before = set(enumerate_threads())
    stream = translator.stream(endless())
    assert next(stream).source == "one."
    stream.close()
    assert closed.wait(timeout=60)
    for thread in set(enumerate_threads()) - before:
        thread.join(timeout=60)
        assert not thread.is_alive()


def test_what_the_lines_raise_comes_after_the_lines_before_it(translator: nmt.Translator) -> None:
    def broken() -> Iterator[str]:
        yield from LINES
        raise OSError("gone")

    stream = translator.stream(broken())
    assert [next(stream).source for _ in LINES] == LINES
    with pytest.raises(OSError, match="gone"):
        next(stream)


@pytest.mark.parametrize(
    "ask", [lambda t, text: t.translate(text), lambda t, text: list(t.stream([text]))]
)
def test_a_line_with_a_line_break_is_refused(
    translator: nmt.Translator, ask: Callable[[nmt.Translator, str], Any]
) -> None:
    with pytest.raises(DataError) as error:
        ask(translator, "one.\ntwo.")
    assert str(error.value) == "a text of 2 lines; give them as a list: text.split('\\n')"


def test_half_a_pair_of_surrogates_is_refused(translator: nmt.Translator) -> None:
    with pytest.raises(DataError) as error:
        translator.translate("one \ud800.")
    assert str(error.value) == "'\\ud800' is an unpaired surrogate; leave it out"


def test_threads_share_a_translator(translator: nmt.Translator) -> None:
    expected = translator.translate(LINES)
    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(translator.translate, [LINES] * 16))


def test_the_search_can_be_changed(trained: RunDir) -> None:
    wide = nmt.load(trained.path, engine="torch", search={"beam_size": 4, "n_best": 3})
    assert len(wide.translate("one two.").candidates) == 3
    checking = nmt.load(trained.path, engine="torch", search={"verify": "flag"})
    faults = checking.translate("one two, 37 apples.").faults
    assert faults
    assert all(isinstance(fault, nmt.Fault) for fault in faults)


def test_an_ensemble_and_a_memory_take_part(trained: RunDir, tmp_path: Path) -> None:
    pair = nmt.load(trained.path, ensemble=[trained.path])
    assert len(pair.checkpoints) == 2
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("one two three.\t一二三。\n", encoding="utf-8")
    assert nmt.load(trained.path, memory=pairs).translate("one two three.").text


@pytest.mark.parametrize("name", ["中.tsv", "😀.tsv", "𠀀.tsv", "a b.tsv", "'q'.tsv", "1e5.tsv"])
def test_a_memory_may_have_any_name(trained: RunDir, tmp_path: Path, name: str) -> None:
    pairs = tmp_path / name
    pairs.write_text("one two three.\t一二三。\n", encoding="utf-8")
    assert nmt.load(trained.path, search={"memory": pairs}).translate("one.").text


def test_one_text_is_no_list_of_texts(translator: nmt.Translator, trained: RunDir) -> None:
    assert len(nmt.load(trained.path, ensemble=trained.path).checkpoints) == 2
    assert list(nmt.evaluate(HYPOTHESES, REFERENCES, "chrf")) == ["chrf"]
    with pytest.raises(DataError, match="give an iterable of lines"):
        next(translator.stream("one."))
    with pytest.raises(TypeError, match="a line must be a str, not bytes"):
        translator.translate([b"one."])  # type: ignore[list-item]


def test_the_environment_names_the_engine_as_for_the_command(
    trained: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NMT_ENGINE", "onnx")
    with pytest.raises(ConfigError, match="engine=onnx: no such engine"):
        nmt.load(trained.path)


def test_what_is_loaded_is_logged(trained: RunDir, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="nmt"):
        found = nmt.load(trained.path, engine="torch", device="cpu", precision="fp32")
    assert caplog.messages == [f"nmt: model {found.checkpoints[0]}, fp32 on cpu"]
    assert found.engine == "torch fp32"


def test_without_a_name_it_is_the_model_that_the_command_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trained: RunDir
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NMT_MODEL", raising=False)
    assert nmt.load().checkpoints[0].is_relative_to(RunDir.pretrained().path)
    monkeypatch.setenv("NMT_MODEL", str(trained.path))
    assert nmt.load().checkpoints[0].is_relative_to(trained.path)


def test_that_the_model_trained_last_is_taken_is_a_warning(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    trained: RunDir,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NMT_MODEL", raising=False)
    write_latest(trained)
    nmt.load()
    [line] = caplog.messages
    assert "(named by runs/latest)" in line


MISTAKES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"model": "nowhere"}, ModelError, "nowhere: does not exist; train one with nmt train"),
    ({"search": {"beam_sise": 3}}, ConfigError, "did you mean 'search.beam_size'?"),
    ({"search": {"beam_size": 0}}, ConfigError, "nmt.load(search=…): search.beam_size=0: must"),
    ({"ensemble": ["nowhere"]}, ModelError, "nowhere: does not exist"),
    ({"memory": "no.tsv"}, DataError, "no.tsv: no such file"),
    ({"glossary": "no.tsv"}, DataError, "no.tsv: no such file"),
    ({"glossary": ["no.tsv", "b.tsv"]}, DataError, "no.tsv: no such file"),
    ({"device": "tpu"}, ConfigError, "tpu"),
    ({"engine": "onnx"}, ConfigError, "engine=onnx: no such engine; choose from auto, torch"),
    ({"precision": "int4"}, ConfigError, "int4"),
    ({"model": ""}, ConfigError, "'' is not a path; name a run folder"),
    ({"search": {"beam_size=1 #": 3}}, ConfigError, "'beam_size=1 #' is not a setting"),
    ({"search": {"temperature": 0.5}}, ConfigError, "search.temperature=0.5 has no effect with"),
    ({"search": {"memory_weight": 0.5}}, ConfigError, "has no effect without a translation memory"),
]


@pytest.mark.parametrize(("options", "kind", "message"), MISTAKES)
def test_mistakes_are_errors_of_nmt(
    trained: RunDir, options: dict[str, Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as error:
        nmt.load(**{"model": trained.path, **options})
    assert message in str(error.value)


def test_a_run_cannot_name_pairs_outside_its_folder(trained: RunDir, tmp_path: Path) -> None:
    """A run may come from somebody who wants to know what is in a file here."""
    copy = tmp_path / "run"
    copy.mkdir()
    for path in trained.path.iterdir():
        (copy / path.name).symlink_to(path.resolve())
    (copy / "config.yaml").unlink()
    text = trained.config.read_text(encoding="utf-8")
    assert "memory: null" in text
    (copy / "config.yaml").write_text(text.replace("memory: null", "memory: /etc/passwd"))
    with pytest.raises(ConfigError, match="outside the run's folder; name it as memory=FILE"):
        nmt.load(copy)

    inner = copy / "inner"
    (inner / "data").mkdir(parents=True)
    (inner / "data" / "train.en").symlink_to("/etc/passwd")
    (copy / "config.yaml").write_text(text.replace("memory: null", f"memory: {inner}"))
    with pytest.raises(ConfigError, match="outside the run's folder; name it as memory=FILE"):
        nmt.load(copy)

    os.mkfifo(copy / "pairs.tsv")
    (copy / "config.yaml").write_text(text.replace("memory: null", f"memory: {copy}/pairs.tsv"))
    with pytest.raises(ModelError, match="neither a file nor a folder"):
        nmt.load(copy)


# --- evaluate ---

HYPOTHESES = ["猫坐在垫子上。", "今天天气很好。", "他 喜欢 喝茶"]
REFERENCES = ["猫坐在垫子上。", "今天的天气真好。", "他喜欢喝茶。"]


def test_scores_are_those_of_sacrebleu_with_signature_and_interval() -> None:
    scores = nmt.evaluate(HYPOTHESES, REFERENCES)
    assert list(scores) == ["bleu", "bleu_width", "chrf"]
    bleu = BLEU(tokenize="zh")
    expected = bleu.corpus_score(HYPOTHESES, [REFERENCES], n_bootstrap=1000)
    assert scores["bleu"].value == expected.score
    assert scores["bleu"].signature == str(bleu.get_signature())
    assert scores["bleu"].low <= expected.score <= scores["bleu"].high


def test_several_references_are_a_list_of_texts() -> None:
    two = nmt.evaluate(HYPOTHESES, [REFERENCES, HYPOTHESES], ["bleu"])["bleu"]
    assert two.value == pytest.approx(100)
    assert two.signature.startswith("nrefs:2|")
    assert nmt.evaluate(HYPOTHESES, [REFERENCES], ["chrf"]) == nmt.evaluate(
        HYPOTHESES, tuple(REFERENCES), ["chrf"]
    )


def test_wrong_texts_and_metrics_are_refused() -> None:
    with pytest.raises(DataError, match="3 lines of hypothesis but 1 line of reference"):
        nmt.evaluate(HYPOTHESES, ["一。"])
    with pytest.raises(DataError, match="0 lines"):
        nmt.evaluate([], [])
    with pytest.raises(ConfigError, match="unknown metric 'blue'"):
        nmt.evaluate(HYPOTHESES, REFERENCES, ["blue"])
    with pytest.raises(DataError, match="a text; give a list of lines"):
        nmt.evaluate("猫", "猫")  # type: ignore[arg-type]
