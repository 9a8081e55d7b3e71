"""Models in Marian's binary format with SSRU decoders, as Firefox Translations has them."""

import gzip
import hashlib
import json
import math
import struct
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import marians
import numpy as np
import pytest
import torch

from nmt.commands.shell.trained_run import find_run
from nmt.config.schema import ModelConfig
from nmt.errors import ModelError, print_nothing
from nmt.exchange.importers.fields import Fields
from nmt.exchange.importers.importing import import_run, read_model
from nmt.exchange.importers.marian_binary import read_binary
from nmt.exchange.importers.marian_config import refuse_other_models
from nmt.exchange.importers.marian_vocab import find_sides
from nmt.exchange.marian_settings import NEEDED, WITHOUT_EFFECT, settings_of
from nmt.text.vocab import BOS, EOS
from nmt.translate.opening import load_translator

MODEL = "model.enzh.intgemm.alphas.bin"
HEADS = marians.SHAPE["encoder_attention_heads"]
Arrays = dict[str, np.ndarray]


@cache
def random_model(shared: bool) -> tuple[Arrays, dict[str, bytes]]:
    """The arrays of a model, and its vocabularies."""
    with TemporaryDirectory() as place:
        other, folder = Path(place, "other"), Path(place, "npz")
        model = marians.make(other, shared)
        marians.make_npz(folder, other, model)
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
    del files["model.npz"]
    return marians.with_recurrences(marians.marian_arrays(model)), files


def firefox(folder: Path, shared: bool, is_quantised: bool) -> Arrays:
    """Write a random model, and give its arrays."""
    arrays, files = random_model(shared)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    marians.write_bin(folder / MODEL, arrays, is_quantised, **marians.SSRU)
    return arrays


# --- the formulas of Marian, written down a second time ---


