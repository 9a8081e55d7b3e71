"""Files that are sent, translated and fetched: LibreTranslate's `/translate_file`."""

import io
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette.testclient")

from served import Served, serving

from nmt.serving import downloads, libretranslate
from nmt.serving.downloads import Downloads, translated_name
from nmt.serving.settings import ServeSettings

ASK = {"source": "en", "target": "zh"}


@pytest.fixture
def served() -> Iterator[Served]:
    with serving() as server:
        yield server


def send(served: Served, name: str, content: bytes, **fields: str) -> tuple[int, Any]:
    answer = served.client.post(
        "/translate_file", data={**ASK, **fields}, files={"file": (name, content)}
    )
    return answer.status_code, answer.json()


def test_a_file_goes_out_and_comes_back_in_chinese(served: Served) -> None:
    status, answer = send(served, "notes.srt", b"1\n00:00:01,000 --> 00:00:02,000\nGood tea.\n")
    assert status == 200
    url = urlsplit(answer["translatedFileUrl"])
    assert (url.netloc, url.path[:15]) == ("localhost", "/download_file/")
    file = served.client.get(url.path)
    assert file.text == "1\n00:00:01,000 --> 00:00:02,000\n译Good tea.\n"
    assert file.headers["content-disposition"] == "attachment; filename*=UTF-8''notes.zh.srt"
    assert file.headers["content-type"] == "application/octet-stream"


def test_an_archive(served: Served) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        body = "<w:p><w:r><w:t>Good tea.</w:t></w:r></w:p>"
        space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
        text = f"<w:document {space}><w:body>{body}</w:body></w:document>"
        archive.writestr("word/document.xml", text)
    status, answer = send(served, "茶 & co.docx", packed.getvalue())
    assert status == 200
    file = served.client.get(urlsplit(answer["translatedFileUrl"]).path)
    assert file.headers["content-disposition"].endswith("%E8%8C%B6%20%26%20co.zh.docx")
    with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
        assert "译Good tea." in archive.read("word/document.xml").decode()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pdf", b"%PDF", "Invalid request: a.pdf: nmt does not translate PDF"),
        ("a.docx", b"no archive", "Invalid request: a.docx: "),
        ("a.bin", b"\0\1", "Invalid request: a.bin: not a known kind of document; see supported"),
        ("a.md", b"\xff\xfe\xfd", "Invalid request: a.md"),
        ("../../etc/a.po", b"no PO", "Invalid request: a.po"),
        ("", b"text", "Invalid request: missing file parameter"),
    ],
)
def test_what_is_no_document_is_said(
    name: str, content: bytes, message: str, served: Served
) -> None:
    status, answer = send(served, name, content)
    assert (status, answer["error"][: len(message)]) == (400, message)


def test_what_is_missing_is_said(served: Served) -> None:
    post = served.client.post
    assert post("/translate_file", json=ASK).json() == {
        "error": "Invalid request: not multipart/form-data"
    }
    assert post("/translate_file", data=ASK, files={"other": ("a.txt", b"a")}).json() == {
        "error": "Invalid request: missing file parameter"
    }
    assert post("/translate_file", files={"file": ("a.txt", b"a")}).json() == {
        "error": "Invalid request: missing target parameter"
    }
    status, answer = send(served, "a.txt", b"a", target="de")
    assert (status, answer["error"][:19]) == (400, "de is not supported")
    kind = {"content-type": "multipart/form-data"}
    answer = post("/translate_file", content=b"x", headers=kind)
    assert answer.status_code == 400
    kind = {"content-type": "multipart/form-data; boundary=b"}
    answer = post("/translate_file", content=b"--b\r\nnonsense", headers=kind)
    assert answer.status_code == 400


def test_a_form_in_parts_is_a_form(served: Served) -> None:
    parts = [("q", (None, "tea")), *((name, (None, value)) for name, value in ASK.items())]
    assert served.client.post("/translate", files=parts).json() == {"translatedText": "译tea"}


def test_files_have_their_own_limit_and_need_the_key() -> None:
    settings = ServeSettings(keys=("k",), most_bytes=1000, most_file_bytes=20_000)
    with serving(settings) as served:
        text = b"tea\n" * 2000
        assert send(served, "a.txt", text, api_key="k")[0] == 200
        assert send(served, "a.txt", text)[0] == 400
        assert send(served, "a.txt", text, api_key="x")[0] == 403
        assert send(served, "a.txt", text * 5, api_key="k")[0] == 413


def test_a_name_of_any_kind_is_fetched(served: Served) -> None:
    status, answer = send(served, "a.we?rd#x", b"<!doctype html><p>tea</p>")
    assert status == 200
    assert served.client.get(urlsplit(answer["translatedFileUrl"]).path).status_code == 200


def test_a_long_document_leaves_room_for_others(served: Served) -> None:
    arrived, opened = Event(), Event()

    def wait() -> None:
        arrived.set()
        assert opened.wait(20)

    served.model.before = wait
    text = "".join(f"line {number}.\n\n" for number in range(4000)).encode()
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(send, served, "a.txt", text)
        assert arrived.wait(20)
        assert served.service.waiting <= 1000
        opened.set()
        assert sent.result(60)[0] == 200


def test_too_many_uploads_at_a_time_are_refused(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libretranslate, "_MOST_UPLOADS", 0)
    assert send(served, "a.txt", b"tea")[0] == 429


def test_an_unknown_file_is_not_found(served: Served) -> None:
    answer = served.client.get("/download_file/x.docx")
    assert answer.status_code == 404
    assert answer.json() == {"error": "There is no such file; it may have expired"}


def test_old_files_and_too_many_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(downloads, "monotonic", lambda: now)
    monkeypatch.setattr(downloads, "_ROOM", 10)
    kept = Downloads()
    large = kept.put("a.txt", b"x" * 20)
    assert kept.get(large) is not None
    small = [kept.put("b.txt", b"x" * 4) for _ in range(3)]
    assert [kept.get(each) is None for each in (large, *small)] == [True, True, False, False]
    now = 601.0
    assert kept.get(small[-1]) is None


def test_names_tell_the_language() -> None:
    assert translated_name("a.b.docx", "zh") == "a.b.zh.docx"
    assert translated_name("README", "zh") == "README.zh"
