"""Ten Chinese sentences, and what a middling system might make of them."""

from nmt.evaluation.metrics import METRICS

# Those that need no file beside sacrebleu.
OUR_METRICS = [name for name in METRICS if not name.startswith("bleu_flores")]

REFERENCES = [
    "我每天早上喝一杯热茶。",
    "你知道去火车站怎么走吗？",
    "她说：“明天会下雨，别忘了带伞。”",
    "这本书我已经读了三遍。",
    "他们在公园里等了两个小时。",
    "请把窗户关上，外面太吵了！",
    "我弟弟想学习Python和法语。",
    "会议从9:30开始，大约持续1.5个小时。",
    "冰箱里没有牛奶了……",
    "谢谢你的帮助。",
]
HYPOTHESES = [
    "我每天早晨喝一杯茶。",
    "你知道怎么去火车站吗?",
    "她说: “明天要下雨，不要忘记带伞.”",
    "我已经读过这本书三遍了。",
    "他们在公园等了两小时。",
    "请关上窗户, 外面太吵了!",
    "我的弟弟想学 Python 和法语。",
    "会议9:30开始, 持续大约1.5小时。",
    "冰箱里没有牛奶了...",
    "谢谢你的帮助。",
]
