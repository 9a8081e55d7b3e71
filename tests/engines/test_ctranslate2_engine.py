"""`nmt translate` on CTranslate2: our limits, scores and placeholders, and no torch."""

import fcntl
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import torch
from conftest import run_nmt, tiny_config, train
from random_models import (
    LIMIT,
    OPTIONS,
    SRC,
    TGT,
    assert_equal_but_for_ties,
    model_of,
    pairwise,
    side,
    sources,
)

from nmt.config.load import load_config
from nmt.config.schema import SearchConfig
from nmt.engines import choose as engines
from nmt.engines import ct2_cache as conversions
from nmt.engines.base import EngineRequest
from nmt.engines.ct2_cache import converted
from nmt.engines.ctranslate2 import CTranslate2Engine
from nmt.engines.decoder import Decoder
from nmt.errors import ConfigError, ModelError
from nmt.exchange.exporters.ctranslate2 import convert
from nmt.exchange.exporters.tokens import unique_tokens
from nmt.model.transformer import Transformer
from nmt.run import checkpoint
from nmt.run.folder import RunDir
from nmt.run.sides import load_side
from nmt.search.hypotheses import Hypothesis, length_penalty
from nmt.text.vocab import BOS, EOS, PAD, UNK
from nmt.translate.opening import open_translator

pytest.importorskip("ctranslate2")

GREEDY = SearchConfig(method="greedy", max_length=LIMIT, max_ratio=100)
BEAM = SearchConfig(beam_size=4, n_best=4, max_length=LIMIT, max_ratio=100, length_penalty=0.6)
SIDES = side(SRC, "en"), side(TGT, "zh", never_unknown=True)
CLOSED = [PAD, BOS, UNK]
MODEL = model_of(
    next(k for k in pairwise(OPTIONS) if k["norm"] == ("pre", True) and k["scale"] != "output")
    | {"tie_embeddings": "none"}
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> CTranslate2Engine:
    folder = tmp_path_factory.mktemp("ct2")
    convert(MODEL, *unique_tokens(SRC, TGT), folder, "float32", CLOSED)
    return CTranslate2Engine(folder, *SIDES, longest=39, numbers="float32")


@torch.inference_mode()
def log_prob(model: Transformer, source: list[int], ids: list[int], closed: list[int]) -> float:
    """What our model gives a translation, teacher-forced."""
    logits = model(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *ids]]))[0]
    logits[:, closed] = -torch.inf
    each = logits.log_softmax(-1)
    return float(sum(each[place, token] for place, token in enumerate([*ids, EOS])))


def with_placeholders(texts: list[list[int]]) -> list[list[int]]:
    """The same sources with one to three placeholders each."""
    return [
        [*text[:1], *SRC.placeholders[i % 4 : i % 4 + 1 + i % 3], *text[1:]]
        for i, text in enumerate(texts)
    ]


def test_greedy_search_finds_our_ids_log_probabilities_and_scores(
    engine: CTranslate2Engine,
) -> None:
    texts = sources(200, SRC)
    ours = Decoder(MODEL, *SIDES, "fp32").decode(texts, GREEDY)
    theirs = engine.decode(texts, GREEDY)
    found = [[n_best[0].ids for n_best in each] for each in (ours, theirs)]
    assert_equal_but_for_ties(MODEL, texts, *found)
    for [own], [other] in zip(ours, theirs, strict=True):
        if own.ids == other.ids and len(own.ids) < LIMIT:
            assert other.log_prob == pytest.approx(own.log_prob, abs=1e-3)
            assert other.score == pytest.approx(own.score, abs=1e-3)


@pytest.mark.parametrize("masked", [False, True])
def test_every_hypothesis_has_its_own_log_probability_and_our_score(
    engine: CTranslate2Engine, masked: bool
) -> None:
    texts = with_placeholders(sources(60, SRC)) if masked else sources(60, SRC)
    for text, n_best in zip(texts, engine.decode(texts, BEAM), strict=True):
        assert len(n_best) >= 4
        for each in n_best:
            assert each.score == pytest.approx(
                each.log_prob / length_penalty(len(each.ids) + 1, 0.6)
            )
        ended = [each for each in n_best if len(each.ids) < LIMIT]
        if not masked:  # our model knows of no placeholders that are kept out
            closed = [*CLOSED, *TGT.placeholders]
            for each in ended:
                expected = log_prob(MODEL, text, each.ids, closed)
                assert each.log_prob == pytest.approx(expected, abs=2e-3)
            assert n_best == sorted(n_best, key=lambda each: -each.score)