class Marian:
    """The logits of a post-norm Transformer with SSRU decoder, in numpy, for one sentence at a time."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = {name: array.astype(np.float64) for name, array in arrays.items()}

    def logits(self, source: list[int], target: list[int]) -> np.ndarray:
        """[T+1,V] for source rows that end with </s>, and the target rows so far."""
        source_table = self.arrays.get("Wemb", self.arrays.get("encoder_Wemb"))
        target_table = self.arrays.get("Wemb", self.arrays.get("decoder_Wemb"))
        width = source_table.shape[1]
        memory = source_table[source] * math.sqrt(width) + self.positions(len(source), width)
        for layer in range(1, marians.SHAPE["encoder_layers"] + 1):
            name = f"encoder_l{layer}"
            memory = self.attended(f"{name}_self", memory, memory)
            memory = self.forward(name, memory)
        started = np.concatenate([np.zeros((1, width)), target_table[target] * math.sqrt(width)])
        x = started + self.positions(len(started), width)
        for layer in range(1, marians.SHAPE["decoder_layers"] + 1):
            name = f"decoder_l{layer}"
            x = self.recurrent(name, x)
            x = self.attended(f"{name}_context", x, memory)
            x = self.forward(name, x)
        return x @ target_table.T + self.arrays["decoder_ff_logit_out_b"]

    def positions(self, length: int, width: int) -> np.ndarray:
        """Sines in the first half, cosines in the second; nmt keeps them in fp32."""
        rates = 10000.0 ** -(np.arange(width // 2) / (width // 2))
        angles = np.arange(length)[:, None] * rates
        return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        unit = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return unit * self.arrays[f"{name}_ln_scale"] + self.arrays[f"{name}_ln_bias"]

    def linear(self, name: str, letter: str, x: np.ndarray) -> np.ndarray:
        return x @ self.arrays[f"{name}_W{letter}"] + self.arrays[f"{name}_b{letter}"]

    def attended(self, name: str, x: np.ndarray, memory: np.ndarray) -> np.ndarray:
        query, key, value = (
            self.linear(name, letter, of) for letter, of in (("q", x), ("k", memory), ("v", memory))
        )
        size = query.shape[1] // HEADS
        heads = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            scores = query[:, part] @ key[:, part].T / math.sqrt(size)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            heads.append(weights / weights.sum(-1, keepdims=True) @ value[:, part])
        return self.norm(f"{name}_Wo", x + self.linear(name, "o", np.concatenate(heads, axis=1)))

    def forward(self, name: str, x: np.ndarray) -> np.ndarray:
        inner = self.linear(f"{name}_ffn", "1", x)
        inner = inner / (1 + np.exp(-inner))  # swish
        return self.norm(f"{name}_ffn_ffn", x + self.linear(f"{name}_ffn", "2", inner))

    def recurrent(self, name: str, x: np.ndarray) -> np.ndarray:
        state = np.zeros((1, x.shape[1]))
        written = []
        for step in x[:, None]:
            forget = 1 / (1 + np.exp(-self.linear(f"{name}_rnn", "f", step)))
            state = forget * state + (1 - forget) * (step @ self.arrays[f"{name}_rnn_W"])
            written.append(np.maximum(state, 0))
        return self.norm(f"{name}_rnn_ffn", x + np.concatenate(written))


@pytest.mark.parametrize("shared", [True, False])
@torch.no_grad()
def test_the_logits_are_those_of_marians_formulas(shared: bool, tmp_path: Path) -> None:
    source = tmp_path / "ff"
    source.mkdir()
    oracle = Marian(firefox(source, shared, is_quantised=False))
    run = import_run(str(source), tmp_path / "run", None, None, print_nothing)
    translator = load_translator(*find_run(run.path, None, []), "cpu", "fp32")
    model = translator.engine.model.double().eval()
    tokens = read_model(source)
    src, tgt = tokens.src.tokens.order(), tokens.tgt.tokens.order()
    ids = [BOS - 1, *range(EOS, len(tgt))]  # without padding and start, which Marian has not
    rows = [tgt[i] for i in ids]
    chance = np.random.default_rng(1)
    for _ in range(10):
        texts = [chance.integers(EOS + 1, len(order), 9).tolist() for order in (src, tgt)]
        sources, targets = [*texts[0], EOS], [BOS, *texts[1]]
        ours = model(torch.tensor([sources]), torch.tensor([targets]))[0].numpy()
        theirs = oracle.logits([src[i] for i in sources], [tgt[i] for i in texts[1]])
        assert np.abs(ours[:, ids] - theirs[:, rows]).max() < 1e-9


# --- files ---


def test_int8_is_read_within_half_a_step(tmp_path: Path) -> None:
    arrays = firefox(tmp_path, True, is_quantised=True)
    read = read_binary((tmp_path / MODEL).read_bytes(), "here")
    assert read.keys() == arrays.keys() | {"special:model.yml"}, "no multipliers of inputs"
    for name, array in arrays.items():
        step = np.abs(array).max() / 127
        assert read[name].shape == array.shape
        assert np.abs(read[name] - array).max() <= step * 0.501, name


def test_a_packed_model_is_the_same(tmp_path: Path) -> None:
    firefox(tmp_path, False, is_quantised=True)
    plain = read_model(tmp_path)
    (tmp_path / "lex.50.50.enzh.s2t.bin").write_bytes(b"of no use here")
    path = tmp_path / MODEL
    path.with_name(f"{MODEL}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    packed = read_model(tmp_path)
    assert all(torch.equal(tensor, packed.weights[name]) for name, tensor in plain.weights.items())


@pytest.mark.parametrize("names", [("srcvocab", "trgvocab"), ("vocab",)])
def test_vocabularies_may_be_packed_sentencepiece(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        pieces = marians.train_pieces(marians.ENGLISH, 90)
        (tmp_path / f"{name}.enzh.spm.gz").write_bytes(gzip.compress(pieces))
    sides = find_sides(tmp_path)
    assert sides.src.pieces == marians.train_pieces(marians.ENGLISH, 90)
    assert {path.name for path in sides.read} == {f"{name}.enzh.spm.gz" for name in names}


def test_it_says_what_it_read(tmp_path: Path) -> None:
    firefox(tmp_path, True, is_quantised=True)
    lines: list[str] = []
    import_run(str(tmp_path), tmp_path / "run", None, None, lines.append)
    assert "Marian .bin" in lines[0]
    assert "decoder: ssru" in (tmp_path / "run" / "config.yaml").read_text()


# --- what is refused ---


def refused(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        import_run(str(folder), folder / "run", None, None, print_nothing)
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"hash": "0" * 64}, "its SHA-256 is not the hash in metadata.json"),
        ({"byteSize": 5}, "metadata.json says 5"),
        ({"byteSize": "5"}, "not a whole number"),
        ({"targetLanguage": "de"}, "'targetLanguage' is 'de'"),
        ({"sourceLanguage": "ja"}, "'sourceLanguage' is 'ja'"),
    ],
)
def test_metadata_that_disagrees(metadata: dict[str, object], message: str, tmp_path: Path) -> None:
    firefox(tmp_path, True, is_quantised=False)
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    assert message in refused(tmp_path)


def test_metadata_that_agrees(tmp_path: Path) -> None:
    firefox(tmp_path, True, is_quantised=False)
    content = (tmp_path / MODEL).read_bytes()
    metadata = {
        "hash": hashlib.sha256(content).hexdigest(),
        "byteSize": len(content),
        "sourceLanguage": "en",
        "targetLanguage": "zh-Hans",
    }
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    assert read_model(tmp_path).config.decoder == "ssru"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dec-cell": "gru"}, "'dec-cell' is 'gru': nmt has no recurrent decoder but ssru"),
        ({"transformer-rnn-projection": True}, "transformer-rnn-projection"),
        ({"transformer-pool": True}, "transformer-pool"),
        ({"transformer-decoder-autoreg": "average-attention"}, "nmt has self-attention and rnn"),
    ],
)
def test_settings_that_nmt_has_not(
    settings: dict[str, object], message: str, tmp_path: Path
) -> None:
    arrays = firefox(tmp_path, True, is_quantised=False)
    marians.write_bin(tmp_path / MODEL, arrays, False, **{**marians.SSRU, **settings})
    assert message in refused(tmp_path)


# What `modelConfig` of Mozilla's two models from English to Chinese says, and another value for each key that matters.
OTHER = {
    "dec-cell": "gru",
    "dec-depth": 9,
    "dim-emb": 7,
    "dim-vocabs": [7, 7],
    "enc-depth": 9,
    "output-omit-bias": True,
    "tied-embeddings-all": False,
    "transformer-decoder-autoreg": "average-attention",
    "transformer-decoder-dim-ffn": 7,
    "transformer-dim-ffn": 7,
    "transformer-ffn-activation": "gelu",
    "transformer-heads": 5,
    "transformer-postprocess": "da",
    "transformer-postprocess-emb": "x",
    "transformer-postprocess-top": "n",
    "transformer-preprocess": "n",
    "transformer-train-position-embeddings": True,
} | dict.fromkeys(NEEDED, "another")


@pytest.fixture(scope="module")
def whole_settings() -> dict[str, object]:
    """All settings of the random model."""
    rows = len(random_model(True)[0]["Wemb"])
    config = ModelConfig.model_validate(
        {"d_model": 32, "heads": 4, "d_ff": 48, "encoder_layers": 2, "decoder_layers": 3}
        | {"decoder": "ssru", "norm": "post", "activation": "swish", "tie_embeddings": "all"}
    )
    return settings_of(config, rows, rows)


def test_whole_settings_are_obeyed(whole_settings: dict[str, object], tmp_path: Path) -> None:
    arrays = firefox(tmp_path, True, is_quantised=False)
    marians.write_bin(tmp_path / MODEL, arrays, False, **whole_settings)
    assert read_model(tmp_path).config.decoder_layers == 3
    # With one table for all, it is the same whether target and output have one or not.
    assert whole_settings.keys() == OTHER.keys() | WITHOUT_EFFECT.keys() | {"tied-embeddings"}


@pytest.mark.parametrize("name", sorted(OTHER))
def test_each_setting_that_matters_is_refused_with_another_value(
    name: str, whole_settings: dict[str, object], tmp_path: Path
) -> None:
    arrays = firefox(tmp_path, True, is_quantised=False)
    marians.write_bin(tmp_path / MODEL, arrays, False, **{**whole_settings, name: OTHER[name]})
    line = refused(tmp_path)
    missing = {"dec-depth": "layers.3.", "enc-depth": "layers.2.", "transformer-heads": "heads=5"}
    assert missing.get(name, name) in line


def test_settings_that_tie_other_tables_are_refused(tmp_path: Path) -> None:
    arrays = firefox(tmp_path, False, is_quantised=False)
    marians.write_bin(tmp_path / MODEL, arrays, False, **marians.SSRU, **{"tied-embeddings": False})
    assert "'tied-embeddings' is False: the weights are of a model with True" in refused(tmp_path)


def test_metadata_of_another_model_is_refused(
    whole_settings: dict[str, object], tmp_path: Path
) -> None:
    firefox(tmp_path, True, is_quantised=False)
    settings = {**whole_settings, "transformer-pool": True}
    (tmp_path / "metadata.json").write_text(json.dumps({"modelConfig": settings}))
    assert "metadata.json: modelConfig: 'transformer-pool' is True" in refused(tmp_path)


def test_published_settings_are_all_known(whole_settings: dict[str, object]) -> None:
    shared = Path(__file__).resolve().parents[4] / "shared" / "data" / "firefox"
    files = sorted(shared.glob("*.metadata.json"))
    if not files:
        pytest.skip("no published metadata.json beside this checkout")
    for path in files:
        published = json.loads(path.read_text())["modelConfig"]
        assert published.keys() <= whole_settings.keys()
        refuse_other_models(Fields(str(path), published))


ONE = ("a", 0x0404, (1, 2), struct.pack("<2f", 1, 2))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it ends at byte 0, before byte 16"),
        (b"PK" * 20, "instead of 1"),
        (struct.pack("<QQ", 1, 2**60), "arrays are more than"),
        (struct.pack("<QQQQQQ", 1, 1, 2**60, 1, 1, 1), "a name of"),
        (struct.pack("<QQQQQQ", 1, 1, 2, 1, 2**40, 1), "axes"),
        (marians.packed_items([ONE])[:-1], "it ends at byte"),
        (marians.packed_items([ONE, ONE]), "'a' is in it twice"),
        (marians.packed_items([("a", 0x0404, (2**30, 2**30), b"")]), "'a' needs"),
        (marians.packed_items([("a", 0x0404, (-1, -2), bytes(8))]), r"has the shape [-1, -2]"),
        (marians.packed_items([("a", 0x9999, (1, 2), bytes(8))]), "of type 0x9999"),
        (marians.packed_items([("a", 0x4101, (1, 2), bytes(6))]), "is divided by 0.0"),
    ],
)
def test_damaged_files_are_refused_in_a_line(content: bytes, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_binary(content, "model.bin")
    assert message in str(caught.value)
    assert str(caught.value).startswith("model.bin: not a whole .bin of Marian's (")


def test_what_gzip_damaged_or_blew_up(tmp_path: Path) -> None:
    firefox(tmp_path, True, is_quantised=False)
    packed = gzip.compress((tmp_path / MODEL).read_bytes())
    (tmp_path / MODEL).unlink()
    path = tmp_path / f"{MODEL}.gz"
    path.write_bytes(packed[:-30])
    assert "a damaged archive" in refused(tmp_path)
    path.write_bytes(gzip.compress(bytes(2**28 + 1), compresslevel=1))
    assert "unpacks to more than" in refused(tmp_path)
