"""Faults that a reader would see from the two lines, and what no reader would call a fault.

A new kind of fault needs an example in FAULTY, and one of what looks like it in FAITHFUL; a new regular expression a
unit that repeats in `test_long_lines_are_no_trouble`.
"""

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nmt.checks.faults import ANY_DIRECTION, ENGLISH_TO_CHINESE, KINDS, TERM, Fault
from nmt.checks.faults import faults as faults_in


def faults(source: str, translation: str) -> list[Fault]:
    """What is wrong with a translation of English into Chinese."""
    return faults_in(source, translation, ENGLISH_TO_CHINESE)


FAITHFUL = [
    ("Wait three quarters of an hour.", "等三刻钟。"),
    ("He is in his mid-forties, she in her late 30s.", "他约45岁，她快40岁了。"),
    ("It cost ¥600.", "花了600日元。"),
    ("Profit rose to $45.6m.", "利润增至4560万美元。"),
    ("A million and a half bats, one and a quarter million cats", "150万只蝙蝠，125万只猫"),
    ("Three quarters of a billion dollars, 85 lakh cats", "7.5亿美元，850万只猫"),
    ("Two thirds of it, one in five, 9 out of 10 cats", "三分之二，20%，90%的猫"),
    ("3 out of every 4 people save.", "每4个人中有3个存钱。"),
    ("It costs $5, €6, HK$7 and 300 CHF.", "它要价5美元、6欧元、7港元和300瑞郎。"),
    ("It fell 5% to -3 °C.", "下降了百分之五，到零下3摄氏度。"),
    ("Open Sat and Sun, not Monday", "周六日营业，星期一不营业"),
    ("Sunday school, Mon Ami", "主日学校，Mon Ami"),
    ("It&#39;s fine.", "这&#39;很好。"),
    ("Meet at 0900 hours.", "上午9点见面。"),
    # the same number, written otherwise
    ("They sold 1,500 books.", "他们卖了1500本书。"),
    ("They sold 1,500 books.", "他们卖了一千五百本书。"),
    ("They sold 1500 books.", "他们卖了１５００本书。"),
    ("A city of 3.5 million people.", "一座拥有350万人口的城市。"),
    ("It cost $2.3 billion.", "耗资23亿美元。"),
    ("It cost €5bn.", "耗资五十亿欧元。"),
    ("Between 3 and 5 million people came.", "来了300万到500万人。"),
    ("Some 300-400 people came.", "来了三四百人。"),
    ("Prices rose 30 percent.", "物价上涨百分之三十。"),
    ("Prices rose 30%.", "物价上涨三成。"),
    ("Prices rose by 20.5 percent.", "物价上涨了百分之二十点五。"),
    ("Everything is 100% safe.", "一切百分之百安全。"),
    ("Exports doubled in 2010.", "2010年出口翻了一番。"),
    ("It was 50 percent water.", "其中一半是水。"),
    ("About 1/4 of them left.", "约四分之一的人离开了。"),
    ("About 1 in 5 children is ill.", "约五分之一的儿童患病。"),
    ("412 of 5,600 files copied", "已复制412/5,600个文件"),
    ("1,412 of 5,600 files copied", "已复制1,412/5,600个文件"),
    ("The score is 68 of 100.", "得分68/100。"),
    ("This is the 99th percentile.", "这是第99百分位数。"),
    ("It rose by 3 percentage points.", "上升了3百分点。"),
    ("A photo has 24 megapixels.", "一张照片有2400万像素。"),
    ("A 12-megapixel camera with 8 MP more", "1200万像素的摄像头，另加800万像素"),
    ("A photo has 24 MP.", "一张照片有24 MP。"),
    ("Set `max length` in `my own file`.", "在`my own file`中设置`max length`。"),
    ("{user} added {item} to {list}", "{user}将{item}添加到{list}"),
    ("&nbsp;&lt;name&gt; is required", "&nbsp;&lt;name&gt;为必填项"),
    ("`pip install some package`", "`pip install some package`"),
    ("one hundred and twenty", "120"),
    ("About 1 in 10 adults smokes.", "大约十分之一的成年人吸烟。"),
    ("It happens to 1 in 100.", "百分之一的人遇到这种事。"),
    ("He is the 3rd son.", "他是第三个儿子。"),
    ("About 2/3, 120 people, left.", "约2/3，120人离开了。"),
    ("On 9/11, 200 people were there.", "9/11，200人在场。"),
    ("By 2019/3/4, 300 people had come.", "截至2019/3/4，300人到场。"),
    ("Some 1,500 people came.", "来了1，500人。"),
    ("Steps 1 and 2: add ½ cup.", "步骤1和2：加1/2杯。"),
    ("Use 1 or 2 tsp, plus ¼ tsp for 4 people.", "用1或2茶匙，4人加1/4茶匙。"),
    ("It went from 1 to 2, or 50%.", "它从1变为2，即1/2。"),
    ("Of 3 and 4, use 0.75.", "3和4，用3/4。"),
    ("The APR is 4%.", "年利率为百分之四。"),
    ("april has 4 cats", "阿普丽尔有四只猫"),
    ("it ends on 7 may", "5月7日结束"),
    ("A 24-megapixel camera", "24兆像素的相机"),
    ("They paid twenty-five each.", "他们各付25元。"),
    ("This is the 99th percentile.", "这是第九十九百分位数。"),
    ("rent is due june 3", "房租6月3日到期"),
    ("The 2nd prize went to her.", "她获得了二等奖。"),
    ("She waited 2.5 hours.", "她等了两个半小时。"),
    ("She waited 2 1/2 hours.", "她等了2.5小时。"),
    ("She waited 2½ hours.", "她等了两个半小时。"),
    ("Add ½ cup of milk.", "加入½杯牛奶。"),
    ("It has 250 million users.", "它有2½亿用户。"),
    ("The drive takes an hour and a half.", "车程1.5小时。"),
    ("It went on for two weeks and a half.", "它持续了2.5周。"),
    ("He pitched 220 2/3 innings.", "他投了220 2/3局。"),
    ("He ran 160 km.", "他跑了160 千米。"),
    ("They ordered 5 dozen eggs.", "他们订了5打鸡蛋。"),
    ("They ordered 5 dozen eggs.", "他们订了60个鸡蛋。"),
    ("It grew 3 times as large.", "增长了两倍。"),
    ("1,200,000 of them.", "其中120万。"),
    # dates and times
    ("He left at 3 p.m. on Monday.", "他周一下午3点离开。"),
    ("He left at 3 p.m.", "他15时离开。"),
    ("He left at 3:30 p.m.", "他下午三点半离开。"),
    ("He left at 15:30.", "他下午3点30分离开。"),
    ("He left at 3:15.", "他三点一刻离开。"),
    ("He left at 11:00.", "他11点离开。"),
    ("Open from 5-6pm.", "17点至18点开放。"),
    ("On March 4, 2019 it rained.", "2019年3月4日下了雨。"),
    ("On 4 March 2019 it rained.", "二〇一九年三月四日下了雨。"),
    ("On 3/4/2019 it rained.", "2019年3月4日下了雨。"),
    ("On 3/4/2019 it rained.", "2019年4月3日下了雨。"),
    ("On 2019-03-04 it rained.", "2019年3月4日下了雨。"),
    ("In the 1990s it was new.", "在20世纪90年代，它是新的。"),
    ("In the 1990s it was new.", "在上世纪九十年代，它是新的。"),
    ("In the '90s it was new.", "在90年代，它是新的。"),
    ("In the 1830s it was new.", "在19世纪30年代，它是新的。"),
    ("In the 1960s and 1970s it was new.", "在20世纪六七十年代，它是新的。"),
    ("In the 19th century it was new.", "在十九世纪，它是新的。"),
    ("The 1995-96 season was good.", "1995至1996赛季很好。"),
    ("After 9/11 it changed.", "9·11之后，情况变了。"),
    ("After 9/11 it changed.", "911之后，情况变了。"),
    ("On August 14 he left.", "14日，他离开了。"),  # the month was named before
    ("From August 14 to August 20.", "8月14日至20日。"),
    ("Sales for SS19 began.", "2019春夏系列开始销售。"),
    ("It was a Category 1 hurricane, a big one.", "那是一场一级飓风，很大。"),
    ("She is 100 percent certain of a thing.", "她百分之百肯定这件事。"),
    ("Sainsbury's is open.", "Sainsbury&#39;s 开门了。"),  # mangled, but no number
    # digits that words of the source explain
    ("There were two people.", "有2个人。"),
    ("There were two hundred and fifty thousand people.", "有25万人。"),
    ("Another six million people live there.", "另外600万人住在那里。"),
    ("Half a million people live there.", "50万人住在那里。"),
    ("A dozen eggs.", "12个鸡蛋。"),
    ("Within two decades it was gone.", "20年内它就消失了。"),
    ("In December it rained.", "12月下了雨。"),
    ("He came at noon.", "他中午12点来。"),
    ("In the twentieth century it was new.", "在20世纪，它是新的。"),
    ("It doubled.", "它增长到2倍。"),
    ("Two thirds of them left.", "2/3的人离开了。"),
    ("World War II ended.", "第2次世界大战结束了。"),
    # names with digits, numbers said again, conversions in brackets
    ("COVID-19 spread.", "新冠病毒蔓延。"),
    ("COVID-19 spread.", "COVID-19蔓延。"),
    ("The G20 met.", "二十国集团开会。"),
    ("He scored 7, and she too.", "他得了7分，她也得了7分。"),
    ("It is 10 miles away.", "距离10英里（约16公里）。"),
    # no numbers at all
    ("Good morning.", "早上好。"),
    ("Barack Obama", "Barack Obama"),
    ("https://example.com/a", "https://example.com/a"),
    ("", ""),
    ("Ha ha ha ha!", "哈哈哈哈！"),
    ("Thank you. Thank you.", "谢谢。谢谢大家。"),
    ("It says “out of order” here.", "这里写着“out of order”。"),
    ("Run pip install and restart.", "运行 pip install，然后重启。"),
    ("A crown of sharp, spiky leaves.", "树冠为尖尖,尖尖的叶子。"),
    ("It is monitored 24/7.", "全天候监控。"),
    ("It is monitored 24/7.", "每周7天每天24小时监控。"),
    ("Three in four people born in the 1990s save.", "每4个“90后”中有3个存钱。"),
    ("No, no, no, no!", "不，不，不，不！"),
    # tags that changed places, or are no pair
    ("<b>Old</b> and <i>new</i>.", "<i>新</i>与<b>旧</b>。"),
    ("<b><a href='x'>Old</a></b>.", "<a href='x'><b>旧</b></a>。"),
    ("Old<br>and<p>new.", "新<p>与<br>旧。"),
    ("Close it with </b>, open it with <b>.", "用</b>关，用<b>开。"),
    ("Use <b/> or <b></b>.", "用<b/>或<b></b>。"),
    # punctuation that people write, or that the source has
    ("You did?!", "你做了？！"),
    ("Great!!!", "太好了！！！"),
    ("Wait...", "等等。。。"),
    ("No...?", "不……？"),
    ('"Go!", he said.', "“走！”，他说。"),
    ("Yahoo!, Google and others.", "雅虎！，谷歌等。"),
    ("How many? 217.", "多少？217。"),
    ("It fell in 476. 476 was a bad year.", "它于476年灭亡。476是糟糕的一年。"),
    ("1. Hello.", "1。你好。"),
    ("Bring: 1) milk and 2) tea.", "带上：1）牛奶和2）茶。"),
    ("I'm happy :)", "我很开心 :)"),
    ('"It begins here, he said.', "“从这里开始，他说。"),
    ("'It begins here,' he said.", "“从这里开始，他说。"),
    ('"It begins here, and they say "no.', "“从这里开始，他们说“不。"),
    (", and then he left.", "，然后他走了。"),
    ("Call f(x, y).", "调用 f(x, y)。"),
    ("See https://a.org/(b today.", "今天见 https://a.org/(b。"),
    ("Use @a, @b, or @c.", "使用 @a，@b，或 @c。"),
    ("It is 12 km (7.5 mi) away.", "距离12公里（7.5）。"),
    ("It cost 100000000.", "它花了10000万。"),
    ("I am 180 centimeters tall.", "我身高180公分。"),
    ("It is 1,600 meters high.", "它高1600米。"),
    ("Preheat it to 300° Fahrenheit.", "预热到华氏300度。"),
    ("Water boils at 100 degrees Celsius.", "水在100℃沸腾。"),
    ("Water freezes at 0 degrees Centigrade.", "水在0度结冰。"),
    ("There was a 30 percent discount.", "打7折。"),
    ("It took 5 years.", "花了5年。"),
    ("It took 30 minutes.", "花了半个小时。"),
    ("It grew by 25 percent.", "增长了四分之一。"),
    ("He is 37 years old.", "他37岁。"),
    ("He died at the age of 104.", "他享年104岁。"),
    ("It fell in 356 BCE.", "它于公元前356年陷落。"),
    ("Rome fell in 476.", "罗马于476年灭亡。"),
    ("It rose by 350 points.", "上涨了350点。"),
    ("Come at 9:30.", "9:30来。"),
    ("Come at 9:30.", "九点半来。"),
    ("Come at half past 9.", "9点半来。"),
    ("School begins at eight-thirty.", "学校8点半开始上课。"),
    ("He is 100 percent certain.", "他百分百确定。"),
    ("He has 2 cats. Second, he has a dog.", "他有2只猫。其次，他有一条狗。"),
    ("Dial 119.", "拨打119。"),
    ("This is Room 839.", "这是839号房间。"),
    ("He was called by 119 people.", "有119个人给他打电话。"),
    ("Bake at 180 degrees for 20 minutes.", "在180度下烤20分钟。"),
    ("It was 30 degrees Friday.", "周五30度。"),
    ("Fiscal 2024 second-quarter revenue rose 5%.", "2024财年第二季度营收增长5%。"),
    ("He bought 2 second-hand cars.", "他买了2辆二手车。"),
    ("On May 12, minutes of the meeting were released.", "5月12日，会议纪要公布。"),
    ("The index closed at 3,200.", "指数收于3200点。"),
    ("Deals 50 damage.", "造成50点伤害。"),
    ("Set the font size to 36 pt.", "将字号设为36点。"),
    ("The Tang dynasty (618–907) was a golden age.", "唐朝（618年—907年）是一个黄金时代。"),
    ("She turned 100 on Monday.", "她周一满100岁了。"),
    ("Sunrise 6:12 Sunset 18:30", "日出6:12日落18:30"),
    ("20:00 Japan vs South Korea", "20:00日本对韩国"),
    ("They won 3:2 on penalties.", "他们3:2点球获胜。"),
    ("I woke up at 2:21.", "我2:21醒来。"),
    ("I woke up at 2:21.", "我在2点21分醒来。"),
    ("I woke up at 7:19.", "我七点十九分醒来。"),
    ("I woke up at 2:05.", "我在两点零5分醒来。"),
    ("The clip lasts 2:21.", "片段长2分21秒。"),
    ("Read Genesis 3:16.", "请读创世记第3章16节。"),
    ("Be here at 2:30, not at 3:30.", "2点30分来，不是3点30分。"),
    ("Take bus 30 at 2:30.", "2点半坐30路车。"),
    ("It is 20°C (68°F).", "20摄氏度（68华氏度）。"),
    ("From 8 a.m. to 5 p.m.", "上午8点到下午5点。"),
    ("I get up at 6.", "我早上6点起床。"),
    ("I am free at 3.", "我下午3点有空。"),
    ("Read John 3:16.", "请读约翰福音第3章第16节。"),
    ("Psalm 91:11 is long.", "诗篇91篇11节很长。"),
    ("I woke up at 7:05.", "我7点零5醒来。"),
    ("They won the last set 25:20.", "他们以25对20赢得最后一局。"),
    ("Open from 9 to 5 p.m.", "上午9点到下午5点开放。"),
    ("Open from 8 a.m. to 17:00.", "上午8点到下午5点开放。"),
    ("It was 40C (104°F).", "气温40℃（104℉）。"),
    ("PM Li met them at 9.", "李总理上午9时会见了他们。"),
    ("On Dec. 5 at 10:12 it rained.", "12月5日10时12分下了雨。"),
    ("It is 20 degrees.", "20摄氏度。"),
    ("In room 2, there were 2 people.", "2号房间里有2个人。"),
    ("Take flight 123.", "请乘坐123次航班。"),
    ("For operator assistance, dial 12345.", "请拨打12345人工热线。"),
    ("Nearly 10cm of snow fell.", "下了近10ｃｍ的雪。"),
    ("Run 100 metres.", "跑100m。"),
    ("60 miles an hour", "每小时60迈"),
    ("It costs 1,000 yen.", "售价￥1000。"),
    # figures that chats write for words
    ("Thx 4 the ride, c u 2nite!", "谢谢你载我，今晚见！"),
    ("r u going 2 the gym", "你去健身房吗"),
    ("Friends 4ever", "永远的朋友"),
    ("2gether 4ever, 2moro and 2day", "永远在一起，明天和今天"),
]
FAULTY = [
    ("They sold 1,500 books.", "他们卖了书。", "number missing", "1,500"),
    ("Profit rose to $45.6m.", "利润增至45.6米。", "number missing", "45.6m"),
    ("He paid ₹85 lakh.", "他付了85卢比。", "number missing", "85 lakh"),
    ("Three quarters of a million came.", "来了7.5万人。", "number invented", "7.5万"),
    ("It costs $5.", "它要价5欧元。", "currency missing", "$"),
    ("It costs 5 €.", "它要价5美元。", "currency missing", "€"),
    ("It costs HK$5.", "它要价5美元。", "currency missing", "HK$"),
    ("It costs 300 CHF.", "它要价300美元。", "currency missing", "CHF"),
    ("It was -5 °C.", "气温是5 °C。", "sign missing", "-"),
    ("Prices rose 30%.", "物价上涨了30元。", "sign missing", "%"),
    ("Two thirds of them agree.", "他们有三分之一同意。", "fraction missing", "Two thirds"),
    ("One in five adults agree.", "六分之一的成年人同意。", "fraction missing", "One in five"),
    ("9 out of 10 cats agree.", "十分之八的猫同意。", "fraction missing", "9 out of 10"),
    ("Open from Mon to Thu.", "周一到周三营业。", "day missing", "Thu"),
    ("Market days: Tue, Thu and Sat", "集市日：周二、周四", "day missing", "Sat"),
    ("It rained on Sunday.", "星期一下了雨。", "day missing", "Sunday"),
    ("Say Привет to him.", "跟他说Приве。", "span mangled", "Привет"),
    (
        "Pay to DE89 3704 0044 0532 0130 00.",
        "付到DE89 0044 3704 0532 0130 00。",
        "span mangled",
        "DE89 3704 0044 0532 0130 00",
    ),
    (
        "Pay to 20-44-51 12345678.",
        "付到20-44-51 12345678，20-44-51 12345678。",
        "span mangled",
        "20-44-51 12345678",
    ),
    ("Only if x >= 3.", "只有x 3。", "span mangled", "x >= 3"),
    ("Call 020 7946 0958.", "拨打020 7946 0985。", "span mangled", "020 7946 0958"),
    ("They sold 1,500 books.", "他们卖了1600本书。", "number missing", "1,500"),
    ("They sold 1,500 books.", "他们卖了1600本书。", "number invented", "1600"),
    ("They sold 1,500 books.", "他们卖了15000本书。", "number invented", "15000"),
    ("They sold 1,500 books.", "他们卖了1500万本书。", "number invented", "1500万"),
    ("It cost $2.3 billion.", "耗资2.3亿美元。", "number missing", "2.3 billion"),
    ("It cost €3.1billion.", "耗资310亿欧元。", "number invented", "310亿"),
    ("Sold for £125m.", "以125万英镑售出。", "number missing", "125m"),
    ("They sold books.", "他们卖了15本书。", "number invented", "15"),
    ("On March 4, 2019 it rained.", "2019年3月5日下了雨。", "number missing", "4"),
    ("On March 4, 2019 it rained.", "2019年4月4日下了雨。", "number missing", "March"),
    ("On March 4, 2019 it rained.", "2019年 月4日下了雨。", "number missing", "March"),
    ("On March 4, 2019 it rained.", "2019年四月4日下了雨。", "number missing", "March"),
    ("On March 4, 2019 it rained.", "2018年3月4日下了雨。", "number invented", "2018"),
    ("In the 1990s it was new.", "在20世纪80年代，它是新的。", "number missing", "1990s"),
    ("In the 1830s it was new.", "在20世纪30年代，它是新的。", "number missing", "1830s"),
    ("In the 19th century it was new.", "在18世纪，它是新的。", "number missing", "19th"),
    ("He left at 3 p.m.", "他下午4点离开。", "number missing", "3 p.m"),
    ("He left at 19:30.", "他晚上九点半离开。", "number missing", "19:30"),
    ("They won 1-0.", "他们以10比0获胜。", "number invented", "10"),
    ("Prices rose 30%.", "物价上涨百分之四十。", "number missing", "30"),
    ("Version 1.2.3 is out.", "版本1.2.4发布了。", "number missing", "1.2.3"),
    ("412 of 5,600 files copied", "已复制412/5,700个文件", "number missing", "5,600"),
    ("A photo has 24 megapixels.", "一张照片有2400像素。", "number missing", "24 megapixels"),
    ("He has 2 cats and two dogs.", "他有猫和两条狗。", "number missing", "2"),
    ("u owe me 4, lol", "你欠我的，哈哈", "number missing", "4"),
    ("I need 2 tickets.", "我要票。", "number missing", "2"),
    ("thx, it takes 2 gb", "谢谢，要占用空间", "number missing", "2"),
    ("lol it took 2 hours", "哈哈，花了几小时", "number missing", "2"),
    ("The U.S. sent 2 the other day.", "美国前几天派出了船只。", "number missing", "2"),
    ("A 4U rack server", "一台机架服务器", "number missing", "4"),
    ("It opened in June two years ago.", "8年前6月开业。", "number invented", "8"),
    ("five per thousand", "5000", "number invented", "5000"),
    ("Go away.", "走开走开走开走开走开。", "repetition", "走开"),
    ("He was hurt.", "他上身部部部部部部受伤。", "repetition", "部"),
    ("He was hurt.", "受伤, 受伤, 受伤, 受伤。", "repetition", "受伤"),
    ("He was badly hurt again.", "He was badly hurt again.", "copy", "He was badly hurt again."),
    ("He was badly hurt again.", "He was hurt.", "copy", "He was hurt."),
    ("He was badly hurt again.", "He was badly 又 hurt。", "copy", "He was badly 又 hurt。"),
    (
        "He was badly hurt again in the long war of that year.",
        "他。",
        "too short",
        "2 characters for 53",
    ),
    ("He was hurt.", "", "too short", "0 characters for 12"),
    ("See a.py, a.py.", "见 a.py。", "span mangled", "a.py"),
    # tags
    ("Press <b>OK</b>.", "请按</b>确定<b>。", "tag misplaced", "</b>"),
    ("A <b>very <i>big</i></b> dog.", "一条<b>很<i>大</b></i>的狗。", "tag misplaced", "</b>"),
    # punctuation
    ("The shop sold 31 hats.", "这家店卖了帽子。31。", "stray punctuation", "31。"),
    ("The shop sold 31 hats.", "31。这家店卖了帽子。", "stray punctuation", "31。"),
    ("He was hurt.", "他受伤了。。", "stray punctuation", "。。"),
    ("He was hurt, but he won.", "他受伤了，，但他赢了。", "stray punctuation", "，，"),
    ("Is he hurt?", "他受伤了吗？。", "stray punctuation", "？。"),
    ("He was hurt.", "。他受伤了。", "stray punctuation", "。"),
    ("He (the boy) was hurt.", "他（那个男孩受伤了。", "stray punctuation", "（"),
    ('"He is hurt," she said.', "他受伤了”，她说。", "stray punctuation", "”"),
    ("He was hurt.", "他" + "受了非常重的伤势而且需要住院" * 3, "too long", "43 characters for 12"),
]


