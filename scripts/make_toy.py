#!/usr/bin/env python3
"""Write the toy corpus `data/toy/{train,dev,test}.{en,zh}`: English-Chinese pairs made for this project.

The pairs have two sources. `data/toy/handwritten.tsv` holds everyday sentences, translated one by one; all
of them go to train. The others are composed here by a small phrase grammar: a little world of people, things
and places (the lexicon) and what can be said of it (`PATTERNS`). Its slots are typed, so that food is eaten
and clothes have colours, and a word keeps its translation from sentence to sentence: a small model can learn
this world in minutes on a CPU. It is a corpus for tests and first steps, not for translating real text.

    python scripts/make_toy.py            write the six files
    python scripts/make_toy.py --check    exit 1 if the six files differ from what this script would write

A pattern is `English | Chinese`, and both sides fill the same slots:

    {thing}       a word of the class `thing`; {thing2} is another word of the same class
    {thing.s}     one of its forms: `a` with article, `s` plural, `m` measure word, `past`, `ing`, `le`: 了
    {who+like}    the verb agreed with the subject `who`: like or likes; {who+act}: with the verb in {act}
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

SEED = 1
ROUNDS = 67  # how often every pattern is drawn; what is drawn again is dropped
HELD_OUT = 200  # pairs in dev, and in test
TOY = Path(__file__).resolve().parent.parent / "data" / "toy"
IRREGULAR_S = {"be": "is", "have": "has", "photo": "photos", "scarf": "scarves"}
SLOT = re.compile(r"\{(\w+)(?:\.(\w+)|\+(\w+))?\}")


class ToyError(Exception):
    """The grammar or the handwritten pairs break a promise of the corpus; the message shows the sentences."""


class Pair(NamedTuple):
    """A sentence and its translation; also a pattern and its translation."""

    en: str
    zh: str


@dataclass(frozen=True)
class Word:
    """A word or phrase of the little world: its forms by name in both languages; "" names the plain form."""

    en: Mapping[str, str]
    zh: Mapping[str, str]


def add_s(phrase: str) -> str:
    """The plural of a noun or the third person of a verb; a phrase changes in its first word: cups of tea."""
    head, space, rest = phrase.partition(" ")
    ending = "es" if re.search(r"(s|sh|ch|x|o)$", head) else "s"
    return IRREGULAR_S.get(head, re.sub(r"(?<=[^aeou])y$", "ie", head) + ending) + space + rest


def add_ing(phrase: str) -> str:
    """The -ing form of a verb phrase, in its first word."""
    head, space, rest = phrase.partition(" ")
    stem = re.sub(r"(?<=[^aeiou])([ie])([mt])$", r"\1\2\2", head)  # swim: swimming, get: getting
    return re.sub(r"e$", "", stem) + "ing" + space + rest


def add_article(phrase: str) -> str:
    """The phrase with `a` or `an`."""
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


def agree(subject: Word, verb: str) -> str:
    """The form of the verb that goes with the subject; `be` and `was` change most."""
    be = subject.en["be"]
    if verb in ("be", "was"):
        return {"be": be, "was": "were" if be == "are" else "was"}[verb]
    return add_s(verb) if be == "is" else verb


def phrase(en: str, zh: str) -> Word:
    """A phrase of one form, or of two, `cold/colder 冷`, where `er` names the second."""
    plain, _, comparative = en.partition("/")
    return Word({"": plain, "a": add_article(plain), "er": comparative}, {"": zh})


def noun(en: str, zh: str) -> Word:
    """A thing to count, `book 本书`: the Chinese begins with the measure word, one character."""
    return Word({"": en, "a": add_article(en), "s": add_s(en)}, {"": zh[1:], "m": zh[0]})


def verb(en: str, zh: str) -> Word:
    """A verb phrase with its past, `eat/ate rice 吃了米饭`; the plain Chinese leaves 了 out."""
    head, space, rest = en.partition(" ")
    base, _, past = head.partition("/")
    forms = {"": base, "s": add_s(base), "past": past or f"{base}ed", "ing": add_ing(base)}
    english = {name: form + space + rest for name, form in forms.items()}
    return Word(english, {"": zh.replace("了", ""), "le": zh})


def pronoun(en: str, zh: str) -> Word:
    """A personal pronoun, `he/him/his/is 他`: subject, object, possessive and the form of be."""
    subject, obj, poss, be = en.split("/")
    forms = {"": subject, "obj": obj, "poss": poss, "he": subject, "his": poss, "be": be}
    return Word(forms, {"": zh, "poss": f"{zh}的", "he": zh, "his": f"{zh}的"})


def person(en: str, zh: str) -> Word:
    """Somebody with a name or a title, and the pronoun for later mentions: `my mother/she 我妈妈`."""
    name, he = en.split("/")
    (stands,) = (word for word in LEXICON["pronoun"] if word.en["he"] == he)
    english = dict(stands.en) | {"": name, "obj": name, "poss": f"{name}'s"}
    return Word(english, dict(stands.zh) | {"": zh, "poss": f"{zh}的"})


def classes(make: Callable[[str, str], Word], text: str) -> dict[str, list[Word]]:
    """Word classes from lines `class: English Chinese, English Chinese`; an indented line goes on with it."""
    lines = (line.partition(": ") for line in text.strip().replace("\n    ", " ").splitlines())
    pairs = {
        name: [entry.rpartition(" ") for entry in entries.split(", ")] for name, _, entries in lines
    }
    return {name: [make(en, zh) for en, _, zh in entries] for name, entries in pairs.items()}


PRONOUNS = """
pronoun: I/me/my/am 我, you/you/your/are 你, he/him/his/is 他, she/her/her/is 她, we/us/our/are 我们,
    they/them/their/are 他们
