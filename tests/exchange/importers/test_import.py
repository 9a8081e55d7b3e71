"""What `nmt import` makes of a model, what it says, and what it refuses."""

import io
import json
import os
import re
import shutil
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import marians
import numpy as np
import pytest
import sentencepiece
import torch
from conftest import TINY, train
from ctranslate2.converters.marian import load_vocab
from marians import HANS, HANT
from safetensors.torch import load_file
from typer.testing import CliRunner

from nmt import __version__
from nmt.cli import app
from nmt.commands.shell.trained_run import find_run
from nmt.engines.base import EngineRequest
from nmt.errors import ConfigError, ModelError, UserError, print_nothing
from nmt.exchange.importers.importing import import_run, read_model
from nmt.exchange.importers.licence import stated_licence
from nmt.exchange.importers.marian_vocab import find_sides
from nmt.files import checksum
from nmt.run import checkpoint
from nmt.run.folder import SIDES, RunDir
from nmt.run.ownership import refuse_foreign_files
from nmt.run.start_from import load_training_config
from nmt.text.vocab import EOS, Vocab
from nmt.translate.opening import load_translator, open_translator

Change = Callable[[Path], object]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A MarianMT, which no test changes."""
    folder = tmp_path_factory.mktemp("made") / "opus"
    marians.make(folder)
    return folder


@pytest.fixture(scope="module")
def made_npz(made: Path) -> Path:
    """The same kind of model as Marian writes it."""
    folder = made.with_name("npz")
    model = marians.make(made.with_name("other"))
    marians.make_npz(folder, made.with_name("other"), model)
    return folder


@pytest.fixture
def source(made: Path, tmp_path: Path) -> Path:
    """A copy of it to spoil."""
    return Path(shutil.copytree(made, tmp_path / "opus"))


@pytest.fixture
def npz(made_npz: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_npz, tmp_path / "npz"))


def imported(source: Path, folder: Path, prefix: str | None = None) -> tuple[RunDir, list[str]]:
    lines: list[str] = []
    return import_run(str(source), folder, prefix, None, lines.append), lines


# --- the run ---


def test_the_run_is_an_ordinary_one(made: Path, tmp_path: Path) -> None:
    run, _ = imported(made, tmp_path / "run")
    config, found = find_run(run.path, None, [])
    assert config.src.prefix == (HANS,)
    assert (config.src.unknown, config.tgt.unknown) == ("unk", "unk")
    assert config.model.activation == "swish"
    assert checkpoint.best(found) == run.checkpoints / "step-00000000"
    translator = load_translator(config, found, "cpu", "fp32")
    assert len(translator.translate(["I like tea.", "", "Two lines"])) == 3
    assert not list(run.path.rglob(".*")), "no unfinished work"
    written = [run.config, *(name(side) for side in SIDES for name in (run.vocab, run.pieces))]
    refuse_foreign_files(run, written)  # all of them are known as nmt's


def test_a_translation_needs_nothing_but_the_run(made: Path, tmp_path: Path) -> None:
    run, _ = imported(made, tmp_path / "run")
    moved = run.path.rename(tmp_path / "moved")
    translator = load_translator(*find_run(moved, None, []), "cpu", "fp32")
    assert translator.translate(["I like tea."])[0].candidates


def test_terms_of_a_glossary_are_in_every_translation(made: Path, tmp_path: Path) -> None:
    run, _ = imported(made, tmp_path / "run")
    terms = tmp_path / "terms.tsv"
    terms.write_text("tea\t喝茶\ncat\t猫\nrailway station\t火车站\n", encoding="utf-8")
    config, found = find_run(run.path, None, [f"search.glossary=['{terms}']", "search.n_best=3"])
    lines = ["I like tea.", "", "The cat and the tea.", "Where is the railway station?", "It is."]
    translator = open_translator(config, found, EngineRequest(), print_nothing, print_nothing)
    assert translator.engine.name.startswith("torch")
    translations = translator.translate(lines)
    wanted = [["喝茶"], [], ["猫", "喝茶"], ["火车站"], []]
    for translation, targets in zip(translations, wanted, strict=True):
        assert all(target in translation.text for target in targets)
        assert [use.found for use in translation.terms or ()] == targets
        assert len(translation.candidates) == (3 if translation.source else 0)


def test_the_checkpoint_says_where_it_came_from(source: Path, tmp_path: Path) -> None:
    (source / "README.md").write_text("---\nlanguage:\n- en\nlicense: apache-2.0\n---\n# opus\n")
    run, lines = imported(source, tmp_path / "run")
    provenance = checkpoint.read_meta(run.steps()[0]).provenance
    assert provenance.versions == {"nmt": __version__}
    kept = provenance.imported
    assert kept is not None
    assert (kept.source, kept.revision) == (str(source), None)
    assert provenance.licence == "apache-2.0"
    assert kept.sha256["model.safetensors"] == checksum(source / "model.safetensors")
    assert set(kept.sha256) == {
        "config.json",
        "model.safetensors",
        "source.spm",
        "target.spm",
        "vocab.json",
    }
    assert "nmt: licence: apache-2.0" in lines


def test_it_says_what_the_model_is_and_what_it_cannot_do(made: Path, tmp_path: Path) -> None:
    _, lines = imported(made, tmp_path / "run")
    assert lines[0].startswith(f"nmt: {made}: Hugging Face MarianMT, 0.1 million parameters, 2+3")
    assert "licence: none stated" in lines[1]
    assert "no placeholders" in lines[2]
    assert lines[3].startswith("nmt: it cannot write '，？！：；'; search.typography")
    assert f"each source begins with {HANS}" in lines[4]
    assert HANT in lines[4]


@pytest.mark.parametrize(
    ("readme", "licence", "stated"),
    [
        ("---\nlicense: cc-by-4.0\n---\n", None, "cc-by-4.0"),
        ("---\r\nlicense: 'mit'\r\n---\r\n", None, "mit"),
        ("---\nlicense:\n- apache-2.0\n---\n", None, "apache-2.0"),
        ("license: in the text\n", None, None),
        ("# none\n", "\nCC-BY 4.0\nmore", "CC-BY 4.0 (LICENSE)"),
    ],
)
def test_the_licence_is_the_one_that_the_folder_states(
    readme: str, licence: str | None, stated: str | None, tmp_path: Path
) -> None:
    (tmp_path / "README.md").write_bytes(readme.encode())
    if licence is not None:
        (tmp_path / "LICENSE").write_text(licence)
    assert stated_licence(tmp_path) == stated


# --- what a run is for ---


def test_a_training_starts_from_it(corpus: Path, source: Path, tmp_path: Path) -> None:
    """With the rows of its vocabulary, and after them those of the placeholders that it lacked."""
    (source / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n")
    run, _ = imported(source, tmp_path / "run")
    course = [setting for setting in TINY if setting.startswith("train.")]
    asked = [f"data.path={corpus}", f"run_dir={tmp_path / 'new'}", *course, "train.updates=2"]
    config = load_training_config(None, [*asked, f"train.start_from={run.path}"])
    assert config.src.prefix == (HANS,)
    trained = train(config)
    before, after = Vocab.load(run.vocab("src")), Vocab.load(trained.vocab("src"))
    assert after.tokens[: len(before)] == before.tokens
    assert after.placeholders
    assert not before.placeholders
    assert "its licence binds this model too: cc-by-4.0" in trained.log.read_text()


def test_ctranslate2_writes_what_torch_writes(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run, _ = imported(made, tmp_path / "run")
    config, found = find_run(run.path, None, ["search.max_length=20", "search.beam_size=1"])
    texts = {}
    for engine, precision in (("torch", "fp32"), ("ctranslate2", "fp32")):
        asked = EngineRequest(engine, "cpu", precision)
        translator = open_translator(config, found, asked, print_nothing, print_nothing)
        texts[engine] = [each.text for each in translator.translate(marians.ENGLISH)]
    assert texts["torch"] == texts["ctranslate2"]


def test_what_was_exported_comes_back(made: Path, tmp_path: Path) -> None:
    """`nmt export hf` calls the end `<eos>`, and starts from a row of its own."""
    run, _ = imported(made, tmp_path / "run")
    done = CliRunner().invoke(app, ["export", "hf", str(tmp_path / "hf"), "-m", str(run.path)])
    assert done.exit_code == 0, done.output
    back, _ = imported(tmp_path / "hf", tmp_path / "back")
    for name in ("vocab.src.tsv", "vocab.tgt.tsv", "pieces.src.model", "pieces.tgt.model"):
        assert (back.path / name).read_bytes() == (run.path / name).read_bytes(), name
    ours, theirs = (checkpoint.load_weights(each.steps()[0]) for each in (run, back))
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        kept = tensor.isclose(theirs[name], atol=1e-6)
        # What search never writes has a bias of its own in an export.
        assert kept.all() or (name == "output.bias" and kept[EOS:].all()), name


# --- the token that names the target language ---


@pytest.mark.parametrize(
    ("asked", "chosen"), [(None, (HANS,)), (HANT, (HANT,)), ("", ())], ids=["none", "Hant", "''"]
)
def test_the_prefix_is_simplified_chinese_or_what_is_asked_for(
    asked: str | None, chosen: tuple[str, ...], made: Path, tmp_path: Path
) -> None:
    run, _ = imported(made, tmp_path / "run", asked)
    assert find_run(run.path, None, [])[0].src.prefix == chosen


def test_a_prefix_that_the_vocabulary_lacks_is_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--prefix >>deu<<: .* has .*>>cmn_Hans<<"):
        imported(made, tmp_path / "run", ">>deu<<")
    assert not (tmp_path / "run").exists()


# --- where it goes ---


def test_an_empty_folder_is_taken_and_any_other_is_refused(made: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    imported(made, run)
    before = checksum(run / "config.yaml")
    for folder in (run, run / "config.yaml"):
        with pytest.raises(ConfigError, match=r"name a new or an empty folder|is no folder"):
            imported(made, folder)
    assert checksum(run / "config.yaml") == before


def test_a_link_is_not_written_through(made: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="is no folder"):
        imported(made, tmp_path / "link")
    assert not list((tmp_path / "elsewhere").iterdir())


# --- what is refused ---


def refused(source: Path, run: Path) -> str:
    """The one line that refuses a source; nothing is left behind."""
    with pytest.raises(ModelError) as error:
        imported(source, run / "deep" / "run")
    assert not (run / "deep").exists()
    assert len(error.value.lines) == 1
    assert "\n" not in str(error.value)
    return str(error.value)


def settings(**changed: object) -> Change:
    """Change the settings of a MarianMT."""

    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))

    return change


def without(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def holding(name: str, content: bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(content)


def folder_named(name: str) -> Change:
    """Put a folder where a file is needed."""

    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).mkdir()

    return change


def vocabulary(change: Callable[[dict[str, int]], object]) -> Change:
    def write(folder: Path) -> None:
        listed = json.loads((folder / "vocab.json").read_text())
        change(listed)
        (folder / "vocab.json").write_text(json.dumps(listed))

    return write


def renamed(listed: dict[str, int], new: str) -> None:
    """Give the token of row 5 another name."""
    old = next(token for token, row in listed.items() if row == 5)
    listed[new] = listed.pop(old)


HF = [
    (settings(model_type="m2m_100"), "'model_type' is 'm2m_100'.*NLLB"),
    (settings(model_type="qwen3"), "a decoder without encoder"),
    (settings(is_decoder=True), "a decoder without encoder"),
    (settings(model_type=["marian"]), "'model_type' is a list: not text"),
    (settings(normalize_embedding=True), "'normalize_embedding' is True"),
    (settings(decoder_ffn_dim=24), "'decoder_ffn_dim' is 24: the encoder's is 48"),
    (settings(activation_function="gelu_new"), "nmt has swish"),
    (settings(d_model=64), r"'model.shared.weight' has shape \[\d+, 32\]"),
    (settings(d_model="32"), "'d_model' is '32': not a whole number"),
    (settings(encoder_attention_heads=5, decoder_attention_heads=5), "cannot be divided"),
    (settings(encoder_layers=1), "no part of the model that its settings describe"),
    (settings(decoder_layers=4), "'model.decoder.layers.3.* is missing"),
    (settings(encoder_layers=10**9), "encoder_layers: .*less than or equal to 1000"),
    (settings(max_position_embeddings=10**9), "'max_position_embeddings' is 1000000000"),
    (settings(pad_token_id=4), "'pad_token_id' is 4: the vocabulary lists that token as"),
    (settings(eos_token_id=[0, 1]), "'eos_token_id' is a list"),
    (settings(vocab_size=99), "'vocab_size' is 99: the vocabulary lists"),
    (settings(decoder_start_token_id=-1), "'decoder_start_token_id' is -1"),
    (settings(tie_word_embeddings=False), "'lm_head.weight' is missing"),
    (vocabulary(lambda listed: listed.pop("</s>")), "'</s>' is missing"),
    (vocabulary(lambda listed: listed.update(x=7)), "not numbered from 0"),
    (vocabulary(lambda listed: renamed(listed, "a\tb")), r"'a\\tb' cannot be a token"),
    (vocabulary(lambda listed: renamed(listed, "<B>x")), "'<B>x' cannot be a token"),
    (vocabulary(lambda listed: renamed(listed, "\ud800")), "cannot be a token"),
    (holding("vocab.json", b"{"), "vocab.json: not JSON"),
    (holding("vocab.json", b"[" * 10**5), "vocab.json: not JSON"),
    (holding("config.json", b"[]"), "config.json: no JSON object"),
    (holding("source.spm", b"no"), "source.spm: not a sentencepiece model"),
    (without("target.spm"), "target.spm: missing"),
    (without("vocab.json"), "vocab.json: missing"),
    (without("model.safetensors"), "neither model.safetensors nor pytorch_model.bin"),
    (folder_named("config.json"), "config.json: is a folder"),
    (folder_named("source.spm"), "source.spm: is a folder"),
    (folder_named("model.safetensors"), "model.safetensors: not whole safetensors"),
    (without("config.json"), "neither Hugging Face MarianMT .* nor a Marian model"),
    (holding("model.safetensors", b"\x08" + bytes(7) + b"{}      "), "is missing"),
    (holding("model.safetensors", b"no"), "not whole safetensors"),
    (holding("tokenizer_config.json", b'{"source_lang": "zho"}'), "are both"),
]


def marian(**changed: object) -> Change:
    """Write the model anew with other settings."""

    def change(folder: Path) -> None:
        with np.load(folder / "model.npz") as file:
            arrays = {name: file[name] for name in file.files if "special" not in name}
        marians.write_npz(folder / "model.npz", arrays, **changed)

    return change


def arrays(change: Callable[[dict[str, np.ndarray]], object]) -> Change:
    """Write the model anew with other arrays."""

    def write(folder: Path) -> None:
        with np.load(folder / "model.npz") as file:
            kept = {name: file[name] for name in file.files if "special" not in name}
        change(kept)
        marians.write_npz(folder / "model.npz", kept)

    return write


NPZ = [
    (marian(**{"type": "s2s"}), "'type' is 's2s': nmt can express only 'transformer'"),
    (
        marian(**{"transformer-decoder-autoreg": "rnn", "dec-cell": "gru"}),
        "'dec-cell' is 'gru': nmt has no recurrent decoder but ssru",
    ),
    (marian(**{"transformer-no-projection": True}), "transformer-no-projection"),
    (marian(**{"transformer-ffn-activation": "gelu"}), "Marian's gelu"),
    (marian(**{"transformer-preprocess": "d"}), "transformer-preprocess 'd'"),
    (marian(**{"transformer-postprocess-top": "n"}), "transformer-postprocess-top 'n'"),
    (marian(**{"transformer-postprocess-emb": "a"}), "transformer-postprocess-emb"),
    (marian(**{"transformer-tied-layers": [1, 1]}), "transformer-tied-layers"),
    (marian(**{"enc-depth": 3}), "'model.encoder.layers.2.* is missing"),
    (marian(**{"dec-depth": 2}), "'model.decoder.layers.2.* is no part"),
    (marian(**{"transformer-heads": 5}), "cannot be divided"),
    (marian(**{"transformer-heads": "8"}), "not a whole number"),
    (arrays(lambda kept: kept.update(more=kept["Wemb"])), "'more' is no part of the model"),
    (arrays(lambda kept: kept.pop("Wemb")), "no embeddings"),
    (arrays(lambda kept: kept.update(Wemb=kept["Wemb"][:9])), "has shape"),
    (arrays(lambda kept: kept.update(Wemb=kept["Wemb"] * np.nan)), "not finite numbers"),
    (arrays(lambda kept: kept.update(Wemb=kept["Wemb"].astype(int))), "nmt imports plain"),
    (holding("other.npz", b""), "holds several models"),
    (holding("model.npz", b"PK"), "a damaged archive"),
    (without("opus.spm32k.vocab.yml"), "one vocabulary for both sides, and the files differ"),
    (holding("opus.spm32k.vocab.yml", b"a: 0\nb\n"), "vocab.yml:2: not of the form"),
    (holding("opus.spm32k.vocab.yml", b"a: 0\na: 1\n"), "is listed above already"),
    (holding("opus.spm32k.vocab.yml", b"a: 0\n"), "'</s>' is missing"),
    (holding("another.vocab.yml", b"a: 0\n"), "which vocabulary is whose"),
]


UNSOUND = [
    *(("source", change, message) for change, message in HF),
    *(("npz", change, message) for change, message in NPZ),
]


@pytest.mark.parametrize(("model", "change", "message"), UNSOUND)
def test_what_is_no_sound_model_is_refused_in_a_line(
    model: str, change: Change, message: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    folder: Path = request.getfixturevalue(model)
    change(folder)
    line = refused(folder, tmp_path)
    assert re.search(message, line), line


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "no such folder" in refused(tmp_path / "none", tmp_path)
    assert "nor a Marian model" in refused(tmp_path, tmp_path)


# --- hostile files ---


class Burglar:
    """What pickle would call."""

    def __init__(self, loot: Path) -> None:
        self.loot = loot

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, (f"import pathlib; pathlib.Path({str(self.loot)!r}).touch()",)


@pytest.fixture
def binary(source: Path) -> Path:
    """Where the weights of a .bin are read from."""
    (source / "model.safetensors").unlink()
    return source / "pytorch_model.bin"


def test_code_in_a_bin_is_refused_and_not_run(binary: Path, tmp_path: Path) -> None:
    torch.save({"model.shared.weight": torch.zeros(2), "x": Burglar(tmp_path / "loot")}, binary)
    assert "not a dict of tensors" in refused(binary.parent, tmp_path)
    assert not (tmp_path / "loot").exists()


NO_WEIGHTS = [
    ([torch.zeros(5)], r"not a dict of tensors, as torch.save writes it \(a list\)"),
    ({3: torch.zeros(5)}, "3 is a Tensor"),
    ({"w": 3}, "'w' is a int"),
    ({"w": torch.zeros(1).expand(10**12)}, "'w' is more than is stored of it"),
    ({"w": torch.zeros(5, device="meta")}, "'w' is more than is stored of it"),
    ({"w": torch.zeros(5).to_sparse()}, "'w' is more than is stored of it"),
]


@pytest.mark.parametrize(("content", "message"), NO_WEIGHTS)
def test_what_is_no_dict_of_tensors_is_refused(
    content: object, message: str, binary: Path, tmp_path: Path
) -> None:
    torch.save(content, binary)
    assert re.search(message, refused(binary.parent, tmp_path))


def test_a_file_from_before_zips_is_read_too(made: Path, binary: Path, tmp_path: Path) -> None:
    weights = load_file(made / "model.safetensors")
    torch.save(weights, binary, _use_new_zipfile_serialization=False)
    run, _ = imported(binary.parent, tmp_path / "run")
    torch.save(weights, binary)
    as_zip, _ = imported(binary.parent, tmp_path / "zip")
    contents = [(each.steps()[0] / "model.safetensors").read_bytes() for each in (run, as_zip)]
    assert contents[0] == contents[1]


def test_a_changed_byte_of_a_bin_is_noticed(made: Path, binary: Path, tmp_path: Path) -> None:
    torch.save(load_file(made / "model.safetensors"), binary)
    content = bytearray(binary.read_bytes())
    content[len(content) // 2] ^= 1
    binary.write_bytes(content)
    assert "a damaged archive (" in refused(binary.parent, tmp_path)


def test_code_in_an_npz_is_refused_and_not_run(npz: Path, tmp_path: Path) -> None:
    burglar = Burglar(tmp_path / "loot")
    arrays(lambda kept: kept.update(x=np.array([burglar], dtype=object)))(npz)
    with pytest.raises(ModelError, match=r"not whole \.npz"):
        imported(npz, tmp_path / "run")
    assert not (tmp_path / "loot").exists()


def test_a_tensor_cannot_ask_for_more_memory_than_its_file_is_large(
    binary: Path, tmp_path: Path
) -> None:
    torch.save({"w": torch.zeros(5)}, binary)
    with zipfile.ZipFile(binary) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    count = b"\x8a\x08" + struct.pack("<q", 2**40)
    with zipfile.ZipFile(binary, "w") as archive:
        for name, part in parts.items():
            lying = part.replace(b"K\x05", count) if name.endswith("data.pkl") else part
            archive.writestr(name, lying)
    assert "not a dict of tensors" in refused(binary.parent, tmp_path)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.npz"])
def test_an_archive_cannot_unpack_to_more_than_its_size(
    name: str, made: Path, made_npz: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bomb"
    shutil.copytree(made if name.endswith("bin") else made_npz, folder)
    (folder / "model.safetensors").unlink(missing_ok=True)
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/data.pkl", bytes(10**7))
    assert "says that it holds 10,000,000 bytes, more than its size" in refused(folder, tmp_path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_stored_files_that_are_said_to_be_compressed_are_a_damaged_archive(
    method: int, binary: Path, tmp_path: Path
) -> None:
    torch.save({"w": torch.zeros(5)}, binary)
    content = bytearray(binary.read_bytes())
    for entry in re.finditer(b"PK\x01\x02", bytes(content)):  # of the central directory
        struct.pack_into("<H", content, entry.start() + 10, method)
    binary.write_bytes(content)
    assert "a damaged archive (" in refused(binary.parent, tmp_path)


def test_one_tensor_under_a_thousand_names_is_not_a_large_model(
    source: Path, tmp_path: Path
) -> None:
    """Else a file of a megabyte would become a run of gigabytes."""
    (source / "model.safetensors").unlink()
    layers = 300
    settings(encoder_layers=layers, decoder_ffn_dim=32, encoder_ffn_dim=32)(source)
    tokens = json.loads((source / "config.json").read_text())["vocab_size"]
    matrix, row = torch.zeros(32, 32), torch.zeros(32)
    weights = {"model.shared.weight": torch.zeros(tokens, 32)}
    for layer in range(layers):
        base = f"model.encoder.layers.{layer}"
        for part in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"):
            weights |= {f"{base}.{part}.weight": matrix, f"{base}.{part}.bias": row}
        for part in ("self_attn.out_proj", "fc1", "fc2"):
            weights |= {f"{base}.{part}.weight": matrix, f"{base}.{part}.bias": row}
        for part in ("self_attn_layer_norm", "final_layer_norm"):
            weights |= {f"{base}.{part}.weight": row, f"{base}.{part}.bias": row}
    weights["final_logits_bias"] = torch.zeros(1, tokens)
    torch.save(weights, source / "pytorch_model.bin")
    assert "more than a file of this size can hold" in refused(source, tmp_path)


def test_a_pipe_in_the_folder_is_refused(source: Path, tmp_path: Path) -> None:
    (source / "vocab.json").unlink()
    os.mkfifo(source / "vocab.json")
    assert "neither a file nor a folder" in refused(source, tmp_path)


# --- other ways in which models come ---


def test_a_sentencepiece_model_alone_gives_tokens_and_rows(tmp_path: Path) -> None:
    """As Mozilla's and HPLT's teachers have them: `</s>` is row 0, `<unk>` row 1."""
    content = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(marians.ENGLISH * 20),
        model_writer=content,
        vocab_size=70,
        bos_id=-1,
        eos_id=0,
        unk_id=1,
        minloglevel=2,
    )
    folder = tmp_path / "teacher"
    folder.mkdir()
    (folder / "vocab.en.spm").write_bytes(content.getvalue())
    (folder / "vocab.zh.spm").write_bytes(content.getvalue())
    kept = marians.marian_arrays(marians.random_model(71, shared=False))
    marians.write_npz(folder / "final.model.npz.best-chrf.npz", kept)
    read = read_model(folder)
    processor = sentencepiece.SentencePieceProcessor(model_proto=content.getvalue())
    rows = [processor.id_to_piece(row) for row in range(70)]
    assert read.src.tokens.listed == [*rows, "<pad>"]
    assert [read.src.tokens.order()[i] for i in range(4)] == [70, 1, 70, 0]
    run, lines = imported(folder, tmp_path / "run")
    assert find_run(run.path, None, [])[0].src.prefix == ()
    assert not [line for line in lines if "--prefix" in line]


def test_the_tokens_of_a_vocab_yml_are_those_that_ctranslate2_reads(npz: Path) -> None:
    path = npz / "opus.spm32k.vocab.yml"
    listed = load_vocab(str(path))
    tricky = ["'quo''ted': 1", '"\\"": 2', "plain: 3", '"\\x85": 4', '"a:b": 5', "? long\n: 6"]
    renumbered = "".join(f"{json.dumps(token)}: {row + 7}\n" for row, token in enumerate("abcd"))
    path.write_text('"</s>": 0\n' + "\n".join(tricky) + "\n" + renumbered + '"<unk>": 11\n')
    assert find_sides(npz).src.listed == load_vocab(str(path))
    assert len(listed) > 100


# --- the hub ---


def test_without_huggingface_hub_a_line_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=r"pip install huggingface_hub"):
        import_run("owner/name", tmp_path / "run", None, None, print_nothing)


def test_a_folder_has_no_revision(made: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--revision v1: .* is a folder"):
        import_run(str(made), tmp_path / "run", None, "v1", print_nothing)