@pytest.mark.parametrize(("source", "translation"), FAITHFUL)
def test_nothing_is_wrong_with(source: str, translation: str) -> None:
    assert faults(source, translation) == []


@pytest.mark.parametrize(("source", "translation", "kind", "detail"), FAULTY)
def test_it_is_wrong_with(source: str, translation: str, kind: str, detail: str) -> None:
    assert Fault(kind, detail) in faults(source, translation)


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("It is 1,000 miles and 7 days away.", "距离1000英里（约1 600公里）。"),
        ("It is half a mile and 7 days away.", "距离半英里（约4/5公里）。"),
    ],
)
def test_a_conversion_in_brackets_is_not_invented_where_another_number_is_missing(
    source: str, translation: str
) -> None:
    assert faults(source, translation) == [Fault("number missing", "7")]


def test_every_kind_of_fault_has_an_example() -> None:
    assert {kind for _, _, kind, _ in FAULTY} == {*KINDS} - {TERM}


def test_a_fault_reads_as_a_line() -> None:
    assert str(Fault("number missing", "1,500")) == "number missing: 1,500"


numbers = st.integers(2, 10**9)


@given(numbers)
def test_the_right_number_is_never_a_fault(n: int) -> None:
    forms = [str(n), f"{n:,}"] + ([f"{n / 10**4:.4f}万"] if n >= 10**4 else [])
    for form in forms:
        assert faults(f"There were {n:,} people there.", f"那里有{form}人。") == []


