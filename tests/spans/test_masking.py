import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numbered import assert_masked

from nmt.checks.faults import ENGLISH_TO_CHINESE, faults
from nmt.spans.exact import cut, lost
from nmt.spans.masking import (
    NUMBER_PLACEHOLDERS,
    SPAN_PLACEHOLDERS,
    Masked,
    find,
    mask,
    mask_pair,
)
from nmt.text.normalize import normalize
from nmt.text.pieces import SentencePiece, train_sentencepiece
from nmt.text.tokenizers import TOKENIZERS
from nmt.text.vocab import JOINT, PLACEHOLDERS, Vocab, build_vocab

SPANS = [
    "https://example.org/a?b=1&c=2#d",
    "https://en.wikipedia.org/wiki/Python_(language)",
    "www.example.com",
    "WWW.EXAMPLE.COM",
    "mailto:a@b.org",
    "first.last@mail.example.co.uk",
    "`x = f(y)`",
    "<b>",
    "</a>",
    '<a href="x">',
    "&nbsp;",
    "{0}",
    "${HOME}",
    "#{name}",
    "{{count}}",
    "{{ user.name }}",
    "{ name }",
    "{0, number}",
    "<%= name %>",
    "%s",
    "%1$s",
    "%(name)d",
    "%lu",
    "%5.2lf",
    "%%",
    "%@",
    "%1",
    "--verbose",
    "--config=configs/a.yaml",
    "-v",
    'name="value"',
    "/usr/local/bin",
    "C:\\Users\\me",
    "~/notes",
    "@tom_w",
    "#nmt",
    "example.org",
    "example.com.au",
    "example.com:8080/a",
    "youtu.be/dQw4w9",
    "setup.py",
    "data.tar.gz",
    "photo.jpg",
    "REPORT.DOCX",
    "main.c",
    "os.path.join()",
    "+86 138 0013 8000",
    "555-123-4567",
    "20191121",
    "1,234,567",
    "1,299.99",
    "192.168.0.1:8080",
    "3.11.4",
    "v2.13.0",
    "v1.2",
    "2.0.0-rc.1",
    "1.2.3-beta",
    "v2.0-SNAPSHOT",
    "0.0.0-experimental-68053d940-20210623",
    "0xff",
    "0xE2",
    "#8427",
    "MP3",
    "UTF-8",
    "A4",
    "x86",
    "x86-64",
    "Int32",
    "H1N1",
    "max_tokens",
    "_last_updated",
    "__init_subclass__",
    "args.max_tokens",
    "std::max_tokens",
    "MAX_PATH",
    "😀",
    "👨‍👩‍👧",
    "❤️",
    PLACEHOLDERS[3],
]
WORDS = [
    "tea",
    "I",
    "like",
    "it's",
    "3",
    "42",
    "3.5",
    "50%",
    "and/or",
    "km/h",
    "well-known",
    "U.S.",
    "10:30",
    "1999",
]


@pytest.mark.parametrize("span", SPANS)
@pytest.mark.parametrize("line", ["{}", "see {} now", "({})", "It is {}.", "{}, they said", "“{}”"])
def test_a_span_is_found_whole_wherever_it_stands(span: str, line: str) -> None:
    assert find(line.replace("{}", span)) == [span]


@pytest.mark.parametrize("data", ["iVBORw0KGgo" * 10, "a" * 100, "for(i=0;i<n;i++){f(i);}" * 5])
def test_data_is_a_span_as_a_whole(data: str) -> None:
    assert find(f"see {data} now") == [data]
    assert data not in find(f"see {data[:99]} now")


@pytest.mark.parametrize(
    "emoticon", [":)", ":-)", ";)", ";D", ":(", ":'(", ":D", ":P", ":/", "=)", "<3", "^_^"]
)
@pytest.mark.parametrize("line", ["{}", "so tired {}", "{} thanks", "good night {} bye", "oh {}!"])
def test_an_emoticon_among_words_is_found(emoticon: str, line: str) -> None:
    assert find(line.replace("{}", emoticon)) == [emoticon]


