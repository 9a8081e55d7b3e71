"""The vocabularies of a training that starts from another run: that run's, and what is new in train.

Appended are the placeholders of protected spans, if train has them, and the most frequent of the words that the run
would have to spell or cut into pieces.
"""

from collections import Counter
from collections.abc import Iterable

from nmt.config.schema import Config
from nmt.corpus.encoding.tokenized import Counts
from nmt.errors import ModelError
from nmt.files import checksum, read_bytes, replacing
from nmt.run.folder import SIDES, RunDir, SideName
from nmt.text.pieces import SPACE, SentencePiece, with_symbols, with_words
from nmt.text.tokenizers import TOKENIZERS
from nmt.text.vocab import PLACEHOLDERS, Vocab, rank, unlisted


def fingerprint_of(start: RunDir) -> list[str]:
    """Hashes of the files that decide a run's ids. Raises ModelError if it has no vocabularies."""
    if not start.vocab("src").is_file():
        raise ModelError(f"{start.path}{start.note}: no vocabularies here; name a trained run")
    files = [name(side) for side in SIDES for name in (start.vocab, start.pieces)]
    return [checksum(path) for path in files if path.is_file()]


# --- sentencepiece ---


def inherit_pieces(
    config: Config, run: RunDir, start: RunDir, name: SideName, lines: Iterable[str]
) -> None:
    """Write one side's model: the one of the run that the training starts from, and what is new in train's lines."""
    model = read_bytes(start.pieces(name))
    known = SentencePiece(model, str(start.pieces(name)))
    symbols = [token for token in placeholders(config) if token not in known.pieces()]
    words = _new_words(config, name, known, lines) if config.train.new_tokens else []
    with replacing(run.pieces(name)) as part:
        part.write_bytes(with_words(with_symbols(model, symbols), words))


def _new_words(
    config: Config, name: SideName, known: SentencePiece, lines: Iterable[str]
) -> list[str]:
    """The most frequent words of these lines that are not one piece, as pieces."""
    side = config.side(name)
    words = TOKENIZERS["jieba" if side.language == "zh" else "whitespace"]()
    counts: Counts = Counter()
    for line in lines:
        counts.update(words.encode(line))
    ranked = rank(_as_pieces(counts, side.language, known), side.min_frequency)
    return [piece for piece, _ in ranked[: config.train.new_tokens]]


def _as_pieces(counts: Counts, language: str, known: SentencePiece) -> Counts:
    """Words as a model would write them in one piece. Left out are those that are one, and those with digits."""
    boundary = "" if language == "zh" else SPACE
    pieces = {*known.pieces(), *PLACEHOLDERS}
    found: Counts = Counter()
    for word, count in counts.items():
        text = known.normalized(word)
        is_word = text and SPACE not in text and not any(map(str.isdigit, text))
        if is_word and pieces.isdisjoint((text, boundary + text)):
            found[boundary + text] += count
    return found


# --- vocabularies ---


def inherited_vocab(
    config: Config, run: RunDir, start: RunDir, group: tuple[SideName, ...], counts: Counts
) -> Vocab:
    """The vocabulary of the run that the training starts from, and what is new in these sides of train.

    `counts` are those of all tokens of these sides.
    """
    vocab = Vocab.load(start.vocab(group[0]))
    new = list(placeholders(config))
    if config.side(group[0]).tokenizer == "sentencepiece":
        for name in group:
            new += _added_pieces(run, start, name)
    else:
        words = unlisted(counts, vocab, config.side(group[0]).min_frequency)
        new += words[: config.train.new_tokens]
    listed = [token for token in dict.fromkeys(new) if token not in vocab.ids]
    return vocab.with_tokens(listed, [counts[token] for token in listed])


def _added_pieces(run: RunDir, start: RunDir, name: SideName) -> list[str]:
    before = set(SentencePiece(read_bytes(start.pieces(name))).pieces())
    after = SentencePiece(read_bytes(run.pieces(name))).pieces()
    return [piece for piece in after if piece not in before]


def placeholders(config: Config) -> tuple[str, ...]:
    """The placeholders that a configuration's train can hold."""
    return PLACEHOLDERS if config.prepare.augment.protects else ()
