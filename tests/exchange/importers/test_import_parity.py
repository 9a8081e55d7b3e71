"""Imported models compute what transformers and CTranslate2 compute with the same files."""

from dataclasses import dataclass
from pathlib import Path
from random import Random

import ctranslate2
import marians
import pytest
import torch
from ctranslate2.converters.marian import MarianConverter
from made_runs import exported
from marians import CHINESE, ENGLISH, HANS
from transformers import MarianMTModel

from nmt.commands.shell.trained_run import find_run
from nmt.errors import print_nothing
from nmt.exchange.importers.importing import import_run, read_model
from nmt.run.checkpoint import load_weights
from nmt.run.folder import RunDir
from nmt.search.search import Hypothesis
from nmt.text.normalize import normalize
from nmt.text.vocab import BOS, EOS, PAD
from nmt.translate.opening import load_translator
from nmt.translate.translator import Translator

LIMIT = 38  # tokens of a translation


@dataclass(frozen=True)
class Twin:
    """A model in transformers and in nmt, and the file's row of each of our ids."""

    folder: Path
    model: MarianMTModel
    translator: Translator
    run: RunDir
    src: list[int]
    tgt: list[int]

    def theirs(self, ids: list[int]) -> list[int]:
        """A source as transformers wants it."""
        return [self.src[i] for i in [*ids, EOS]]

    def generated(self, sources: list[list[int]], **options: object) -> list[list[int]]:
        """What transformers generates, without padding, start and end."""
        width = max(map(len, sources)) + 1
        pad = self.model.config.pad_token_id
        rows = [self.theirs(ids) for ids in sources]
        padded = torch.tensor([row + [pad] * (width - len(row)) for row in rows])
        found = self.model.generate(
            input_ids=padded,
            attention_mask=(padded != pad).long(),
            do_sample=False,
            max_length=LIMIT + 2,
            forced_eos_token_id=None,
            bad_words_ids=[[pad]],
            renormalize_logits=True,
            **options,
        )
        return [[i for i in row if i not in (pad, 0)] for row in found.tolist()]

    def searched(self, sources: list[list[int]], **options: object) -> list[Hypothesis]:
        """What nmt finds."""
        search = self.translator.search.model_copy(
            update={"max_length": LIMIT, "max_ratio": 1000.0, **options}
        )
        return [n_best[0] for n_best in self.translator.engine.decode(sources, search)]

    def as_theirs(self, found: list[Hypothesis]) -> list[list[int]]:
        return [[self.tgt[i] for i in hypothesis.ids] for hypothesis in found]


def translator_of(run: Path) -> Translator:
    translator = load_translator(*find_run(run, None, []), "cpu", "fp32")
    translator.engine.model.eval()
    return translator


def twin(folder: Path, shared: bool, **settings: object) -> Twin:
    model = marians.make(folder / "source", shared, **settings)
    run = import_run(str(folder / "source"), folder / "run", None, None, print_nothing)
    read = read_model(folder / "source")
    order = read.src.tokens.order(), read.tgt.tokens.order()
    return Twin(folder / "source", model, translator_of(run.path), run, *order)