@pytest.mark.parametrize(
    "line",
    ["note:(see below)", "(a; b:)", "at 10:30 :", "a =b", "x:D", "a :b", "| :-| :-: |", "^ _ ^"],
)
def test_what_looks_like_an_emoticon_is_text(line: str) -> None:
    assert find(line) == []


def test_an_emoticon_is_set_apart_from_words() -> None:
    masked = mask("Haha :D that was fun!")
    (placeholder,) = masked.spans
    assert masked.fill(f"哈哈{placeholder}很有趣！") == "哈哈 :D 很有趣！"
    assert masked.fill(f"{placeholder}，很有趣！") == ":D，很有趣！"


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("> He said so.", "0=He said so."),
        (">> > So what?", "0=So what?"),
        ("- [ ] Buy milk.", "0=Buy milk."),
        ("  * [x] Buy `milk`.", "0=Buy 1."),
        ("![A cat](cat.png)", "0[A cat](1)"),
        ("See ![A cat](<a b>) here!", "See 0[A cat](1) here!"),
        ("```python", "0"),
        ("  ~~~ c++ ", "0"),
        ("```", "0"),
    ],
)
def test_the_blocks_of_markdown_and_its_images_stay(line: str, masked: str) -> None:
    assert_masked(line, masked)


@pytest.mark.parametrize(
    "line",
    ["one > two", ">", "-> x", "- item", "Is [ ] a list?", "Wow! [sic] (so)", "Hi ```python"],
)
def test_what_looks_like_a_block_of_markdown_elsewhere_is_text(line: str) -> None:
    assert mask(line).spans == {}


def test_a_translation_has_one_space_behind_what_a_quotation_begins_with() -> None:
    found = mask("> Hello.")
    [mark] = found.spans
    assert found.fill(f"{mark}你好。") == found.fill(f"{mark} 你好。") == "> 你好。"


@pytest.mark.parametrize("span", [span for span in SPANS if span[0] not in "~/"])
def test_chinese_beside_a_span_does_not_belong_to_it(span: str) -> None:
    assert find(f"请看{span}，谢谢。") == [span]


@pytest.mark.parametrize(
    "text",
    [
        "",
        *WORDS,
        "Really?! Yes: no; (well) — 'hm'.",
        "1999-2003",
        "a.b",
        "No. 5",
        "No. #1",
        "IN 2013",
        "3D or 4K",
        "two MP3s of 5 km2, 3 ft2",
        "_well_ and so_, is___a and am_____years",
        "naïve_bayes, Müller2",
        "$5,50",
        "and so on...",
        "100%",
        "50%discount, and the %change",
        "$10 /month",
        "180 m³/h, 5 W/m²/K, 10⁹/L, 20℃/min, 90°/s, 10 Ω/m, 5%/month, 3 €/kg",
        "I don`t know, it`s fine.",
        "Use `foo' or `bar' now.",
        "``Hello,'' he said, ``how are you?''",
        "Boston--and 'so'--during - eggs",
        "100 B.C., L.L.C. and b.c",
        "of.NET",
    ],
)
def test_what_people_read_is_no_span(text: str) -> None:
    assert find(text) == []