"""
PEOPLE = """
peer: Tom/he 汤姆, Mary/she 玛丽, Jack/he 杰克, Anna/she 安娜, Li Hua/he 李华, Wang Ming/he 王明,
    my sister/she 我妹妹, my brother/he 我弟弟, my friend/he 我朋友
elder: Mr Zhang/he 张先生, my mother/she 我妈妈, my father/he 我爸爸, my grandfather/he 我爷爷
group: the teacher/she 老师, the children/they 孩子们
"""
NOUNS = """
shop: bank 家银行, library 家图书馆, supermarket 家超市, restaurant 家饭馆, museum 家博物馆, cinema 家电影院
place: park 个公园, hospital 家医院, station 个车站, school 所学校, hotel 家酒店, market 个市场
clothes: coat 件外套, shirt 件衬衫, sweater 件毛衣, scarf 条围巾, hat 顶帽子, bag 个包
gadget: umbrella 把雨伞, watch 块手表, phone 部手机, camera 台相机
paper: book 本书, newspaper 份报纸, dictionary 本词典, map 张地图, photo 张照片, ticket 张票, pen 支钢笔,
    key 把钥匙, cup 个杯子
large: bicycle 辆自行车, car 辆车, computer 台电脑
pet: dog 只狗, cat 只猫
drink: cup of tea 杯茶, cup of coffee 杯咖啡, glass of milk 杯牛奶, glass of juice 杯果汁,
    bottle of water 瓶水
dish: apple 个苹果, orange 个橙子, egg 个鸡蛋, bowl of rice 碗米饭, bowl of noodles 碗面条,
    piece of bread 片面包, piece of cake 块蛋糕
"""
VERBS = """
hobby: eat/ate noodles 吃了面条, eat/ate fruit 吃了水果, eat/ate dumplings 吃了饺子, drink/drank tea 喝了茶,
    drink/drank coffee 喝了咖啡, drink/drank milk 喝了牛奶, read/read books 看了书,
    read/read the newspaper 看了报纸, watch television 看了电视, watch films 看了电影,
    listen to music 听了音乐, learn English 学了英语, learn Chinese 学了汉语, learn maths 学了数学,
    write/wrote letters 写了信, play games 玩了游戏
sport: play football 踢了足球, play basketball 打了篮球, play tennis 打了网球, swim/swam 游了泳
art: sing/sang 唱了歌, dance/danced 跳了舞, play the piano 弹了钢琴, play the guitar 弹了吉他
speech: speak/spoke English 说了英语, speak/spoke Chinese 说了汉语, speak/spoke French 说了法语,
    cook Chinese food 做了中国菜, drive/drove a car 开了车
