"""Lines that are only an abbreviation, or days and months in a row: a table knows them better than a model does.

Such lines stand in heads of tables, in forms and on buttons. A model sees too little in them to tell what they are.
"""

import re

from nmt.numbers.calendar import DAYS, MONTHS

_TABLE = """
    id=ID h=小时 hr=小时 hrs=小时 mins=分钟 sec=秒 secs=秒 wk=周 wks=周 yr=年 yrs=年 qtr=季度 a.m.=上午 p.m.=下午
    qty=数量 amt=金额 acct=账户 bal=余额 pct=百分比 num=数量 pcs=件 ea=每个 avg=平均值 rpm=转/分 approx=约 est=预计
    misc=其他 etc=等 desc=描述 ref=参考 addr=地址 tel=电话 dept=部门 govt=政府 mgmt=管理 mgr=经理 univ=大学
    n/a=不适用 tba=待公布 tbc=待确认 tbd=待定 faq=常见问题 faqs=常见问题 q&a=问答 todo=待办 wip=进行中 fyi=供参考
    asap=尽快 eta=预计到达时间 etd=预计出发时间 dob=出生日期 ytd=年初至今 rsvp=敬请回复 p.s.=附言
    c/o=转交 cont'd=续 incl=包括 excl=不包括 e.g.=例如 i.e.=即 vs=对 aka=又名
    km=公里 cm=厘米 mm=毫米 ft=英尺 kg=公斤 lb=磅 lbs=磅 oz=盎司 mph=英里/小时 km/h=公里/小时 tsp=茶匙 tbsp=汤匙
    msg=消息 msgs=消息 prev=上一个 config=配置 configs=配置 info=信息 intro=简介 admin=管理员 auth=身份验证
    ver=版本 src=来源 dest=目标 docs=文档 lang=语言 pwd=密码 changelog=更新日志
"""
_ABBREVIATIONS = dict(entry.split("=") for entry in _TABLE.split())
_OF_CALENDARS = {**DAYS, **{month: f"{number}月" for month, number in MONTHS.items()}}
# Where they stand alone.
_OTHER_WORDS = frozenset(
    ("Sat", "Sun", "Mar", "March", "May", "August", "Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
)
_NUMBER = re.compile(r"(?:No\.|Nr\.|№) ?(\d{1,9})")
_BETWEEN = re.compile(r"( [ ]? [-–—~] [ ]? | [ ]? [,;/|] [ ]? | [ ]+ )", re.VERBOSE)
_JOINTS = {"-": "至", "–": "至", "—": "至", "~": "至", ",": "、", ";": "；"}


def known_line(line: str) -> str | None:
    """The Chinese of a line that a table knows; None if it is anything else."""
    text = line.strip()
    colon = "：" if text.endswith(":") else ""
    text = text.removesuffix(":")
    chinese = _abbreviation(text) or _number(text) or _calendar(text)
    return chinese and chinese + colon


def _abbreviation(text: str) -> str | None:
    lower = text.lower()
    return _ABBREVIATIONS.get(lower) or _ABBREVIATIONS.get(lower.removesuffix("."))


def _number(text: str) -> str | None:
    """No. 7 as 7号."""
    match = _NUMBER.fullmatch(text)
    return match and f"{match[1]}号"


def _calendar(text: str) -> str | None:
    """Days and months in a row, or one alone: Mon-Fri as 周一至周五."""
    pieces = _BETWEEN.split(text)
    names, joints = pieces[::2], pieces[1::2]
    chinese = [_OF_CALENDARS.get(_as_a_name(name)) for name in names]
    is_other_word = len(names) == 1 and text.removesuffix(".") in _OTHER_WORDS
    if is_other_word or None in chinese:
        return None
    written = [_JOINTS.get(joint.strip(), joint) for joint in joints]
    return "".join(
        part or "" for pair in zip(chinese, [*written, ""], strict=True) for part in pair
    )


def _as_a_name(word: str) -> str:
    """JAN and Jan. as Jan; in small letters it stays: sat, may, march are words."""
    return word.removesuffix(".").title() if word[:1].isupper() else word