@given(st.lists(st.sampled_from(SPANS + WORDS), max_size=14))
def test_filling_undoes_masking(pieces: list[str]) -> None:
    text = " ".join(pieces)
    masked = mask(text)
    capacity = len(PLACEHOLDERS)
    found = find(text)
    if len(found) <= capacity:
        assert list(masked.spans.values()) == found
    others = [span for span in found if span.strip("0123456789.,:")]
    figures = [span for span in found if not span.strip("0123456789.,:")]
    kept = others[:capacity]
    assert Counter(masked.spans.values()) == Counter(kept + figures[: capacity - len(kept)])
    assert masked.intact_in(masked.text)
    if PLACEHOLDERS[3] not in found[capacity:]:
        assert masked.fill(masked.text) == text


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "1",
        "a.",
        "a-",
        "1.",
        "1,",
        "`",
        "<!--",
        "<a ",
        "&a",
        "%0",
        "%(a",
        "{",
        "@",
        "a@",
        "/.",
        "+1 ",
        "😀",
        "a::",
        "{{",
        "{a,",
        "<%",
        "<%=",
        "--a",
        ' a="',
        "%l",
        "a.be/",
        "a.be/.",
        "a_",
        "a1",
        "a.b_",
        "http://(",
        "1,000",
        "1.1.",
        "是",
        "《是",
    ],
)
def test_a_long_line_takes_time_in_proportion(unit: str) -> None:
    start = time.process_time()
    mask(unit * (100_000 // len(unit)), into_chinese=True)
    assert time.process_time() - start < 5  # in the square of the length it would be minutes


@given(st.text(st.characters(exclude_characters=JOINT), max_size=60))
def test_any_text_comes_back_from_masking(text: str) -> None:
    masked = mask(text, into_chinese=True)
    filled = masked.fill(masked.text)
    assert filled.replace(" ", "") == text.replace(" ", "")  # %c0 becomes %c 0


@given(st.lists(st.sampled_from([*"a1 .，是", "https://x.org/a", "{0}", "<b>", "@a", "😀"])))
def test_a_cut_text_is_whole_and_every_second_part_is_what_would_be_lost(parts: list[str]) -> None:
    text = "".join(parts)
    assert "".join(cut(text)) == text
    assert Counter(cut(text)[1::2]).keys() == set(lost(text, ""))
    assert not any(lost(between, "") for between in cut(" ".join(parts))[::2])


def test_a_placeholder_that_is_missing_doubled_or_invented_is_noticed() -> None:
    masked = mask("see {0} and {1}")
    zero, one, two = PLACEHOLDERS[:3]
    assert masked.intact_in(f"{one}和{zero}")
    assert not masked.intact_in(f"看{zero}")
    assert not masked.intact_in(f"{zero}{one}{zero}")
    assert not masked.intact_in(f"{zero}{one}{two}")
    assert masked.fill(f"{one}和{zero}") == "{1}和{0}"
    assert Masked("", {}).fill(two) == ""


@pytest.mark.parametrize(
    ("source", "chinese"),
    [
        ("你好", ["你好"]),
        ("I like 北京 very much.", ["北京"]),
        ("Say “谢谢！” or 不客气.", ["谢谢", "不客气"]),
        ("他说：“我不去。”", ["他说", "我不去"]),
        ("I read 《红楼梦》.", ["《红楼梦》"]),
        ("用Python写`代码`", ["`代码`", "用", "写"]),
        ("〇 is 零", ["〇", "零"]),
        ("こんにちは", ["こんにちは"]),
        ("Say مرحبا بكم or Привет!", ["مرحبا بكم", "Привет"]),
        ("The 東京タワー, α and π-bonds", ["東京タワー"]),
        ("สวัสดี is hello, 안녕 세상 too", ["สวัสดี", "안녕 세상"]),
    ],
)
def test_what_is_chinese_in_a_source_is_masked_where_that_is_asked_for(
    source: str, chinese: list[str]
) -> None:
    assert list(mask(source, into_chinese=True).spans.values()) == chinese
    code = [span for span in chinese if "`" in span]
    assert list(mask(source).spans.values()) == code


def test_chinese_words_take_no_placeholder_from_what_must_come_through() -> None:
    line = "北 a 京 b 上 c 海 d 广 e 州 f 深 g 圳 h 成 i 都 j https://x.org/a"
    masked = mask(line, into_chinese=True)
    assert list(masked.spans.values()) == ["https://x.org/a", *"北京上海广州深圳成"]
    assert masked.fill(masked.text) == line


def test_what_would_run_into_a_span_is_set_apart() -> None:
    masked = mask("12,345 and https://x.org/a")
    zero, one = masked.spans
    assert masked.fill(f"看{zero}{one}吧") == "看12,345 https://x.org/a吧"
    assert masked.fill(f"{one}Tom{zero}。") == "https://x.org/a Tom 12,345。"
    tags = mask("<b>3</b>")
    zero, one = tags.spans
    assert tags.fill(f"{zero}3{one}") == "<b>3</b>"


def test_a_pair_is_masked_alike_where_a_span_stands_once_on_both_sides() -> None:
    zero, one = SPAN_PLACEHOLDERS[4], SPAN_PLACEHOLDERS[0]
    assert mask_pair("Open a.py, then b.py.", "先打开 b.py，再 a.py。", 9) == (
        f"Open {zero}, then {one}.",
        f"先打开 {one}，再 {zero}。",
        {zero: "a.py", one: "b.py"},
    )
    assert mask_pair("Open a.py, a.py or b.py.", "打开 a.py 或 b.py。", 0) == (
        f"Open a.py, a.py or {one}.",
        f"打开 a.py 或 {one}。",
        {one: "b.py"},
    )
    assert mask_pair("Open a.py.", "打开它。", 0) is None


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("Between 5 and 10 million came.", ["500万和1000万"]),
        ("It cost between $5 and $6 billion.", ["50亿和60亿"]),
        ("World War 2 and 3 million deaths", ["300万"]),
        ("Sales rose in 2019 to 20 million.", ["2000万"]),
    ],
)
def test_a_scale_is_of_both_numbers_only_where_they_make_a_range(
    text: str, spans: list[str]
) -> None:
    assert list(mask(text, numbers="figures").spans.values()) == spans


