"""Whom and what the toy corpus speaks of: tables of pronouns, people and nouns, by word class."""

# subject, object, possessive, form of be, Chinese
PRONOUNS = [
    ("I", "me", "my", "am", "我"),
    ("you", "you", "your", "are", "你"),
    ("he", "him", "his", "is", "他"),
    ("she", "her", "her", "is", "她"),
    ("we", "us", "our", "are", "我们"),
    ("they", "them", "their", "are", "他们"),
]

# name, the pronoun for later mentions, Chinese
PEOPLE: dict[str, list[tuple[str, str, str]]] = {
    "peer": [
        ("Tom", "he", "汤姆"),
        ("Mary", "she", "玛丽"),
        ("Jack", "he", "杰克"),
        ("Anna", "she", "安娜"),
        ("Li Hua", "he", "李华"),
        ("Wang Ming", "he", "王明"),
        ("my sister", "she", "我妹妹"),
        ("my brother", "he", "我弟弟"),
        ("my friend", "he", "我朋友"),
    ],
    "elder": [
        ("Mr Zhang", "he", "张先生"),
        ("my mother", "she", "我妈妈"),
        ("my father", "he", "我爸爸"),
        ("my grandfather", "he", "我爷爷"),
    ],
    "group": [
        ("the teacher", "she", "老师"),
        ("the children", "they", "孩子们"),
    ],
}

# singular, measure word, Chinese
NOUNS: dict[str, list[tuple[str, str, str]]] = {
    "shop": [
        ("bank", "家", "银行"),
        ("library", "家", "图书馆"),
        ("supermarket", "家", "超市"),
        ("restaurant", "家", "饭馆"),
        ("museum", "家", "博物馆"),
        ("cinema", "家", "电影院"),
    ],
    "place": [
        ("park", "个", "公园"),
        ("hospital", "家", "医院"),
        ("station", "个", "车站"),
        ("school", "所", "学校"),
        ("hotel", "家", "酒店"),
        ("market", "个", "市场"),
    ],
    "clothes": [
        ("coat", "件", "外套"),
        ("shirt", "件", "衬衫"),
        ("sweater", "件", "毛衣"),
        ("scarf", "条", "围巾"),
        ("hat", "顶", "帽子"),
        ("bag", "个", "包"),
    ],
    "gadget": [
        ("umbrella", "把", "雨伞"),
        ("watch", "块", "手表"),
        ("phone", "部", "手机"),
        ("camera", "台", "相机"),
    ],
    "paper": [
        ("book", "本", "书"),
        ("newspaper", "份", "报纸"),
        ("dictionary", "本", "词典"),
        ("map", "张", "地图"),
        ("photo", "张", "照片"),
        ("ticket", "张", "票"),
        ("pen", "支", "钢笔"),
        ("key", "把", "钥匙"),
        ("cup", "个", "杯子"),
    ],
    "large": [
        ("bicycle", "辆", "自行车"),
        ("car", "辆", "车"),
        ("computer", "台", "电脑"),
    ],
    "pet": [
        ("dog", "只", "狗"),
        ("cat", "只", "猫"),
    ],
    "drink": [
        ("cup of tea", "杯", "茶"),
        ("cup of coffee", "杯", "咖啡"),
        ("glass of milk", "杯", "牛奶"),
        ("glass of juice", "杯", "果汁"),
        ("bottle of water", "瓶", "水"),
    ],
    "dish": [
        ("apple", "个", "苹果"),
        ("orange", "个", "橙子"),
        ("egg", "个", "鸡蛋"),
        ("bowl of rice", "碗", "米饭"),
        ("bowl of noodles", "碗", "面条"),
        ("piece of bread", "片", "面包"),
        ("piece of cake", "块", "蛋糕"),
    ],
}
