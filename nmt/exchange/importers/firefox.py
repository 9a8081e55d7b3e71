"""`metadata.json`, which Firefox Translations keeps beside a model."""

import hashlib
from pathlib import Path

from nmt.errors import ModelError
from nmt.exchange.importers.fields import Fields, json_fields
from nmt.exchange.importers.marian_config import refuse_other_models
from nmt.files import checksum

METADATA = "metadata.json"


def check_metadata(model: Path, content: bytes) -> None:
    """Compare a model's unpacked content with the size, the hash and the languages beside it, if they are there.

    Raises ModelError if they disagree, or if its settings there are of a model that nmt cannot express.
    """
    path = model.with_name(METADATA)
    if not path.exists():
        return
    fields = json_fields(path)
    for name, wanted in (("sourceLanguage", "en"), ("targetLanguage", "zh")):
        if fields.word(name, wanted).partition("-")[0] != wanted:
            raise fields.unfit(name, "nmt imports models from en to zh")
    settings = fields.values.get("modelConfig")
    if isinstance(settings, dict):
        refuse_other_models(Fields(f"{path}: modelConfig", settings))
    if fields.whole("byteSize", len(content)) != len(content):
        sizes = f"{len(content):,} bytes, and {path.name} says {fields.whole('byteSize'):,}"
        raise ModelError(f"{model}: {sizes}; fetch it again")
    digest = hashlib.sha256(content).hexdigest()
    stated = fields.word("hash", digest)
    if stated != digest and stated != checksum(model):  # unpacked, or as it lies
        raise ModelError(f"{model}: its SHA-256 is not the hash in {path.name}; fetch it again")