chore: clean the kitchen 打扫了厨房, clean the room 打扫了房间, wash the clothes 洗了衣服,
    wash the dishes 洗了碗, wash the car 洗了车, buy/bought vegetables 买了菜, buy/bought bread 买了面包,
    buy/bought milk 买了牛奶
rise: get/got up 起床, go/went to work 上班, have/had breakfast 吃早饭
late: have/had dinner 吃晚饭, come/came home 回家
fall: rain 下雨, snow 下雪, be windy 刮风
"""
PHRASES = """
job: doctor 医生, nurse 护士, driver 司机, engineer 工程师, singer 歌手
food: apples 苹果, oranges 橙子, eggs 鸡蛋, noodles 面条, rice 米饭, bread 面包, dumplings 饺子, fish 鱼,
    tea 茶, coffee 咖啡, milk 牛奶, juice 果汁, fruit 水果, cake 蛋糕
colour: red 红色的, blue 蓝色的, green 绿色的, yellow 黄色的, black 黑色的, white 白色的
size: big 大, small 小, new 新, old 旧, cheap 便宜的, beautiful 漂亮的
quality: big/bigger 大, small/smaller 小, cheap/cheaper 便宜, expensive/more expensive 贵,
    beautiful/more beautiful 漂亮
trait: tall/taller 高, strong/stronger 强壮, young/younger 年轻, clever/cleverer 聪明
mood: happy 高兴, thirsty 渴, nervous 紧张
worn: tired 累, busy 忙, hungry 饿, sad 难过
city: Beijing 北京, Shanghai 上海, Nanjing 南京, London 伦敦, Paris 巴黎, New York 纽约, Tokyo 东京
near: next to 旁边, behind 后面, in front of 前面
at: on the table 桌子上, on the chair 椅子上, on the bed 床上, under the table 桌子下面,
    under the chair 椅子下面, under the bed 床下面, in the box 箱子里, in the car 车里, in the kitchen 厨房里,
    in the room 房间里, behind the door 门后面
by: by bus 坐公共汽车, by taxi 坐出租车, by underground 坐地铁, by bicycle 骑自行车, on foot 走路
vehicle: train 火车, plane 飞机, bus 公共汽车
event: meeting 会议, film 电影, match 比赛, party 聚会
lively: long 长, interesting 有意思, boring 无聊
past: yesterday 昨天, last night 昨晚, last week 上个星期, this morning 今天早上, last Monday 上星期一,
    last Tuesday 上星期二, last Wednesday 上星期三, last Thursday 上星期四, last Friday 上星期五,
    last Saturday 上星期六, last Sunday 上星期天
future: tomorrow 明天, tonight 今晚, next week 下个星期, next Monday 下星期一, next Tuesday 下星期二,
    next Wednesday 下星期三, next Thursday 下星期四, next Friday 下星期五, next Saturday 下星期六,
    next Sunday 下星期天
day: every day 每天, every Monday 每个星期一, every Tuesday 每个星期二, every Wednesday 每个星期三,
    every Thursday 每个星期四, every Friday 每个星期五, every Saturday 每个星期六, every Sunday 每个星期天
part: every morning 每天早上, every evening 每天晚上
after: after lunch 午饭后, after dinner 晚饭后, before dinner 晚饭前, in the evening 晚上
often: often 经常, always 总是, sometimes 有时, never 从不
season: spring 春天, summer 夏天, autumn 秋天, winter 冬天
clock: six o'clock 六点, seven o'clock 七点, eight o'clock 八点, nine o'clock 九点, ten o'clock 十点,
    half past six 六点半, half past seven 七点半, half past eight 八点半, half past nine 九点半, 6:30 6:30,
    a quarter past seven 七点一刻, a quarter past eight 八点一刻, 7:30 7:30, 7:45 7:45, 8:15 8:15, 9:30 9:30