@pytest.mark.parametrize("search", [GREEDY, BEAM])
def test_some_hypothesis_has_every_placeholder_of_its_source_once(
    engine: CTranslate2Engine, search: SearchConfig
) -> None:
    texts = with_placeholders(sources(80, SRC)) + sources(40, SRC)
    lost = 0
    for text, n_best in zip(texts, engine.decode(texts, search), strict=True):
        both = zip(SRC.placeholders, TGT.placeholders, strict=True)
        wanted = [theirs for ours, theirs in both if ours in text]
        written = [placeholders(each) for each in n_best]
        assert wanted in written
        assert all(set(each) <= set(wanted) for each in written)
        lost += written[0] != wanted
    assert lost > 10  # a random model loses many: they had to be put back


def placeholders(hypothesis: Hypothesis) -> list[int]:
    return sorted(i for i in hypothesis.ids if i in TGT.placeholders)


def repeats_a_pair(ids: list[int]) -> bool:
    pairs = list(itertools.pairwise(ids))
    return len(pairs) > len(set(pairs))


@pytest.mark.parametrize("search", [GREEDY, BEAM])
def test_without_placeholders_no_pair_of_tokens_comes_twice(
    engine: CTranslate2Engine, search: SearchConfig
) -> None:
    asked = search.model_copy(update={"no_repeat_ngram": 2})
    found = engine.decode(sources(80, SRC), asked)
    assert not any(repeats_a_pair(each.ids) for n_best in found for each in n_best)


@pytest.mark.parametrize("search", [GREEDY, BEAM])
def test_hardly_a_pair_of_tokens_comes_twice_where_placeholders_were_put_back(
    engine: CTranslate2Engine, search: SearchConfig
) -> None:
    texts = with_placeholders(sources(80, SRC)) + sources(40, SRC)
    share = {}
    for size in (0, 2):
        asked = search.model_copy(update={"no_repeat_ngram": size})
        found = [each.ids for n_best in engine.decode(texts, asked) for each in n_best]
        share[size] = sum(map(repeats_a_pair, found)) / len(found)
    assert share[0] > 0.5  # a random model goes round in circles
    # Where a placeholder that came twice is taken out, its neighbours may become such a pair.
    assert share[2] < 0.01


def test_no_translation_is_longer_than_asked(engine: CTranslate2Engine) -> None:
    texts = sources(60, SRC)
    search = SearchConfig(beam_size=2, n_best=2, max_ratio=0.01)
    found = engine.decode(texts, search)
    assert max(len(each.ids) for n_best in found for each in n_best) == 10


def test_sampling_is_refused(engine: CTranslate2Engine) -> None:
    with pytest.raises(ConfigError, match=r"search\.method=sample needs --engine torch"):
        engine.decode([[5]], SearchConfig(method="sample"))


def test_a_folder_that_cannot_be_loaded_is_told_by_name(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"nothing")
    with pytest.raises(ModelError, match=rf"{tmp_path}: CTranslate2 cannot load it .*; delete"):
        CTranslate2Engine(tmp_path, *SIDES, longest=39, numbers="int8")


# --- conversions ---


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "nmt" / "ctranslate2"


