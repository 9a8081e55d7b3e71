import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.corpus.cleaning.filters import FILTERS, RAW_FILTERS, Limits, failed
from nmt.corpus.reading.pairs import SentencePair

ALL = RAW_FILTERS | FILTERS
LIMITS = Limits()


def dropped_by(src: str, tgt: str, limits: Limits = LIMITS) -> set[str]:
    return {name for name, drops in ALL.items() if drops(SentencePair(src, tgt), limits)}


@pytest.mark.parametrize(
    ("rule", "src", "tgt"),
    [
        ("empty", "", "你好"),
        ("empty", "Hello", ""),
        ("empty", "...", "……"),
        ("too_long", "word " * 251, "词" * 400),
        ("too_long", "w" * 900, "词" * 251),
        ("identical", "Linux 内核", "linux 内核"),
        ("wrong_script", "Hello there.", "Hello there!"),
        ("wrong_script", "Hello there.", "こんにちは、世界のみなさん"),
        ("wrong_script", "Hello there.", "안녕하세요 여러분 中"),
        ("wrong_script", "你好，世界。", "你们好，世界。"),
        ("wrong_script", "Здравствуйте, мир.", "你好，世界。"),
        ("ratio", "Yes.", "他说他明天早上七点会到火车站去接从北京来的三位客人，然后一起吃饭。"),
        (
            "ratio",
            "He said that he would fetch three guests from the station at seven tomorrow.",
            "好的。",
        ),
        ("control", "Hello\x08 there.", "你好。"),
        ("control", "Hello there.", "你好\x92。"),
        ("control", "Hello there.", "你好\ue5e5。"),
        ("mojibake", "We met in the cafÃ©.", "我们在咖啡馆见了面。"),
        ("mojibake", "Itâ€™s raining.", "在下雨。"),
        ("mojibake", "It is raining\ufffd", "在下雨。"),
        ("mojibake", "Hello.", "ä½\xa0å¥½"),
        ("mojibake", "Hello.", "你好ï¼Œ世界"),
        ("mojibake", "Hello, world.", "你好锟斤拷世界。"),
        ("mojibake", "Hello, world.", "浣犲ソ锛屼笘鐣屻€"),
        ("markup", "A <b>bold</b> word.", "一个粗体词。"),
        ("markup", "A <b>bold word.", "一个<b>粗体词。"),
        ("markup", "A <b>bold</b> word.", "一个<i>粗体</i>词。"),
        ("markup", "A <b>bold</b> word.", "<b>一个</b><b>粗体</b>词。"),
        ("markup", "One line<br/>and another", "一行和另一行"),
        ("markup", 'See <a href="/x/y.html">this page', "请看这一页"),
        ("markup", "Tom &amp; Jerry", "汤姆和杰瑞"),
        ("markup", "Don&#39;t go.", "别走。"),
        ("stage_note", "(Applause)", "（掌声）"),
        ("stage_note", "Thank you.", "谢谢大家。（ 掌声 ）"),
        ("stage_note", "[LAUGHTER] So I left.", "于是我就走了。"),
        ("stage_note", "[Music]", "音乐响起"),
        ("stage_note", "He (laughing) left.", "他走了。"),
        ("mojibake", "Hot, hot, hot!", "烫烫烫烫烫烫烫烫"),
        ("traditional", "Where are you from?", "你們從哪裡來？"),
        ("traditional", "Thank you very much.", "非常感謝。"),
    ],
)
def test_a_bad_pair_is_dropped_by_its_rule(rule: str, src: str, tgt: str) -> None:
    assert rule in dropped_by(src, tgt)