@given(numbers, numbers)
def test_a_wrong_number_always_is(n: int, other: int) -> None:
    assume(n != other)
    found = faults(f"There were {n:,} people there.", f"那里有{other}人。")
    assert [fault.kind for fault in found] == ["number missing", "number invented"]


@given(numbers, st.sampled_from(["0", "万", "亿"]))
def test_a_scaled_number_always_is(n: int, scale: str) -> None:
    assert len(faults(f"There were {n:,} people there.", f"那里有{n}{scale}人。")) == 2


@pytest.mark.parametrize(
    "unit",
    [
        "9",
        "1,",
        "二",
        "a",
        "ab ",
        "三四百",
        "好了",
        "2/",
        "3岁",
        "call 1, ",
        "12:30天",
        "word 3 ",
        "4 the ",
        "two 3 ",
        "two hundred 3 ",
        "Jan 3 ",
        "abcdefgh" * 8,
        " ",
        "，",
    ],
)
def test_long_lines_are_no_trouble(unit: str) -> None:
    line = unit * (10_000 // len(unit))
    start = time.process_time()
    faults(line, line)
    faults("one word", line)
    faults(line, "好")
    seconds = time.process_time() - start
    assert seconds < 3  # it takes half a second, and would take longer if it were quadratic


# --- other directions ---


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("我有三只猫和两条狗。", "I have 3 cats and two dogs."),
        ("他2019年来的。", "He came that year."),
        ("你好吗？", "How are you doing today, my dear old friend and fellow traveller?"),
        ("为什么？", "Why,, why not?"),
    ],
)
def test_no_check_of_english_into_chinese_serves_another_direction(
    source: str, translation: str
) -> None:
    assert faults_in(source, translation, ("zh", "en")) == []
    assert faults(source, translation)


@pytest.mark.parametrize(
    ("source", "translation", "fault"),
    [
        ("见 https://a.b/c?d=1 。", "See https://a.b/c?d=2 .", "span mangled"),
        ("点<b>这里</b>。", "Click </b>here<b>.", "tag misplaced"),
        ("我爱你。", "I love you, I love you, I love you, I love you", "repetition"),
        ("我爱你。", " ", "too short"),
    ],
)
@pytest.mark.parametrize("direction", [("zh", "en"), ("en", "zh"), ("de", "fr")])
def test_what_holds_for_any_two_languages_is_checked_in_every_direction(
    source: str, translation: str, fault: str, direction: tuple[str, str]
) -> None:
    assert fault in ANY_DIRECTION
    assert fault in {found.kind for found in faults_in(source, translation, direction)}
