"""Where weights come from: what a checkpoint says, read with care, and told to others."""

import json
from pathlib import Path
from typing import Any

import pytest

from nmt.run.provenance import Ancestor, Corpus, Imported, Provenance

ROOT = Path(__file__).resolve().parents[2]
KEPT = [
    *ROOT.glob("nmt/pretrained/checkpoints/*/meta.json"),
    *ROOT.glob("tests/compatibility/*/run/checkpoints/*/meta.json"),
]
OLD = Provenance(licence="MIT", imported=Imported("/home/jane/opus", None, "Marian", {"a": "0"}))
STARTED = Ancestor("/home/jane/runs/a/checkpoints/step-00000007", 7, OLD)
NEW = Provenance(
    versions={"nmt": "0.1.0", "torch": "2.0"},
    seed=0,
    config="c",
    data="d",
    source="s",
    corpora=(Corpus("mine", "CC0", None), Corpus("yours")),
    started_from=STARTED,
)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parts[-4])
def test_what_earlier_versions_wrote_is_kept_to_the_letter_and_in_its_order(path: Path) -> None:
    origin = json.loads(path.read_text(encoding="utf-8"))["origin"]
    again = Provenance.from_json(origin).as_json()
    assert json.dumps(again) == json.dumps(origin)


@pytest.mark.parametrize("provenance", [Provenance(), OLD, NEW])
def test_it_is_read_as_it_was_written(provenance: Provenance) -> None:
    assert Provenance.from_json(json.loads(json.dumps(provenance.as_json()))) == provenance


def test_its_keys_are_those_of_meta_json() -> None:
    assert Provenance().as_json() == {}
    trained = NEW.as_json()
    assert list(trained) == [
        *("nmt", "torch", "seed", "config", "data", "source", "git", "corpora", "started_from")
    ]
    assert trained["git"] is None
    assert list(trained["started_from"]) == ["checkpoint", "update", "origin"]
    unlicensed = Provenance(versions={"nmt": "0.1.0"}, imported=Imported("a/b", "main"))
    assert list(unlicensed.as_json()) == ["nmt", "licence", "imported"]
    imported = OLD.as_json()["imported"]
    assert list(imported) == ["source", "revision", "kind", "sha256"]


@pytest.mark.parametrize(
    ("origin", "reason"),
    [
        (3, "its origin is no object"),
        ({"corpora": {}}, "its corpora are no list"),
        ({"corpora": ["x"]}, "a corpus is no object"),
        ({"corpora": [{"licence": 1}]}, "licence is no text"),
        ({"seed": "1"}, "seed is no whole number"),
        ({"seed": True}, "seed is no whole number"),
        ({"torch": 2}, "torch is no text"),
        ({"imported": "x"}, "what it was imported from is no object"),
        ({"imported": {"sha256": []}}, "sha256 is no object"),
        ({"started_from": 1}, "what it was started from is no object"),
        ({"started_from": {"origin": {"started_from": {"update": "x"}}}}, "update is no whole"),
    ],
)
def test_what_is_malformed_is_refused(origin: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        Provenance.from_json(origin)


def test_others_are_told_no_folder_and_once_is_enough() -> None:
    told = NEW.without_folders()
    assert "jane" not in json.dumps(told.as_json())
    [ancestor] = told.ancestors()
    assert ancestor.checkpoint == "a/step-00000007"
    assert ancestor.provenance.imported is not None
    assert ancestor.provenance.imported.source == "opus"
    assert told.without_folders() == told
    on_the_hub = Provenance(imported=Imported("some/model", "main"))
    assert on_the_hub.without_folders() == on_the_hub


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("runs/b/checkpoints/step-00000003", "b/step-00000003"),
        ("step-00000003", "a run/step-00000003"),
        ("", "a run/a checkpoint"),
    ],
)
def test_a_checkpoint_goes_by_the_name_of_its_run(folder: str, name: str) -> None:
    assert Ancestor(folder, None, Provenance()).without_folders().checkpoint == name


def test_licences_and_corpora_are_those_of_all_generations_each_once() -> None:
    newest = Provenance(corpora=(Corpus("mine", "CC0"),), started_from=Ancestor("b", 1, NEW))
    assert newest.all_licences() == ["CC0", "MIT"]
    assert newest.all_corpora() == [Corpus("mine", "CC0"), Corpus("yours")]
    assert [each.checkpoint for each in newest.ancestors()] == ["b", STARTED.checkpoint]