@pytest.mark.parametrize(
    "text", ["We invest in R&D; it pays off.", "AT&T; Q&A;", "Awww...that's so cute!", "www..."]
)
def test_what_only_looks_like_an_entity_or_an_address_is_text(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize("entity", ["&#39;", "&#039;", "&#x27;", "&apos;", "&rsquo;", "&#8217;"])
def test_an_entity_in_a_word_is_its_apostrophe(entity: str) -> None:
    line = f"I don{entity}t know Tom{entity}s 'x'."
    assert mask(line).text == "I don't know Tom's 'x'."
    assert lost(line, "我不知道汤姆的“x”。") == []
    masked = mask_pair(f"Don{entity}t open a.py.", "别打开 a.py。", 0)
    assert masked is not None
    assert masked.sides[0].startswith("Don't")


def test_an_apostrophe_in_a_span_stays_as_it_is_written() -> None:
    for line in (
        "<a title='Tom&#39;s page'>",
        "`a&#39;b`",
        "http://x.org/?q=a&apos;b",
        "&#39;a&#39;",
    ):
        assert mask(line).fill(mask(line).text) == line


def test_an_entity_may_follow_a_letter() -> None:
    assert find("AT&amp;T") == ["&amp;"]


@pytest.mark.parametrize(
    ("number", "chinese"),
    [
        ("600 million", "6亿"),
        ("548 million", "5.48亿"),
        ("2.5 million", "250万"),
        ("20 thousand", "2万"),
        ("15 hundred", "1500"),
        ("50 MILLION", "5000万"),
        ("20 millions", "2000万"),
        ("10-million", "1000万"),
        ("50\xa0million", "5000万"),
        ("1,500 million", "15亿"),
        ("7 billion", "70亿"),
        ("1.25 trillion", "1.25万亿"),
        ("0.001 million", "1000"),
        ("0 million", "0"),
        ("0.0000001 million", "0.1"),
        ("9,999.5 trillion", "9999.5万亿"),
        ("3 hundred thousand", "30万"),
        ("10 thousand million", "100亿"),
        ("10 to 20 million", "1000万到2000万"),
        ("10-20 million", "1000万到2000万"),
        ("12.5 to $13 billion", "125亿到130亿"),
        ("2 or 3 million", "200万或300万"),
    ],
)
def test_millions_come_back_as_chinese_counts_them(number: str, chinese: str) -> None:
    masked = mask(f"About {number} people.", numbers="all")
    (placeholder,) = masked.spans
    assert masked.fill(f"约{placeholder}人。") == f"约{chinese}人。"
    counted = "美元" if "$" in number else "人"
    assert not faults(f"About {number} people.", f"约{chinese}{counted}。", ENGLISH_TO_CHINESE)
    assert number not in mask(f"About {number} people.").spans.values()


@pytest.mark.parametrize(
    "span", ["@million", "#billion", "/srv/trillion", "https://a.org/5/million"]
)
def test_a_span_that_reads_million_stays_as_it_is(span: str) -> None:
    assert list(mask(f"See {span} now.", numbers="all").spans.values()) == [span]


@given(st.text("0123456789.,", max_size=40), st.sampled_from(["million", "billion", "trillion"]))
def test_no_figures_before_million_are_too_odd(figures: str, scale: str) -> None:
    masked = mask(f"About {figures} {scale} people.", numbers="all")
    assert masked.intact_in(masked.text)


def test_chinese_words_that_stand_once_on_both_sides_are_masked_after_the_spans() -> None:
    zero, one = PLACEHOLDERS[:2]
    assert mask_pair("Click 确定 in {0}.", "在{0}中单击确定继续。", 0, foreign=True) == (
        f"Click {one} in {zero}.",
        f"在{zero}中单击{one}继续。",
        {zero: "{0}", one: "确定"},
    )
    assert mask_pair("Click 确定.", "单击确定。", 0) is None
    assert mask_pair("Say 好 or 好的.", "说好或好的。", 0, foreign=True) == (
        f"Say 好 or {zero}.",
        f"说好或{zero}。",
        {zero: "好的"},
    )
    assert mask_pair("北京 or 京城?", "北京城？", 0, foreign=True) == (
        f"{zero} or 京城?",
        f"{zero}城？",
        {zero: "北京"},
    )
    many = " ".join("天地玄黄宇宙洪荒日月盈昃")
    masked = mask_pair(many, many, 9, foreign=True)
    assert masked is not None
    assert list(masked.spans) == [
        *(SPAN_PLACEHOLDERS[i] for i in (4, 0, 1, 2, 3)),
        *(NUMBER_PLACEHOLDERS[i] for i in (4, 0, 1, 2, 3)),
    ]
    assert masked.src == masked.tgt
    assert masked.src.endswith(" 盈 昃")


def test_numbers_are_masked_where_that_is_asked_for() -> None:
    assert find("3 of 42, 3.5 at 10:30 in 1a and 2-3", numbers="all") == ["3", "42", "3.5", "10:30"]
    assert find("a 37-year-old on the 10th of the 1990s, in 3D, 3-D and 2nds", numbers="all") == [
        "37",
        "10",
        "1990",
    ]
    zero = NUMBER_PLACEHOLDERS[-1]
    assert mask("3 at www.a.org", numbers="all").spans == {
        zero: "3",
        SPAN_PLACEHOLDERS[0]: "www.a.org",
    }
    assert mask_pair("In 1999.", "在1999年。", 0) is None
    masked = mask_pair("In 1999.", "在1999年。", 0, numbers="all")
    assert masked == (f"In {zero}.", f"在{zero}年。", {zero: "1999"})


def test_figures_are_masked_but_for_years_and_times_of_day() -> None:
    text = "3 of 42, 3.5 of 1,984.5 at 10:30 in 1984, 1066 and 2-3"
    assert find(text, numbers="figures") == ["42", "3.5", "1,984.5", "1066"]
    text = "37-year-old, the 10th of the 1990s, 12 million, 2.5 billion, 2008-2011, in 3D and x86"
    assert find(text, numbers="figures") == ["37", "10", "12 million", "2.5 billion", "x86"]


def test_numbers_give_way_to_what_must_come_through() -> None:
    figures = [str(number) for number in range(20, 32)]
    line = " ".join([*figures, "http://x.org", "{0}"])
    assert list(mask(line).spans.values()) == ["http://x.org", "{0}"]
    masked = mask(line, numbers="figures")
    assert list(masked.spans.values()) == [*figures[:8], "http://x.org", "{0}"]
    assert masked.fill(masked.text) == line
    pair = mask_pair(line, line, first=0, numbers="figures")
    assert pair is not None
    assert sorted(pair.spans.values()) == sorted((*figures[:8], "http://x.org", "{0}"))


@pytest.mark.parametrize(
    "number", ["42", "3.5", "1,234", "20260101", "12:30", "1984", "600 million"]
)
@pytest.mark.parametrize(
    "span", ["https://x.org/a", "{0}", "`f(42)`", "iPhone7", "UTF-8", "😀", "北京"]
)
@pytest.mark.parametrize("first", [0, 3])
def test_a_number_and_another_span_have_placeholders_of_their_own(
    number: str, span: str, first: int
) -> None:
    masked = mask(f"{span} , {number} .", numbers="all", into_chinese=True)
    assert set(masked.spans) == {SPAN_PLACEHOLDERS[0], NUMBER_PLACEHOLDERS[-1]}
    assert masked.spans[SPAN_PLACEHOLDERS[0]] == span
    pair = mask_pair(
        f"{span} , {number} .", f"{number} ， {span} 。", first, numbers="all", foreign=True
    )
    assert pair is not None
    assert pair.spans == {SPAN_PLACEHOLDERS[first]: span, NUMBER_PLACEHOLDERS[first - 1]: number}


def test_a_line_full_of_one_kind_takes_the_placeholders_of_the_other() -> None:
    numbers = [str(number) for number in range(20, 32)]
    assert set(mask(" ".join(numbers), numbers="all").spans) == set(PLACEHOLDERS)
    names = [f"@{letter}" for letter in "abcdefghijkl"]
    assert list(mask(" ".join(names)).spans) == list(PLACEHOLDERS)


def test_a_figure_before_a_chinese_scale_is_no_number_of_its_own() -> None:
    assert find("3000万人和20千克", numbers="figures") == []
    assert find("3万人和20米", numbers="all") == ["20"]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        (r"Line 1\nLine 2", [r"\n"]),
        (r"Saved.\n\nGo on?", [r"\n\n"]),
        (r"x,\theta of \nu,\neq y\r\n", [r"\r\n"]),
        (r"Size:\t5 kB", [r"\t"]),
        (r"In C:\new\temp and D:\Names", [r"C:\new\temp", r"D:\Names"]),
        (r"Run .\nmt, not \\nas\x", [r"\\nas\x"]),
    ],
)
def test_a_line_break_that_is_spelled_out_is_a_span(text: str, spans: list[str]) -> None:
    assert find(text) == spans