n: six 六, seven 七, eight 八, nine 九, ten 十
few: two 两, three 三, four 四, five 五
some: 8 8, 10 10, 12 12, 15 15, 20 20, 25 25, 30 30
price: 80 80, 120 120, 200 200, 300 300, 450 450
weather: raining 在下雨, snowing 在下雪, very cold 很冷, very hot 很热, very windy 风很大
cold: cold/colder 冷, hot/hotter 热, warm/warmer 暖和
"""
UNIONS = """name=peer+elder feel=mood+worn who=pronoun+pronoun+pronoun+name+group spot=shop+place
    thing=paper+gadget item=clothes+gadget goods=item+large owned=paper+goods+pet+pet+pet order=drink+dish
    look=colour+size habit=day+part number=few+n play=art+sport act=hobby+play+play+chore
    skill=play+speech+speech+speech routine=rise+late"""
LEXICON = classes(pronoun, PRONOUNS)
LEXICON |= (
    classes(person, PEOPLE) | classes(noun, NOUNS) | classes(verb, VERBS) | classes(phrase, PHRASES)
)
for _union, _parts in (union.split("=") for union in UNIONS.split()):
    LEXICON[_union] = [word for part in _parts.split("+") for word in LEXICON[part]]
LEXICON["asked"] = [word for word in LEXICON["who"] if word.en["he"] not in ("I", "we")]
LEXICON["given"] = [word for word in LEXICON["who"] if word.en["he"] != "you"]

PATTERNS = """
{who} {who+like} {food}. | {who}喜欢{food}。
{who} {who+do} not like {food}. | {who}不喜欢{food}。
{who} {who+like} {food}, but {name} {name+do} not. | {who}喜欢{food}，但是{name}不喜欢。
{who} {who+like} to {act}. | {who}喜欢{act}。
Why {asked+do} {asked} like to {hobby}? | {asked}为什么喜欢{hobby}？
{who} {who+want} to {act} {future}. | {who}{future}想{act}。
{who} {who+want} {few} {order.s}. | {who}想要{few}{order.m}{order}。
Please give {given.obj} {few} {order.s}. | 请给{given}{few}{order.m}{order}。
{who} drank {few} {drink.s} {past}. | {who}{past}喝了{few}{drink.m}{drink}。
{number} {order.s} cost {some} yuan. | {number}{order.m}{order}要{some}元。
{who} can {skill}, but {name} cannot. | {who}会{skill}，但是{name}不会。
Can {asked} {skill}? | {asked}会{skill}吗？
{who} {act.past} {past}. | {who}{past}{act.le}。
{who} did not {act} {past}. | {who}{past}没{act}。
Did {asked} {act} {past}? | {asked}{past}{act}了吗？
Who {act.past} {past}? | {past}谁{act.le}？
{who} will {act} {future}. | {who}{future}会{act}。
{who} will {sport} with {name} {future}. | {who}{future}会和{name}一起{sport}。
Let's {act} together {future}. | 我们{future}一起{act}吧。
{who} {who+act} {habit}. | {who}{habit}{act}。
{who} {often} {who+hobby} {after}. | {who}{after}{often}{hobby}。
{who} {who+be} {act.ing}. | {who}正在{act}。
When {who} came home {past}, {name} {name+was} {hobby.ing}. | {who}{past}回家的时候，{name}正在{hobby}。
{who} {who+have} to {chore} before {clock}. | {who}{clock}以前必须{chore}。
{who} should {chore} {future}. | {who}{future}应该{chore}。
Don't forget to {chore} {future}. | {future}别忘了{chore}。
Please do not {play} in the {spot}. | 请不要在{spot}{play}。
{who} went to the {spot} {past}. | {who}{past}去了{spot}。
{who} {who+go} to the {spot} {by} {day}. | {who}{day}{by}去{spot}。
How {asked+do} {asked} go to the {spot}? | {asked}怎么去{spot}？
It takes {some} minutes from the {spot} to the {spot2} {by}. | 从{spot}{by}到{spot2}要{some}分钟。
There is {spot.a} {near} the {spot2}. | {spot2}{near}有一{spot.m}{spot}。
The {shop} opens at {clock} every morning. | {shop}每天早上{clock}开门。
When will {asked} go to {city}? | {asked}什么时候去{city}？
{who} {who+have} never been to {city}. | {who}从来没去过{city}。
{who} {who+have} lived in {city} for {number} years. | {who}在{city}住了{number}年。
The {vehicle} to {city} leaves at {clock}. | 去{city}的{vehicle}{clock}出发。
{who} {who+have} {look.a} {goods}. | {who}有一{goods.m}{look}{goods}。
{asked+do} {asked} have {owned.a}? | {asked}有{owned}吗？
How many {owned.s} {asked+do} {asked} have? | {asked}有几{owned.m}{owned}？
{who} bought {few} {look} {goods.s} {past}. | {who}{past}买了{few}{goods.m}{look}{goods}。
{who} bought {colour.a} {item} for {price} yuan. | {who}花{price}元买了一{item.m}{colour}{item}。
{who} gave {name} {look.a} {goods} {past}. | {who}{past}给了{name}一{goods.m}{look}{goods}。
There is {look.a} {thing} {at}. | {at}有一{thing.m}{look}{thing}。
There are {number} {thing.s} {at}. | {at}有{number}{thing.m}{thing}。
{who.poss} {thing} is {at}. | {who.poss}{thing}在{at}。
Where is {who.poss} {owned}? | {who.poss}{owned}在哪里？
{who} cannot find {who.his} {owned}. | {who}找不到{who.his}{owned}。
The {thing} {at} is {name.poss}. | {at}的{thing}是{name.poss}。
Please put the {thing} {at}. | 请把{thing}放在{at}。
Can I borrow {asked.poss} {thing}? | 我可以借{asked.poss}{thing}吗？
Whose {look} {goods} is this? | 这{goods.m}{look}{goods}是谁的？
{who.poss} {goods} is {colour}. | {who.poss}{goods}是{colour}。
What colour is {who.poss} {goods}? | {who.poss}{goods}是什么颜色的？
This {look} {item} costs {price} yuan. | 这{item.m}{look}{item}要{price}元。
How much is this {look} {goods}? | 这{goods.m}{look}{goods}多少钱？
The {goods} that {who} bought {past} is very {quality}. | {who}{past}买的{goods}很{quality}。
{peer} {peer+be} {job.a}. | {peer}是一名{job}。
{peer} {peer+want} to be {job.a}. | {peer}想当{job}。
{who} {who+be} very {feel} today. | {who}今天很{feel}。
{asked+be} {asked} {feel} now? | {asked}现在{feel}吗？
{peer} {peer+be} {trait.er} than {pronoun.obj}. | {peer}比{pronoun}{trait}。
{who} {who+think} that {name} {name+be} very {trait}. | {who}觉得{name}很{trait}。
{peer} {peer+be} {some} years old this year. | {peer}今年{some}岁。
Because {who} {who+be} {worn}, {who.he} {who+do} not want to {act}. | 因为{who}很{worn}，所以不想{act}。
{who} cannot {sport} because it is {weather}. | 因为{weather}，所以{who}不能{sport}。
If it {fall.s} {future}, {who} will {hobby} at home. | 如果{future}{fall}，{who}会在家{hobby}。
{who} {who+hope} that it will not {fall} {future}. | {who}希望{future}不会{fall}。
It is {weather} in {city} today. | {city}今天{weather}。
It is {some} degrees in {city} today. | {city}今天{some}度。
{city} is {cold.er} than {city2} in {season}. | {city}{season}比{city2}{cold}。
It is very {cold} in {city} in {season}. | {city}{season}很{cold}。
{who} {who+rise} at {clock} every morning. | {who}每天早上{clock}{rise}。
{who} {who+late} at {clock} every evening. | {who}每天晚上{clock}{late}。
What time {asked+do} {asked} {routine} {day}? | {asked}{day}几点{routine}？
The {event} will start at {clock} tomorrow evening. | {event}明天晚上{clock}开始。
The {event} {past} was very {lively}. | {past}的{event}很{lively}。
It is {clock}, and {name} {name+be} still {act.ing}. | 现在{clock}了，{name}还在{act}。
Let's meet at the {spot} at {clock}. | 我们{clock}在{spot}见面吧。
{who} waited for {name} at the {spot} for {some} minutes. | {who}在{spot}等了{name}{some}分钟。
"""


def fill(template: str, words: Mapping[str, Word], side: str) -> str:
    """Put the words into the slots of one side of a pattern; `side` is `en` or `zh`."""

    def one(slot: re.Match[str]) -> str:
        name, form, verb = slot.groups(default="")
        if verb:
            return agree(words[name], words[verb].en[""] if verb in words else verb)
        return (words[name].en if side == "en" else words[name].zh)[form]

    return SLOT.sub(one, template)


def say(pattern: Pair, random: Random) -> Pair:
    """Speak the pattern in both languages with words drawn for its slots, all different.

    Draws with `random.random` alone, the one method whose sequence Python promises to keep.
    """
    words: dict[str, Word] = {}
    for slot in SLOT.finditer(pattern.en):
        for name in slot.group(1, 3):
            of_class = LEXICON.get((name or "").rstrip("2"), [])
            if of_class and name not in words:
                free = [word for word in of_class if word not in words.values()]
                words[name] = free[int(random.random() * len(free))]
    en = fill(pattern.en, words, "en")
    return Pair(en[0].upper() + en[1:], fill(pattern.zh, words, "zh"))


def fold(text: str) -> str:
    """What is left of a sentence without case, width, punctuation and spaces."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


