"""Send damaged requests to `nmt serve`'s application, and see that each gets an answer that says what is wrong.

    python scripts/fuzz_requests.py --inputs 100000

The model is a stand-in. A status of 500, an answer that is no JSON, one that took more than 5 seconds, or one for
another request ends it.
"""

import argparse
import json
import random
import time
from collections import Counter
from typing import Any

from fuzzing.damage import damaged
from starlette.testclient import TestClient

from nmt.serving.app import make_app
from nmt.serving.languages import Languages
from nmt.serving.service import Service
from nmt.serving.settings import ServeSettings
from nmt.serving.ways import Ways
from nmt.translate.translation import Candidate, Translation

SECONDS = 5
CHAT = '{"segments": [{"id": 1, "text": "tea NUMBER"}]}'
DICTIONARY = {"source_lang": "en", "target_lang": "zh", "entries": "a\tb", "entries_format": "tsv"}
BODIES: tuple[tuple[str, Any], ...] = (
    ("/translate", {"q": "tea NUMBER", "source": "en", "target": "zh"}),
    ("/translate", {"q": ["a NUMBER", "b"], "source": "auto", "target": "zh", "alternatives": 2}),
    (
        "/translate",
        {"q": "<p>tea <b>NUMBER</b></p>", "source": "en", "target": "zh", "format": "html"},
    ),
    ("/detect", {"q": "tea NUMBER"}),
    ("/v2/translate", {"text": ["tea NUMBER"], "target_lang": "ZH", "tag_handling": "xml"}),
    ("/imme", {"source_lang": "en", "target_lang": "zh", "text_list": ["tea NUMBER"]}),
    ("/kiss", {"from": "en", "to": "zh", "texts": ["tea NUMBER"]}),
    ("/hcfy", {"text": "tea NUMBER", "destination": ["中文(简体)"]}),
    ("/deeplx", {"text": "tea NUMBER", "source_lang": "EN", "target_lang": "ZH"}),
    ("/language/translate/v2", {"q": "tea NUMBER", "target": "zh"}),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "tea NUMBER"}]}),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": CHAT}], "stream": False}),
    ("/page/lines", {"lines": ["tea NUMBER", "b"]}),
    ("/page/others", {"line": "tea NUMBER", "text": "b"}),
    ("/page/links", {"line": "tea NUMBER", "text": "b"}),
    ("/v2/glossaries", {"name": "NUMBER", **DICTIONARY}),
    ("/v3/glossaries", {"name": "NUMBER", "dictionaries": [DICTIONARY]}),
)
FORM = "q=tea+NUMBER&q=b&source=en&target=zh&format=html"
PARTS = "".join(
    f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'
    for name, more, value in (
        ("source", "", "en"),
        ("target", "", "zh"),
        ("q", "", "tea NUMBER"),
        ("file", '; filename="a.md"', "# Tea NUMBER"),
    )
)
FORMS = (
    ("/translate", FORM, "application/x-www-form-urlencoded"),
    ("/translate", f"{PARTS}--b--\r\n", "multipart/form-data; boundary=b"),
    ("/translate_file", f"{PARTS}--b--\r\n", "multipart/form-data; boundary=b"),
)


def translate(lines: list[str]) -> list[Translation]:
    """A stand-in for a model."""
    return [Translation(line, (Candidate(f"译{line}", -1.0, -1.0),)) for line in lines]


WAYS = Ways(translate, translate, translate, lambda _: translate, lambda pairs: [[] for _ in pairs])


def request(number: int, chance: random.Random) -> tuple[str, bytes, dict[str, str], bool]:
    """An address, a body, headers, and whether the body is whole."""
    path, fields = chance.choice(BODIES)
    body = json.dumps(fields, ensure_ascii=chance.random() < 0.5)
    kind = "application/json"
    if chance.random() < 0.2:
        path, body, kind = chance.choice(FORMS)
    content = body.replace("NUMBER", str(number)).encode()
    is_whole = chance.random() < 0.1
    if not is_whole:
        content = damaged(content, chance)
    headers = {"Content-Type": chance.choice((kind, kind, kind, "text/plain", ""))}
    if chance.random() < 0.1:
        headers["Origin"] = chance.choice(("https://x.org", "null", "http://localhost", "//[*"))
    return path, content, headers, is_whole


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    service = Service(WAYS, Languages("en", "zh"), ServeSettings())
    found: Counter[int] = Counter()
    with TestClient(make_app(service, lambda _: None), "http://localhost") as client:
        for number in range(asked.inputs):
            path, content, headers, is_whole = request(number, chance)
            begun = time.monotonic()
            answer = client.post(path, content=content, headers=headers)
            seconds = time.monotonic() - begun
            found[answer.status_code] += 1
            answer.json()
            if answer.status_code >= 500 or seconds > SECONDS:
                raise SystemExit(f"{answer.status_code} in {seconds:.1f} s: {path} {content!r}")
            if is_whole and "译" in answer.text and str(number) not in answer.text:
                raise SystemExit(f"an answer to another request: {content!r}: {answer.text}")
    for status, count in sorted(found.items()):
        print(f"{status}: {count:,}")


if __name__ == "__main__":
    main()
