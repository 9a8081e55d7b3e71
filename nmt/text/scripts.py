"""Han characters: what they are, and whether a line is in Simplified or Traditional Chinese."""

import re

# The inside of a set of characters: with 々 and 〇, the extensions, and the compatibility forms.
HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HAS_HAN = re.compile(f"[{HAN}]")
# Letters of scripts that are neither Latin nor Han, with their vowel signs.
_OTHER_LETTERS = (
    "\u0370-\u037d\u037f-\u1cff\u1f00-\u1fff"  # Greek to Vedic, Greek with accents
    "\u3041-\u30fa\u30fc-\u30ff\u3131-\u318e"  # kana, Hangul
    "\ua4d0-\uabff\uac00-\ud7a3"  # Lisu to Meetei Mayek, Hangul
    "\ufb1d-\ufdff\ufe70-\ufefc"  # Hebrew and Arabic
)
_OTHER_WORD = f"[{_OTHER_LETTERS}] [{_OTHER_LETTERS}{HAN}\u200c\u200d]*"
CHINESE_WORD = re.compile(f"《? [{HAN}]+ 》?", re.VERBOSE)
# Words that English text has from elsewhere: 《红楼梦》, 北京, Привет, 東京タワー. A Greek letter alone is a sign.
FOREIGN_WORDS = re.compile(
    f"""
    《 [{HAN}]+ 》
  | [{HAN}]* (?! [α-ωΑ-Ω] (?! [{_OTHER_LETTERS}] ) ) {_OTHER_WORD} (?: [ -] {_OTHER_WORD} )*
  | [{HAN}]+
    """,
    re.VERBOSE,
)

# The 500 most frequent characters that Simplified text does not have (OpenCC's tables, less GB
# 2312): 92 % of all occurrences, so that hardly a sentence has none. What both scripts use, as 著 乾
# 後, is not among them.
_TRADITIONAL_ONLY = re.compile(
    "["
    "們個這國來為會時對將發說從華過亞與動開裏爲並間進經沒現長麼機給當樣學無見應兒車實業員嗎關説設約數種話兩內電頭點還"
    "問場體項該湯門爾區議裡請帶圖選產許資羅標馬隊網務計聯據領權認聽邊題備戰處歡別記條書義報類確結變隻讓導擊觀論總離運"
    "統達強證組顯決單賽軍萬語氣樂護聖愛裝視東獻蘭幾續風創號親濟瑪稱眾聲術樹張碼傳維寫戶試轉惡預線參調穌級舉遠獲難願際"
    "協隨製準團識倫節遊質歐紅滿卻圍規幫驗擇猶連殺況輕訴婦須納爭銀週費園衛飛則羣價織師劃構極專營錄屬誰醫響歸辦幣佈夠斷"
    "環滅測輛責僕廣臨復覺靈貢錯錢習歲臺農畫頓麗終勢絡隱薩紀絕謝獨狀衆熱買孫編賜採藍細僅讀繼塊禮適奧興黨財擔層館輸險榮"
    "築評減頂覽庫敗雙監郵尋盤諾歷態牆審鐘鐵壇訓綠嚴敵職負載執檢壞戲魚掃傷寶黃潔講腦蓋堅腳訪喫燈燒貨陽賬棄優誤毀換剛勝"
    "淨壓積緊樓災衝頁誌頻儘帳談擁攝億儲驚盡鳥島較鍵雲騎麥討藝鏡養廳劇鎖課筆輯勞範閉飾瀏繫軟彈啓餘係貿烏擴趕魯飯額貓顧"
    "餅雖補簡龍刪紙髮萊購佔複慮蘇豈輪礎釋臉療穩奪觸舊異鮮練鏈櫃勵駛脫雜稅擺訂順針競貼鬥籤廠葉聞媽贖灘懷牀諸慶藥貧損亂"
    "獎側貝掛債賣虛揮罰廚階鋼窮銷詞夢陸殘礦讚鑑貴蟲禱檔幹違溫嘗廢寬蹤懼橋槍陣圓誠緣雞獸漸宮紹閱駕搖簽銅曠註禍"
    "]"
)


def is_traditional(text: str) -> bool:
    """Whether a character is in the text that only Traditional Chinese has."""
    return _TRADITIONAL_ONLY.search(text) is not None


def without_foreign_words(text: str) -> str:
    """A text without its words in other scripts than Latin."""
    return FOREIGN_WORDS.sub("", text)