def test_lost_spans_are_those_that_the_translation_does_not_have_as_often() -> None:
    assert lost("a.py, a.py and b.py", "b.py 和 a.py") == ["a.py"]
    assert lost("Go to https://x.org/a.", "去 https://x.org/a。") == []
    assert lost("Go to https://x.org/a.", "去 https://x。org/a。") == ["https://x.org/a"]


@pytest.mark.parametrize("name", sorted(set(TOKENIZERS) - {"plain"}))
@pytest.mark.parametrize("text", ["x {}.", "看{}吧", "({}{})", "{} y {}"])
def test_a_placeholder_is_a_token_of_its_own(name: str, text: str) -> None:
    line = normalize(text.replace("{}", PLACEHOLDERS[0]), "zh")
    tokens = TOKENIZERS[name]().encode(line)
    assert tokens.count(PLACEHOLDERS[0]) == line.count(PLACEHOLDERS[0])


def test_a_sentencepiece_model_keeps_reserved_tokens_whole() -> None:
    pieces = SentencePiece(train_sentencepiece(["a b c d e"] * 50, 300, PLACEHOLDERS))
    assert pieces.encode(f"ab{PLACEHOLDERS[4]}c").count(PLACEHOLDERS[4]) == 1
    assert set(PLACEHOLDERS) <= set(pieces.pieces())


@pytest.mark.parametrize("spells", [True, False])
def test_a_vocabulary_reserves_placeholders_seen_or_not(spells: bool) -> None:
    counts = Counter({"tea": 5, PLACEHOLDERS[2]: 3, "rare": 1})
    vocab = build_vocab(counts, 14, 2, spells, PLACEHOLDERS)
    assert [vocab.tokens[i] for i in vocab.placeholders] == list(PLACEHOLDERS)
    assert len(vocab) <= 4 + 14
    assert "tea" in vocab.ids
    assert not build_vocab(counts, 14, 2, spells).placeholders
    assert not Vocab(["tea"], [1]).placeholders