def distinct(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs without repetitions; ToyError if two of them share a sentence up to case and punctuation."""
    known: dict[str, Pair] = {}
    for pair in pairs:
        for other in (known.setdefault(fold(side), pair) for side in pair):
            if other != pair:
                raise ToyError(
                    f"{' = '.join(pair)} clashes with {' = '.join(other)}; change one of them"
                )
    return list(dict.fromkeys(known.values()))


def handwritten() -> list[Pair]:
    """The pairs of handwritten.tsv."""
    lines = (TOY / "handwritten.tsv").read_text("utf-8").splitlines()
    if odd := [line for line in lines if line.count("\t") != 1]:
        raise ToyError(f"handwritten.tsv has {odd[0]!r}; a line is English, one tab, Chinese")
    pairs = [Pair(*line.split("\t")) for line in lines]
    if len(distinct(pairs)) < len(pairs):
        raise ToyError("handwritten.tsv has a pair twice; drop one")
    return pairs


def compose(random: Random) -> list[Pair]:
    """What the grammar says in `ROUNDS` rounds, a pair of every pattern in each; some come again."""
    patterns = [Pair(*line.split(" | ")) for line in PATTERNS.strip().splitlines()]
    pairs = [say(pattern, random) for _ in range(ROUNDS) for pattern in patterns]
    if odd := [pair.en for pair in pairs if not 3 <= len(pair.en.split()) <= 15]:
        raise ToyError(f"{odd[0]!r} has not 3 to 15 words; change its pattern")
    return pairs


def corpus() -> dict[Path, bytes]:
    """The six files and their content; as parts of one list of distinct pairs they share no sentence."""
    random, own = Random(SEED), handwritten()
    composed = distinct(own + compose(random))[len(own) :]
    composed.sort(key=lambda _: random.random())
    dev, test, train = (
        composed[:HELD_OUT],
        composed[HELD_OUT : 2 * HELD_OUT],
        composed[2 * HELD_OUT :],
    )
    return {
        TOY / f"{split}.{side}": "".join(
            f"{getattr(pair, side)}\n" for pair in sorted(pairs)
        ).encode()
        for split, pairs in (("train", own + train), ("dev", dev), ("test", test))
        for side in Pair._fields
    }


def main() -> None:
    """Write the files, or compare them with `--check`."""
    parser = argparse.ArgumentParser(description="Write the toy corpus data/toy.")
    parser.add_argument(
        "--check", action="store_true", help="only compare; exit 1 if a file differs"
    )
    check = parser.parse_args().check
    try:
        wanted = corpus()
    except ToyError as error:
        sys.exit(f"make_toy.py: {error}")
    stale = [
        path
        for path, content in wanted.items()
        if not path.exists() or path.read_bytes() != content
    ]
    if check and stale:
        sys.exit(
            f"{', '.join(path.name for path in stale)} differ from the grammar; run scripts/make_toy.py"
        )
    for path in stale:
        path.write_bytes(wanted[path])


if __name__ == "__main__":
    main()