@pytest.mark.parametrize(
    ("src", "tgt"),
    [
        ("I like tea.", "我喜欢茶。"),
        ("Click <b>Save</b>.", "点击<b>保存</b>。"),
        ("See <A href='/x/'>this</A><br>", "请看<a href='y'>这个</a><br/>"),
        ("Tom &amp; Jerry", "汤姆&amp;杰瑞"),
        ("If a<b and b> c", "如果a<b且b> c"),
        ("Hot, hot, hot!", "烫烫烫！"),
        ("He (laughing) left.", "他（笑）走了。"),
        ("OK.", "OK。"),
        ("Go!", "走开！"),
        ("UN", "联合国"),
        ("OK", "好的"),
        ("internationalisation", "国际化"),
        ("Yes.", "是的，没错。"),
        ("Don’t worry — it’s “fine”.", "别担心——“没事”的。"),
        (
            "A café, a façade and a naïve Zoë in São Paulo",
            "圣保罗的一家咖啡馆、一道门面和天真的佐薇",
        ),
        ("‘It's a cliché…’ he said.", "“这是陈词滥调……”他说。"),
        ("She earns €100 a month.", "她每月挣100欧元。"),
        ("If a < b and c > d, then x & y.", "如果a < b且c > d，则x & y。"),
        ("Use List<String> in AT&T code.", "在AT&T代码中使用List<String>。"),
        ("The symbol α stands for an angle.", "符号α表示一个角。"),
        ("The Beatles made music (video too).", "披头士乐队做音乐（也做视频）。"),
        ("Axe and adze", "斧头和锛子"),
        ("He laughed (loudly).", "他笑了（很大声）。"),
        ("This is a famous book.", "这是一本著名的书，后来乾隆也读过。"),
        ("The Japanese word is の.", "这个日语单词是の。"),
        ("👍 Good job, family 👨‍👩‍👧!", "👍 干得好，一家人👨‍👩‍👧！"),
        ("word " * 120, "词语" * 100),
    ],
)
def test_a_good_pair_passes_every_rule(src: str, tgt: str) -> None:
    assert dropped_by(src, tgt) == set()


def test_every_rule_has_an_example_above() -> None:
    examples = next(mark for mark in test_a_bad_pair_is_dropped_by_its_rule.pytestmark)
    assert {row[0] for row in examples.args[1]} == set(ALL)


def test_simplified_text_has_no_character_of_traditional_only() -> None:
    # GB 2312 is the national standard's set of Simplified characters, its first 3755 those in common use.
    codes = [bytes([row, cell]) for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF)]
    common = b"".join(codes).decode("gb2312", "ignore")
    assert len(common) == 3755
    assert "traditional" not in dropped_by("Characters", common)


def test_traditional_text_is_recognised() -> None:
    opencc = pytest.importorskip("opencc")
    simplified = "他们来了。 我觉得这本书很好。 请问火车站在哪里？ 时间过得真快。 汉语很难学吗？"
    for text in opencc.OpenCC("s2tw").convert(simplified).split():
        assert "traditional" in dropped_by("Some English text.", text)


def test_the_directions_are_alike() -> None:
    turned = Limits(("zh", "en"))
    assert dropped_by("我喜欢茶。", "I like tea.", turned) == set()
    assert "wrong_script" in dropped_by("I like tea.", "我喜欢茶。", turned)


def test_languages_that_the_rules_do_not_know_are_not_judged_by_script() -> None:
    assert dropped_by("Я люблю чай.", "我喜欢茶。", Limits(("ru", "zh"))) == set()


def test_the_first_rule_that_holds_is_named() -> None:
    assert failed(SentencePair("", ""), FILTERS, LIMITS) == "empty"
    assert failed(SentencePair("I like tea.", "我喜欢茶。"), FILTERS, LIMITS) is None


@given(st.text(), st.text())
def test_no_text_makes_a_rule_fail(src: str, tgt: str) -> None:
    assert dropped_by(src, tgt) <= set(ALL)


@pytest.mark.parametrize("unit", ["<a ", "<a x=", "=", "x ", "&amp", "</b"])
def test_long_lines_that_nearly_have_markup_are_soon_seen_through(unit: str) -> None:
    """A quadratic search would take minutes."""
    line = "<a " + unit * 100_000
    assert "markup" not in dropped_by(line, line)
