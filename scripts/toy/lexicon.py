"""All words of the toy corpus, by word class."""

from toy.phrases import ADJECTIVES, PHRASES, VERBS
from toy.things import NOUNS, PEOPLE, PRONOUNS
from toy.words import Word, adjective, noun, person, phrase, pronoun, verb

# Classes made of others; a class that is named twice is drawn from twice as often.
UNIONS = {
    "name": ["peer", "elder"],
    "feel": ["mood", "worn"],
    "who": ["pronoun", "pronoun", "pronoun", "name", "group"],
    "spot": ["shop", "place"],
    "thing": ["paper", "gadget"],
    "item": ["clothes", "gadget"],
    "goods": ["item", "large"],
    "owned": ["paper", "goods", "pet", "pet", "pet"],
    "order": ["drink", "dish"],
    "look": ["colour", "size"],
    "habit": ["day", "part"],
    "number": ["few", "n"],
    "play": ["art", "sport"],
    "act": ["hobby", "play", "play", "chore"],
    "skill": ["play", "speech", "speech", "speech"],
    "routine": ["rise", "late"],
}


def build_lexicon() -> dict[str, list[Word]]:
    """Make the words of the tables: word class → words."""
    pronouns = [pronoun(*row) for row in PRONOUNS]
    pronoun_by_subject = {word.en[""]: word for word in pronouns}
    lexicon = {"pronoun": pronouns}
    for name, people in PEOPLE.items():
        lexicon[name] = [person(en, pronoun_by_subject[he], zh) for en, he, zh in people]
    for name, nouns in NOUNS.items():
        lexicon[name] = [noun(*row) for row in nouns]
    for name, verbs in VERBS.items():
        lexicon[name] = [verb(*row) for row in verbs]
    for name, adjectives in ADJECTIVES.items():
        lexicon[name] = [adjective(*row) for row in adjectives]
    for name, phrases in PHRASES.items():
        lexicon[name] = [phrase(*row) for row in phrases]
    for name, parts in UNIONS.items():
        lexicon[name] = []
        for part in parts:
            lexicon[name].extend(lexicon[part])
    lexicon["asked"] = [word for word in lexicon["who"] if word.en["he"] not in ("I", "we")]
    lexicon["given"] = [word for word in lexicon["who"] if word.en["he"] != "you"]
    return lexicon


LEXICON = build_lexicon()
