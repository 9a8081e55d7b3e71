"""Lines to train and test tokenizers on, and texts that are hard for them."""

from hypothesis import strategies as st

LINES = [
    "我喜欢喝茶，你呢？",
    "今天 10:30 在火车站见。",
    "汤姆说：“别忘了带伞！”",
    "I like tea, and you?",
    "<B>x <unk> </s> <0x41>",
    "2024 年有 366 天（闰年）。",
]
PARTS = [
    *" ▁_我们喜欢喝茶，。！？（）“”…—·、的了Tom's cAn't10:30.5%<>#@\u200d\u2028e\u0301\u0e33क\u094d한𠮷",
    *(
        "<B>",
        "<unk>",
        "</s>",
        "<0x41>",
        "👨\u200d👩\u200d👧",
        "🇨🇳",
        "1\ufe0f\u20e3",
        "مرحبا",
        "e\u0302\u0301",
        "n't",
        " ⁇ ",
    ),
]
NASTY = st.lists(st.sampled_from(PARTS) | st.characters(exclude_categories=["Cs"])).map("".join)