def test_the_command_says_the_same_and_starts_without_torch(
    trained: RunDir, cache: Path, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    shutil.copytree(trained.path, run.path)
    run.path.chmod(0o500)  # nothing is written there
    ask = ("translate", "--model", run.path, "--engine", "ctranslate2", "--precision", "fp32")
    text = "one two three.\n\nfour, see https://x.org/a.\n"
    expected = run_nmt("translate", "--model", run.path, "-q", stdin=text).stdout.splitlines()
    first = run_nmt(*ask, stdin=text)
    tells_imports = [sys.executable, "-X", "importtime", "-m", "nmt", *map(str, ask)]
    again = subprocess.run(tells_imports, input=text.encode(), capture_output=True, check=True)
    assert first.stdout.splitlines()[:2] == again.stdout.splitlines()[:2] == expected[:2]
    assert b"https://x.org/a" in again.stdout
    assert "ctranslate2 float32 on cpu" in first.stderr.decode()
    imported = {line.split()[-1] for line in again.stderr.splitlines() if b"import time:" in line}
    assert b"ctranslate2" in imported
    assert b"torch" not in imported
    assert len(list(cache.glob("[!.]*"))) == 1


def test_what_another_process_converts_meanwhile_is_waited_for_and_taken(
    trained: RunDir, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = conversions.Conversion(trained.best, cache / "theirs")
    is_held = []

    def cached(*_: object) -> conversions.Conversion | None:
        if not cache.exists():
            return None
        with (cache / ".lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                is_held.append(True)
        return made

    def convert_again(*_: object) -> None:
        raise AssertionError("converted twice")

    monkeypatch.setattr(conversions, "_cached", cached)
    monkeypatch.setattr(conversions, "_made", convert_again)
    config = load_config(trained.config)
    src, tgt = load_side(config, trained, "src"), load_side(config, trained, "tgt")
    assert converted(config, trained, src, tgt, "int8", print) == made
    assert is_held == [True]


def test_another_checkpoint_is_converted_anew_and_old_conversions_go(
    corpus: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversions, "_KEPT", 2)
    run = train(tiny_config(corpus, tmp_path / "run", "train.keep=4"))
    config = load_config(run.config)
    sides = load_side(config, run, "src"), load_side(config, run, "tgt")

    def conversion(of: RunDir, numbers: conversions.Numbers = "int8") -> Path:
        return converted(config, of, *sides, numbers, lambda _: None).folder

    first = conversion(run)
    assert conversion(run) == first
    assert conversion(run, "float32") != first
    step = next(path for path in run.steps() if path != checkpoint.best(run))
    other = conversion(RunDir.at(step))
    assert other != first
    assert len(list(cache.glob("[!.]*"))) == 2
    assert other.is_dir()


def test_a_damaged_checkpoint_gives_way_to_the_last_whole_one(
    trained: RunDir, tmp_path: Path, cache: Path
) -> None:
    run = RunDir(tmp_path / "run")
    shutil.copytree(trained.path, run.path)
    best = checkpoint.best(run)
    assert best is not None
    (best / "meta.json").write_text("{}")
    warnings: list[str] = []
    asked = EngineRequest("ctranslate2", "auto", "auto")
    translator = open_translator(
        load_config(run.config), run, asked, warnings.append, lambda _: None
    )
    assert best not in translator.checkpoints
    assert "trying the last whole checkpoint" in warnings[0]


# --- the choice ---


@pytest.mark.parametrize(
    ("asked", "overrides", "amx", "gpu", "expected"),
    [
        (("auto", "auto"), [], False, False, "ctranslate2"),
        (("auto", "auto"), [], True, False, "torch"),
        (("auto", "auto"), [], False, True, "torch"),
        (("cpu", "auto"), [], False, True, "ctranslate2"),
        (("cpu", "int8"), [], True, True, "ctranslate2"),
        (("cuda", "auto"), [], False, False, "torch"),
        (("auto", "fp32"), [], False, False, "torch"),
        (("auto", "auto"), ["search.method=sample"], False, False, "torch"),
        (("auto", "auto"), ["model.norm=post", "model.final_norm=true"], False, False, "torch"),
    ],
)
def test_auto_takes_what_can_do_it_and_is_fast_here(
    monkeypatch: pytest.MonkeyPatch,
    asked: tuple[str, str],
    overrides: list[str],
    amx: bool,
    gpu: bool,
    expected: str,
) -> None:
    monkeypatch.setattr(engines, "has_amx", lambda: amx)
    monkeypatch.setattr(engines, "may_have_gpu", lambda device: gpu and device != "cpu")
    config = load_config(None, overrides)
    assert engines._best_of_two(config, EngineRequest("auto", *asked)) == expected
    ensemble = EngineRequest("auto", *asked, others=((config, RunDir(Path("other"))),))
    assert engines._best_of_two(config, ensemble) == "torch"


@pytest.mark.parametrize(
    ("driver", "torch", "device", "expected"),
    [
        ("nvidia", "2.13.0+cu130", "auto", True),
        ("nvidia", "2.13.0", "cuda:1", True),
        ("wsl", "2.13.0", "auto", True),
        ("wsl", "2.13.0+cpu", "auto", False),
        ("nvidia", "2.13.0", "cpu", False),
        ("none", "2.13.0", "auto", False),
    ],
)
def test_a_gpu_takes_a_driver_and_a_torch_that_can_use_it(
    driver: str,
    torch: str,
    device: str,
    expected: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("nvidia", "wsl"):
        if name == driver:
            (tmp_path / name).touch()
    monkeypatch.setattr(engines, "_DRIVERS", (str(tmp_path / "nvidia"), str(tmp_path / "wsl")))
    monkeypatch.setattr(engines, "version", lambda _: torch)
    monkeypatch.setattr(sys, "platform", "linux")
    assert engines.may_have_gpu(device) == expected


def test_without_the_library_torch_is_taken_and_asking_for_it_is_one_line(
    trained: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(trained.config)
    monkeypatch.setattr(engines, "find_spec", lambda _name: None)
    monkeypatch.setattr(engines, "has_amx", lambda: False)
    assert engines._best_of_two(config, EngineRequest("auto", "cpu", "auto")) == "torch"
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(ConfigError, match=r"CTranslate2 is not installed; run pip install"):
        open_translator(config, trained, EngineRequest("ctranslate2", "cpu", "auto"), print, print)


def test_where_no_conversion_can_be_kept_torch_translates_unless_ctranslate2_is_asked_for(
    trained: RunDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(trained.config)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setattr(engines, "has_amx", lambda: False)
    told: list[str] = []
    auto = EngineRequest("auto", "cpu", "auto")
    assert open_translator(config, trained, auto, told.append, print).engine.name.startswith(
        "torch"
    )
    [warning] = told
    assert warning.startswith("/dev/null/nmt/ctranslate2: the model cannot be converted")
    assert warning.endswith("; torch translates now")
    with pytest.raises(ConfigError, match=r"name a folder for it as \$XDG_CACHE_HOME"):
        open_translator(config, trained, EngineRequest("ctranslate2", "cpu", "auto"), print, print)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, and a home below a file: nothing can be written there, not even as root."""
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "home"))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    return tmp_path / "temporary" / f"nmt-{os.getuid()}"


def opened(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[str]]:
    """The engine that auto takes on a CPU without AMX, and the warnings."""
    monkeypatch.setattr(engines, "has_amx", lambda: False)
    told: list[str] = []
    auto = EngineRequest("auto", "cpu", "auto")
    translator = open_translator(load_config(run.config), run, auto, told.append, print)
    return translator.engine.name, told


def test_where_the_home_cannot_be_written_to_conversions_are_among_the_temporary_files(
    trained: RunDir, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert opened(trained, monkeypatch) == ("ctranslate2 int8", [])
    [kept] = (temporary / "ctranslate2").glob("[!.]*")
    assert temporary.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(conversions, "_made", None)  # it is not made again
    assert opened(trained, monkeypatch) == ("ctranslate2 int8", [])
    assert list((temporary / "ctranslate2").glob("[!.]*")) == [kept]


def test_a_cache_that_came_with_a_home_that_cannot_be_written_to_is_used(
    trained: RunDir, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert opened(trained, monkeypatch) == ("ctranslate2 int8", [])
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert opened(trained, monkeypatch) == ("ctranslate2 int8", [])
    assert not temporary.exists()


@pytest.mark.parametrize("whose", ["another's", "everybody's", "a link"])
def test_a_temporary_folder_that_others_can_write_to_is_not_trusted(
    whose: str,
    trained: RunDir,
    temporary: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if whose == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        temporary.symlink_to(tmp_path / "elsewhere")
    else:
        temporary.mkdir(mode=0o700)
    if whose == "everybody's":
        temporary.chmod(0o777)
    elif whose == "another's":
        mine = os.getuid()
        theirs = temporary.rename(temporary.with_name(f"nmt-{mine + 1}"))
        monkeypatch.setattr(os, "getuid", lambda: mine + 1)
        assert theirs.is_dir()
    engine, [warning] = opened(trained, monkeypatch)
    assert engine.startswith("torch")
    assert "belongs to another user, or other users can write to it" in warning


# Where each setting of search is seen to: a new one has to be added here, and there.
BY_CTRANSLATE2 = {"method", "beam_size", "length_penalty", "n_best", "no_repeat_ngram"}
BY_LIMITS_AND_BATCHES = {"max_ratio", "max_length", "batch_tokens"}
BY_THE_TRANSLATOR = {"typography", "verify", "abbreviations", "unknown_word", "glossary"}
ONLY_BY_TORCH = {"temperature", "top_k", "seed", "memory"} | {
    f"memory_{name}" for name in ("weight", "temperature", "pairs", "tokens")
}


def test_every_setting_of_search_is_seen_to_by_both_engines_or_needs_torch() -> None:
    places = [BY_CTRANSLATE2, BY_LIMITS_AND_BATCHES, BY_THE_TRANSLATOR, ONLY_BY_TORCH]
    assert sorted(name for names in places for name in names) == sorted(SearchConfig.model_fields)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (EngineRequest("ctranslate2", "cuda", "auto"), "--device cuda needs --engine torch"),
        (EngineRequest("ctranslate2", "cpu", "bf16"), "--precision bf16 needs --engine torch"),
        (EngineRequest("torch", "cpu", "int8"), "--precision int8 needs --engine ctranslate2"),
    ],
)
def test_what_an_engine_cannot_do_is_refused(
    trained: RunDir, asked: EngineRequest, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        open_translator(load_config(trained.config), trained, asked, print, print)
