"""Examples after GB/T 15834-2011 and the W3C's Requirements for Chinese Text Layout, and what holds of every line."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nmt.chinese.typography import check, repair
from nmt.corpus.reading.lines import read_lines
from nmt.evaluation.metrics import values

REPAIRED = [
    # commas, stops, colons, question and exclamation marks
    ("你好,世界.", "你好，世界。"),
    ("你好 , 世界 !", "你好，世界！"),
    ("真的吗?真的!", "真的吗？真的！"),
    ("你好!!!", "你好！！！"),
    ("什么?!", "什么？！"),
    ("汤姆说: 好;走吧", "汤姆说：好；走吧"),
    ("Tom: 你好", "Tom：你好"),
    ("我用 Python, 他用 Java.", "我用 Python，他用 Java。"),
    ("他住在 London.", "他住在 London。"),
    ("你去过 Paris?", "你去过 Paris？"),
    ("他走了. 她来了.", "他走了。她来了。"),
    ("他生于1990. 我用 Windows 10. 你呢", "他生于1990。我用 Windows 10。你呢"),
    ("2019,我们来了", "2019，我们来了"),
    # times
    ("在2：30之后", "在2:30之后"),
    ("现在是3：45。", "现在是3:45。"),
    ("早上6：00天还没亮", "早上6:00天还没亮"),
    ("晚上7：30本台播出", "晚上7:30本台播出"),
    ("从5：30开始，6：10结束", "从5:30开始，6:10结束"),
    ("比赛在7：30. 开始", "比赛在7:30。开始"),
    ('在2：30"中"', "在2:30“中”"),
    # lists of Latin words in Chinese
    ("A、B,C和D;E", "A、B，C和D；E"),
    ("Slack,Zoom和Teams都行", "Slack，Zoom和Teams都行"),
    ("包括BBC,ITV,NPR,央视和路透社", "包括BBC，ITV，NPR，央视和路透社"),
    ("去过San Marino,New York等地", "去过San Marino，New York等地"),
    # one mark where there are two
    ("你好。。", "你好。"),
    ("走吧，，快点", "走吧，快点"),
    ("红、、绿、蓝", "红、绿、蓝"),
    ("他走了，。", "他走了。"),
    ("他走了,.", "他走了。"),
    ("OK。。。好", "OK……好"),
    # brackets
    ("北京(首都)很大", "北京（首都）很大"),
    ("世界卫生组织(WHO)说", "世界卫生组织（WHO）说"),
    ("油箱 ( 约 5 桶 ) 满了", "油箱（约 5 桶）满了"),
    ("他（是医生)走了", "他（是医生）走了"),
    ("(美联社)北京报道", "（美联社）北京报道"),
    # Markdown
    ("看![图片](a.png),好", "看![图片](a.png)，好"),
    ("> 他说,好", "> 他说，好"),
    # quotation marks
    ('他说:"走吧."', "他说：“走吧。”"),
    ('"好"和"坏"', "“好”和“坏”"),
    ('他看了"Titanic"。', "他看了“Titanic”。"),
    ('他说“好"', "他说“好”"),
    ("'好'字", "‘好’字"),
    ('"15"很大', "“15”很大"),
    ('他說:"走吧."', "他說：「走吧。」"),
    ("他 說 「 走吧。 」 了", "他說「走吧。」了"),
    # ellipsis, dash, middle dot, titles
    ("等等...", "等等……"),
    ("等等…我来了", "等等……我来了"),
    ("他。。。走了", "他……走了"),
    ("一神教--犹太教", "一神教——犹太教"),
    ("北京--Beijing -- 中国", "北京——Beijing——中国"),
    ("一神教 — 犹太教", "一神教——犹太教"),
    ("汤姆・克鲁斯", "汤姆·克鲁斯"),
    ("读<<红楼梦>>", "读《红楼梦》"),
    # spaces
    ("我 喜欢 茶", "我喜欢茶"),
    ("你好 ，世界。 再见", "你好，世界。再见"),
    ("他说 “好” 了", "他说“好”了"),
    ("读 《红楼梦》 吧", "读《红楼梦》吧"),
]
CORRECT = [
    "Hello, world! (No Han here...)",
    "",
    "你好，世界。",
    "比分3：2，来源2：50.00，4：5：06，`2：30`",
    "测验4：20道题，房间3：12人",
    "共 3,000 人，3.14，10:30，比分 3:2，版本 2.13.0，日期 2026-11-21，1/2。",
    "见 https://example.com/a,b?c=d:e!(f) 和 a.b@example.com。",
    "打开 C:\\Users\\me 或 /usr/lib/a.so 或 ./run.sh。",
    "运行 `print(1, 2); x` 即可",
    "共 {0} 个，%s，%(name)d，${x}，%d%%",
    '点 <b class="a, b">这里</b>，&nbsp;好',
    "函数 main() 和 a.b() 返回 x",
    "美国电视台 (CNN) 报道",
    "约翰·里德 (Jonny Reid) 在场",
    "他说了 “Hello, world! How are you?” 就走了",
    "字母 “O” 改了",
    "到此为止。  ",
    "使用 Visual Studio Code, Version 2 的人",
    "Dr. 王和 J. 李",
    "1. 你好",
    "2.1. 安装",
    "## 2.1. 安装",
    "- 1. 打开",
    "<b>1. 标题</b>",
    "a. 苹果",
    "图 1. 系统架构",
    "步骤：1. 打开文件 2. 点击确定",
    "使用 --verbose 选项，或 -v",
    "中文 --> 英文",
    "SELECT 1; -- 查询用户",
    "选择 | 描述 --- | --- |",
    '使用 encoding="utf-8" 打开文件',
    '{"姓名": "张三", "年龄": 3}',
    '["一", "二"]',
    '屏幕为15"的笔记本和13"的平板',
    "1995-96赛季，北京-上海，诺—卡地区",
    "等等……好——吧",
    "你好 :)",
    "下次吧 :/",
    "下次吧 :-/",
    "若 a != b 则停",
    "@tom_1 你好 #topic",
    '屏幕 6" 大',
    "三大一神宗教——犹太教、基督教",
    "点（x,y）和点（z,w），按 y,x 的顺序",
    "取 i,j 和 k",
    "R,G,B 值",
    "参数 key=a,b;c=d 和其他",
    "他叫Truex,Jr.，又叫Truex,Jr和Joe",
    "逗号和句号（，。）",
    "替换成？。不含 *、？和 #",
    "好啊！！！真的？？",
]


@pytest.mark.parametrize(("text", "expected"), REPAIRED)
def test_it_is_repaired(text: str, expected: str) -> None:
    assert repair(text) == expected


@pytest.mark.parametrize("text", CORRECT)
def test_it_stays_as_it_is(text: str) -> None:
    assert repair(text) == text
    assert check(text) == []


@pytest.mark.parametrize(
    ("spacing", "expected"),
    [("keep", "用Python 3写"), ("none", "用Python 3写"), ("space", "用 Python 3 写")],
)
def test_the_space_between_han_and_latin_is_an_option(spacing: str, expected: str) -> None:
    assert repair("用Python 3写", spacing) == expected  # type: ignore[arg-type]


def test_a_space_between_han_and_latin_can_be_taken_out() -> None:
    assert repair("用 Python 写 3.14 和 a.py", "none") == "用Python写3.14和a.py"


def test_findings_name_the_place_and_the_fix() -> None:
    found = check("你好,我 是 Tom.")
    assert [(f.column, f.found, f.fix) for f in found] == [
        (3, ",", "，"),
        (5, " ", ""),
        (11, ".", "。"),
    ]
    assert str(found[0]) == "3: ',' in Chinese text, write '，'"
    assert str(found[1]) == "5: delete the space"


ALPHABET = (
    "你好世界一二人a Zb13.,;:?!()\"'…—-–。，；：？！（）“”‘’《》、<>・/@#`{}%$\\_\u3000\ue000\ue001"
)
lines = st.text(st.sampled_from(ALPHABET), max_size=30) | st.text(max_size=20)
SPANS = [
    "https://a.cn/x?y=1,2",
    "a.b@c.org",
    "`x, y`",
    "{0}",
    "%(n)d",
    "${x}",
    '<b a="1, 2">',
    "3,000.5",
    "10:30",
    "f.g()",
]


@given(lines)
@example("你 \ue000.a")
def test_to_repair_twice_is_to_repair_once(line: str) -> None:
    for spacing in ("keep", "none", "space"):
        once = repair(line, spacing)
        assert repair(once, spacing) == once


@given(lines)
def test_only_punctuation_and_spaces_change(line: str) -> None:
    def letters(text: str) -> str:
        return re.sub(r"[^\w\ue000\ue001]", "", text)

    assert letters(repair(line)) == letters(line)


@given(lines)
def test_the_findings_are_the_repair(line: str) -> None:
    """Put each fix in its place, from the last to the first: that is the repaired line."""
    repaired = line
    for finding in reversed(check(line)):
        start = finding.column - 1
        assert repaired[start : start + len(finding.found)] == finding.found
        repaired = repaired[:start] + finding.fix + repaired[start + len(finding.found) :]
    assert repaired == repair(line)


@given(
    st.lists(st.sampled_from(SPANS), min_size=1, max_size=3),
    st.text("你好世界人一，。,.", max_size=9),
)
def test_spans_that_machines_read_come_through(spans: list[str], words: str) -> None:
    line = "你好 " + f" {words} ".join(spans) + " 人"
    repaired = repair(line)
    for span in spans:
        assert repaired.count(span) == line.count(span)


# --- real output of seven systems ---

SHARED = Path(__file__).parents[3] / "shared" / "data" / "typography"
real = pytest.mark.skipif(
    not SHARED.is_dir(), reason="no real data beside the project (../shared/data/typography)"
)


def sentences(system: str) -> list[str]:
    """Every second sentence: what they gain differs by 0.2 BLEU from what all gain."""
    return list(read_lines(SHARED / f"flores-dev.{system}.zh"))[::2]


def gain(system: str) -> float:
    """BLEU of the repaired output of a system, less that of its output as it is."""
    output, references = sentences(system), sentences("ref")
    before, after = (
        values(lines, [references], ["bleu"])["bleu"]
        for lines in (output, list(map(repair, output)))
    )
    return after - before


@real
@pytest.mark.parametrize(
    "system", ["argos", "nllb", "opusmt", "bergamot-base", "bergamot-base-memory"]
)
def test_what_writes_half_width_marks_gains_three_bleu(system: str) -> None:
    assert gain(system) >= 3.0


@real
@pytest.mark.parametrize("system", ["google", "microsoft"])
def test_what_writes_full_width_marks_stays_as_it_is(system: str) -> None:
    assert abs(gain(system)) <= 0.15


@pytest.mark.parametrize(
    "unit", [" — ", "— ", "\u3000", " , ", " …", "(a)", "是 ,", ". ", " --", "“ "]
)
@pytest.mark.parametrize("line", ["{}是", "是{}", "是{}是", "a{}a"])
def test_a_chain_of_marks_takes_time_in_proportion(unit: str, line: str) -> None:
    """Each mark may make the one beside it Chinese, and each space may be needless once the next is gone."""
    start = time.process_time()
    repair(line.format(unit * (50_000 // len(unit))))
    assert time.process_time() - start < 5  # minutes, if each pass changed one mark


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("是 , , , 的", "是，的"),
        ("a — — — 是", "a————是"),
        ("是 — — — a", "是————a"),
        ("是 … … ……", "是…………"),
        ("是(a)(b)(c)(d)", "是（a）（b）（c）（d）"),
        ("是(a),(b),(c),(d)", "是（a），（b），（c），（d）"),
        ("是 ——  ", "是——  "),
    ],
)
def test_marks_in_a_row_are_repaired_together(text: str, expected: str) -> None:
    assert repair(text) == expected


@pytest.mark.parametrize(
    "line", ["他说'" + "好" * 50_000, "读<<" + "好" * 50_000, "好London. " * 5_000]
)
def test_a_mark_that_is_never_closed_takes_no_longer_in_a_long_line(line: str) -> None:
    start = time.process_time()
    repair(line)
    seconds = time.process_time() - start
    assert seconds < 3  # it takes a tenth of that, and took minutes when it was quadratic