@pytest.fixture(scope="module", params=[True, False], ids=["shared", "separate"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Twin:
    return twin(tmp_path_factory.mktemp("pair"), request.param)


def sources(of: Twin, count: int) -> list[list[int]]:
    """Random ids of any token but the special ones."""
    chance = Random(5)
    ids = range(EOS + 1, len(of.src))
    return [chance.choices(ids, k=chance.randint(1, 20)) for _ in range(count)]


# --- numbers ---


@torch.no_grad()
def test_teacher_forced_logits_are_those_of_transformers(pair: Twin) -> None:
    """In fp64, where the two differ by rounding alone."""
    chance = torch.Generator().manual_seed(1)
    ours, theirs = pair.translator.engine.model.double(), pair.model.double()
    for ids in sources(pair, 20):
        targets = torch.randint(EOS + 1, len(pair.tgt), (1, 12), generator=chance)
        targets[0, 0] = BOS
        logits = ours(torch.tensor([[*ids, EOS]]), targets)
        expected = theirs(
            input_ids=torch.tensor([pair.theirs(ids)]),
            decoder_input_ids=torch.tensor(pair.tgt)[targets],
        ).logits[:, :, pair.tgt]
        assert (logits - expected).abs().max() < 1e-9
    ours.float(), theirs.float()


def test_greedy_ids_of_200_random_sources_are_those_of_transformers(pair: Twin) -> None:
    texts = sources(pair, 200)
    found = pair.as_theirs(pair.searched(texts, method="greedy"))
    assert found == [row[:LIMIT] for row in pair.generated(texts, num_beams=1)]
    assert len({tuple(row) for row in found}) > 30, "the model looks at its source"
    assert len({len(row) for row in found}) > 3, "some sentences end before the limit"


def test_a_beam_of_4_without_length_penalty_finds_what_transformers_finds(pair: Twin) -> None:
    """With a penalty the formulas differ: theirs is log p / length^α, ours GNMT's."""
    texts = sources(pair, 40)
    beam = {"method": "beam", "beam_size": 4, "length_penalty": 0.0}
    found = pair.as_theirs(pair.searched(texts, **beam))
    theirs = pair.generated(texts, num_beams=4, length_penalty=0.0)
    ended = [i for i, row in enumerate(theirs) if len(row) < LIMIT and len(found[i]) < LIMIT]
    assert len(ended) > 10
    assert [found[i] for i in ended] == [theirs[i] for i in ended]


def test_the_decoder_starts_from_the_row_of_zeros(pair: Twin) -> None:
    embedding = pair.translator.engine.model.tgt_embedding.tokens.weight
    assert not embedding[BOS].any()
    assert not embedding[PAD].any()
    assert embedding[EOS].any()


@pytest.mark.parametrize(
    "settings",
    [
        {"activation_function": "relu", "scale_embedding": False},
        {"activation_function": "gelu", "encoder_layers": 1},
        {"tie_word_embeddings": False, "share_encoder_decoder_embeddings": False},
    ],
    ids=["relu without scale", "gelu", "output of its own"],
)
@torch.no_grad()
def test_other_variants_that_transformers_can_be_told(
    settings: dict[str, object], tmp_path: Path
) -> None:
    shared = bool(settings.pop("share_encoder_decoder_embeddings", True))
    made = twin(tmp_path, shared, **settings)
    texts = sources(made, 20)
    found = made.as_theirs(made.searched(texts, method="greedy"))
    assert found == [row[:LIMIT] for row in made.generated(texts, num_beams=1)]


# --- text ---

TEXTS = [
    *ENGLISH,
    *CHINESE,
    "ＦＵＬＬ－ＷＩＤＴＨ　letters, ﬁne ligatures and ½",
    "tabs\tand  many   spaces ",
    "an unknown ☃ and 𝄞",
    "</s> <unk> in text",
    ">>not a token<<",
    "",
]


@pytest.mark.parametrize("text", TEXTS)
def test_text_gets_the_ids_of_transformers_tokenizer(pair: Twin, text: str) -> None:
    tokenizer = marians.tokenizer(pair.folder)
    if text.startswith("</s>"):  # transformers takes what reads so for the end itself; nmt for text
        assert 0 not in [pair.src[i] for i in pair.translator.src.encode(text)]
        return
    ours = [pair.src[i] for i in pair.translator.src.encode(text)]
    theirs = tokenizer(f"{HANS} {normalize(text, 'en')}").input_ids
    assert ours == (theirs[:-1] if text else [])


def test_ids_get_the_text_of_transformers_tokenizer(pair: Twin) -> None:
    tokenizer = marians.tokenizer(pair.folder)
    chance = Random(2)
    for _ in range(100):
        ids = chance.choices(range(EOS + 1, len(pair.tgt)), k=chance.randint(1, 15))
        theirs = tokenizer.decode([pair.tgt[i] for i in ids], skip_special_tokens=True)
        assert pair.translator.tgt.decode(ids) == normalize(theirs, "zh")


# --- files ---


@pytest.mark.parametrize("shared", [True, False])
def test_the_weights_of_a_bin_are_those_of_safetensors(shared: bool, tmp_path: Path) -> None:
    weights = {}
    for each in ("safetensors", "bin"):
        marians.make(tmp_path / each, shared, each)
        run = import_run(str(tmp_path / each), tmp_path / f"run.{each}", None, None, print_nothing)
        weights[each] = load_weights(run.steps()[0])
    assert weights["safetensors"].keys() == weights["bin"].keys()
    for name, tensor in weights["safetensors"].items():
        # A .bin holds the table of positions, which safetensors leave out: numpy's sines, rounded otherwise.
        exact = not name.endswith("positions")
        assert (tensor - weights["bin"][name]).abs().max() <= (0 if exact else 1e-6), name


def test_the_same_weights_as_npz_give_the_same_run(pair: Twin, tmp_path: Path) -> None:
    shared = pair.model.config.share_encoder_decoder_embeddings
    marians.make_npz(tmp_path / "npz", pair.folder, pair.model)
    run = import_run(str(tmp_path / "npz"), tmp_path / "run", None, None, print_nothing)
    ours, theirs = load_weights(run.steps()[0]), load_weights(pair.run.steps()[0])
    assert ours.keys() == theirs.keys()
    for name, tensor in theirs.items():
        length = len(tensor)  # the npz gets 512 positions
        assert torch.equal(ours[name][:length], tensor), name
    for name in ("vocab.src.tsv", "vocab.tgt.tsv", "pieces.src.model", "pieces.tgt.model"):
        assert (run.path / name).read_bytes() == (pair.run.path / name).read_bytes()
    assert shared == (
        "opus.spm32k.vocab.yml" in {path.name for path in (tmp_path / "npz").iterdir()}
    )


def ctranslate2_of(folder: Path) -> ctranslate2.Translator:
    names = sorted(path for path in folder.glob("*.yml"))
    vocabularies = [str(path) for path in names] * (3 - len(names))
    converter = MarianConverter(str(folder / "model.npz"), vocabularies)
    converter.convert(str(folder / "ct2"))
    return ctranslate2.Translator(str(folder / "ct2"), intra_threads=1)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_an_npz_gives_the_ids_of_ctranslate2(pair: Twin, norm: str, tmp_path: Path) -> None:
    folder = tmp_path / "npz"
    marians.make_npz(folder, pair.folder, pair.model)
    if norm == "pre":  # with a norm of the embeddings, too
        arrays = marians.marian_arrays(pair.model, "_pre")
        chance = torch.Generator().manual_seed(1)
        for stack in ("encoder", "decoder"):
            for place, pre in (("top", ""), ("emb", "_pre")):
                for kind in ("scale", "bias"):
                    arrays[f"{stack}_{place}_ln_{kind}{pre}"] = (
                        torch.rand(1, 32, generator=chance).numpy() + 0.5
                    )
        sequence = {"preprocess": "n", "postprocess": "da", "postprocess-top": "n"}
        settings = {f"transformer-{name}": value for name, value in sequence.items()}
        marians.write_npz(
            folder / "model.npz", arrays, **settings, **{"transformer-postprocess-emb": "nd"}
        )
    run = import_run(str(folder), tmp_path / "run", None, None, print_nothing)
    translator = translator_of(run.path)
    texts = sources(pair, 60)
    limits = {"max_length": LIMIT, "max_ratio": 1000.0}
    search = translator.search.model_copy(update={"method": "greedy", **limits})
    found = translator.engine.decode(texts, search)
    ours = [[translator.tgt.vocab.tokens[i] for i in n_best[0].ids] for n_best in found]
    theirs = ctranslate2_of(folder).translate_batch(
        [[translator.src.vocab.tokens[i] for i in ids] for ids in texts],
        beam_size=1,
        max_decoding_length=LIMIT,
        min_decoding_length=0,
    )
    assert ours == [result.hypotheses[0] for result in theirs]
    assert len({tuple(row) for row in ours}) > 10


# --- there and back ---


def test_an_imported_model_that_is_exported_again_is_the_one_that_transformers_had(
    pair: Twin, tmp_path: Path
) -> None:
    again = exported("hf", pair.run, tmp_path / "hf")
    models = [pair.model, MarianMTModel.from_pretrained(again).eval()]
    tokenizers = [marians.tokenizer(pair.folder), marians.tokenizer(again)]
    limits = {"num_beams": 1, "do_sample": False, "max_length": LIMIT, "forced_eos_token_id": None}
    texts = []
    for model, tokenizer in zip(models, tokenizers, strict=True):
        written = []
        for line in ENGLISH[:4]:
            batch = tokenizer([f"{HANS} {line}"], return_tensors="pt")
            (ids,) = model.generate(**batch, **limits)
            written.append(tokenizer.decode(ids, skip_special_tokens=True))
        texts.append(written)
    assert texts[0] == texts[1]
    assert len({*texts[0]}) > 2, "the model looks at its source"
