"""Codes that identify something, and formulas: a changed sign in them is worse than a missing sentence.

The patterns are fragments for `re.VERBOSE` without groups of their own. The forms are those of ISO 13616 (IBAN),
ISO 8601 (time), RFC 9562 (UUID), RFC 4291 (IPv6), ITU-T E.123 (telephone numbers), and what people write.
Repetitions have bounds, so that the time grows as the length of a line.
"""

from nmt.numbers.currencies import CODES

# --- names of machines and files ---

_HEX = r"[\da-fA-F]"
_UUID = rf"{_HEX}{{8}} (?: -{_HEX}{{4}} ){{3}} -{_HEX}{{12}}"
# Letters and digits: 3f2a9c1
_HASH = r"""(?:
    (?= \d{0,60} [a-f] ) (?= [a-f]{0,60} \d ) [\da-f]{7,128}
  | (?= \d{0,60} [A-F] ) (?= [A-F]{0,60} \d ) [\dA-F]{8,128}
)"""
# Of both cases and digits: keys, SHA256:…, addresses of purses
_KEY = r"""
    (?= [^\s\d]{0,40} \d ) (?= [^\sa-z]{0,40} [a-z] ) (?= [^\sA-Z]{0,40} [A-Z] ) (?! [A-Za-z]+ [/:=] )
    [A-Za-z\d+/_=-]{20,200} (?<= [A-Za-z\d=] )
"""
_MAC = rf"""(?:
    {_HEX}{{2}} (?: (?: :{_HEX}{{2}} ){{5}} | (?: -{_HEX}{{2}} ){{5}} )   # 00:1B:44:11:3A:B7
  | [\da-f]{{4}} (?: \.[\da-f]{{4}} ){{2}}                             # 001b.4411.3ab7
)"""
_IPV4 = r"\d{1,3} (?: \.\d{1,3} ){3} (?: :\d{1,5} | /\d{1,2} )?"
_HEXTETS = rf"(?: {_HEX}{{1,4}} (?: :{_HEX}{{1,4}} ){{0,6}} )?"
_IPV6 = rf"""(?:                                              # 2001:db8::1, [::1]:8080, fe80::/10
    \[? (?: (?: {_HEX}{{1,4}} : ){{7}} {_HEX}{{1,4}} | :: (?: ffff: )? \d{{1,3}} (?: \.\d{{1,3}} ){{3}}
      | {_HEXTETS} :: {_HEXTETS} )
    (?: \] (?: :\d{{1,5}} )? )? (?: /\d{{1,3}} )?
)"""
_COLOUR = rf"""(?:
    \# (?: {_HEX}{{8}} | {_HEX}{{6}} | {_HEX}{{3}} )              # #ff8800
  | (?: rgb | hsl | cmyk ) a? \( [\d.,%°/ ]{{1,40}} \)          # rgb(255, 0, 0)
)"""

# --- accounts, people and things ---

_IBAN = r"[A-Z]{2}\d{2} (?: [ ] [A-Z\d]{4} ){2,7} (?: [ ] [A-Z\d]{1,3} )?"
_TAX = r"""
    (?! (?: ISO | RFC ) \b ) [A-Z]{2,4} [ -] \d{2,4} (?: [ .] \d{2,9} ){1,4}   # GB 123 4567 89, CHE-123.456.789
  | \d{1,3} (?: \.\d{3} ){1,3} - [\dA-Z]{1,2}                                # 14.582.309-K
"""
# Of capitals and digits: PO-2024-0117, A1B2-C3D4-E5F6
_GROUPS = r"""
    (?= [A-Z-]{0,60} \d ) (?= [\d-]{0,60} [A-Z] ) [A-Z\d]{1,20} (?: -[A-Z\d]{1,20} ){2,9}
"""
_ISBN = r"(?= (?: \d [ -]? ){9} ) (?: 97[89] [ -] )? \d{1,5} [ -] \d{1,7} [ -] \d{1,7} [ -] [\dX]"
_ORCID = r"\d{4} (?: -\d{4} ){2} -\d{3}[\dX]"
# What looks like a word or like years, behind its label.
_AFTER_BANK = (
    r"(?: (?<= (?:BIC|IFT)[ :] ) | (?<= (?:BIC|IFT)[ ][(] ) | (?<= (?:BIC|IFT)[ ]code[ ] ) )"
)
_LABELLED = rf"""(?:
    {_AFTER_BANK} [ ]? [A-Z]{{6}} [A-Z\d]{{2}} (?: [A-Z\d]{{3}} )?           # BIC NDEASESS, SWIFT code …
  | (?<= ISSN[ :] ) [ ]? \d{{4}}-\d{{3}}[\dX]
)"""
_PAPER = r"""(?:
    (?: doi: [ ]? )? 10\.\d{4,9} / [^\s<>"，。；、（）]{1,99} (?<! [.,;:?!)'] )
  | arXiv: [ ]? \d{4}\.\d{4,5} (?: v\d{1,2} )?
  | (?: arXiv: [ ]? )? [a-z-]{2,10} (?: \.[A-Z]{2} )? / \d{7} (?: v\d{1,2} )?          # hep-th/9904187
)"""
_PATENT = r"""
    (?: US | EP | WO | JP | CN | DE | FR | GB | KR ) [ ]? \d (?: [,/ ]? \d ){4,12} [ ] [A-Z]\d?    # US 10,482,917 B2
"""
_STANDARD = r"""
    (?: ANSI | ASTM | BS | DIN | EAN | EN | GB/T | IEC | IEEE | IMEI | IMO | ISO | JIS | PMID | RAL | RFC | SAE | UPC )
    (?: / (?: IEC | IEEE | TS | TR ) )? [ ] \d[\d.-]{0,20} (?<! [.-] ) (?: :\d{4} )?               # ISO/IEC 27001:2022
"""
_YEAR = r"(?: 1[89] | 20 ) \d\d"
_NO_DATE = rf"(?! {_YEAR} [ -] (?: {_YEAR} | \d\d-\d\d ) (?! \d ) )"  # 2019-2020, 2019-03-04
_NO_NUMBERS = r"""
    (?! [1-9]\d (?: [ ]\d\d ){1,9} (?! \d ) | \d{1,3} (?: [ ]\d{3} ){1,9} (?! [ ]?\d ) )   # 20 30 40, 17 002 187
"""
_TELEPHONE = rf"""(?:
    {_NO_DATE}
    (?: \+ \d{{1,4}} [ .-]? \(? \d{{1,5}} \)? (?: [ .-] \d{{2,8}} ){{1,5}}     # +1 (555) 010-9999
      | \+ \d{{8,15}}                                                      # +4915112345678
      | \( \d{{2,5}} \) [ -]? \d{{2,8}} (?: [ .-] \d{{2,5}} ){{0,4}}          # (020) 7946 0958
      | (?= (?: \d [ -]? ){{7}} ) {_NO_NUMBERS}
        \d{{2,6}} (?: [ -] \d{{2,8}} ){{1,5}} [ -] \d{{2,10}}                # 020 7946 0958, cards, accounts
      | (?= (?: \d \.? ){{9}} ) \d{{2,4}} (?: \.\d{{2,4}} ){{2,5}}            # 01.23.45.67.89
      | 0\d{{2,4}} [ /-] \d{{5,9}}                                         # 07911 123456
      | 0\d{{2,4}} / \d{{2,8}} - \d{{1,8}}                                   # 030/2093-70333
      | \d{{3}} - \d{{4}}                                                  # 555-0199
    )
    (?: [ ] (?: x | ext\.? | extension ) [ ]? \d{{1,5}} )?
)"""
_HIDDEN = r"(?: [*xX•]{4} [ -]? ){1,3} \d{4}"  # **** **** **** 5083
# Units, eras and zones of time, and currencies, which are amounts.
_NO_PLATE = rf"""(?:
    {"|".join(CODES)} | BCE | BTU | CET | DPI | EST | FPS | GMT | KWH | MHZ | PPM | PSI | PST | RPM | UTC
) \b"""
_POSTCODE = rf"""(?:
    [A-Z]{{1,2}}\d[A-Z\d]? [ ] \d[A-Z]{{2}}                                 # SW1A 1AA
  | [A-Z]\d[A-Z\d] [ ] (?= [A-Z]{{0,3}}\d ) (?= \d{{0,3}}[A-Z] ) [A-Z\d]{{4}}    # D08 X4N7
  | [A-Z]\d[A-Z] [ ] \d[A-Z]\d                                           # K1A 0B1
  | \d{{5}}-\d{{4}}                                                       # 20500-0003
  | (?! [A-Z]{{3}} [ ] {_YEAR} | {_NO_PLATE} ) [A-Z]{{3}} [ ] \d{{4}}         # VLT 1512, of a place or a car
  | (?! {_YEAR} [ ] ) \d{{4}} [ ] (?! {_NO_PLATE} ) [A-Z]{{3}}             # 6093 LKJ, but not the 2018 NFL draft
)"""
_MONTHS = "Jan | Feb | Mar | Apr | May | Jun | Jul | Aug | Sep | Oct | Nov | Dec"
_CASE = rf"""                                                 # 2:23-cv-04816, but not 1990-to-2000
    (?= [\d:-]{{1,12}} [A-Za-z] ) (?= (?: [^\s\d]{{0,9}} \d ){{5}} )
    \d{{1,9}} (?: [:-]\d{{1,9}} )? -
    (?! (?: to | for | by | on | and | or | of | in | per | year | {_MONTHS} ) - )
    [A-Za-z]{{1,6}} (?: -[\dA-Za-z]{{1,12}} ){{1,4}}
"""
# Letters and digits that no dictionary has as a word; but 3m48s is a time, 20x66mm a size, FY2018 a year.
_PART = r"""(?:
    (?! \d{1,3}[dhm]\d | \d{1,9}[xX]\d{1,9} (?! [xX]? \d ) )
    \d{1,9} [A-Za-z]{1,9} \d [A-Za-z\d]{0,63}                # 74HC595, 1N4148
  | (?! [FC]Y | [A-Z]{3} (?:19|20)\d\d\b ) [A-Z]{1,9} \d{3,30} [A-Z\d]{0,30}      # BA2490
  | [A-Za-z]{1,9} \d{1,9} [A-Za-z]{1,9} \d [A-Za-z\d]{0,63}                      # NL0042667788B01
  | (?= [A-Z\d]{0,16} \d{2} ) [A-HJ-NPR-Z\d]{17}                                 # of a vehicle
  | \d{3} / \d\d [ ]? Z?R \d\d (?: [ ] \d{2,3}[A-Z] )?                            # 225/45R17 94W, a tyre
) (?: [/-] [A-Z\d]{1,9} ){0,3}"""

# A kind and a colon, groups and hyphens: sha256:…, 28-0316a279c4ff
_BEFORE = r"(?: urn: )? (?: [A-Za-z\d]{2,10}: )? (?: [A-Z\d]{1,9}- ){0,3}"

# --- places and times ---

_SMALL = r"[ ]? \d{1,2} (?: \.\d{1,9} )?"
_DEGREES = rf"""
    \d{{1,3}} (?: \.\d{{1,9}} )? ° (?: {_SMALL} ['′’] (?: {_SMALL} ["″”] )? )? [ ]? [NSEW] \b
"""
_PLACE = rf"""(?:
    {_DEGREES} ,? [ ] {_DEGREES}                                        # 48°51'24"N 2°21'03"E
  | [-−]? \d{{1,3}} \.\d{{3,9}} ,[ ]? [-−]? \d{{1,3}} \.\d{{3,9}}               # 51.5074, -0.1278
)"""
_UTC = r"(?: UTC | GMT )"
_ZONE = rf"""(?:
    Z \b | [+-]\d\d (?: :?\d\d )? | [ ][+-]\d{{4}} | [ ]? {_UTC} (?: [ ]? [-+−] [ ]? \d{{1,2}} (?: :?\d\d )? )? \b
)"""
_TIME = rf"""(?:
    \d{{4}}-\d\d-\d\d [T ] \d\d:\d\d (?: :\d\d (?: [.,]\d{{1,9}} )? )? {_ZONE}?   # 2024-03-05T14:30:00Z
  | \d{{1,2}}:\d\d (?: :\d\d )? {_ZONE}                                       # 14:00 UTC+8
  | {_UTC} [-+−] \d{{1,2}} (?: :?\d\d )?                                      # UTC+08:00
)"""

# --- chess and formulas ---

_SQUARE = "[a-h][1-8]"
_MOVE = rf"""(?:
    (?: (?: [KQRBN] [a-h]? [1-8]? x? | [a-h]x )? {_SQUARE} (?: =[QRBN] )? | O-O (?: -O )? )
    [+\#]? [!?]{{0,2}} (?! \w )
)"""
_CHESS = rf"""(?:
    \d{{1,3}} \. (?: \.\. )? [ ]? {_MOVE} (?: [ ] (?: \d{{1,3}} \. [ ]? )? {_MOVE} ){{0,40}}   # 1. e4 e5 2. Nf3
  | [KQRBN] [a-h]? [1-8]? x {_SQUARE} [+\#]?                                             # Qxf7#
  | O-O-O
  | (?: [pnbrqkPNBRQK1-8]{{1,8}} / ){{7}} [pnbrqkPNBRQK1-8]{{1,8}}                            # a position
    (?: [ ] [wb] [ ] [KQkq-]{{1,4}} [ ] (?: - | {_SQUARE} ) [ ] \d{{1,3}} [ ] \d{{1,3}} )?
)"""
_POWER = r"(?: \^ (?: [-−]? \w{1,4} | \( [-−]? \w{1,4} \) ) | \*\* \w{1,4} | [²³⁰¹⁴-⁹] )"
_NUMBER = r"[-−+]? \d{1,15} (?: [.,]\d{1,15} ){0,5} %?"
_VARIABLE = r"""(?:
    [A-Za-z]\w{0,9} \[ [\w+-]{1,20} \]                                # a[i+1]
  | [A-Za-zα-ωΑ-Ω] (?: _?\d{1,2} | _\{? \w{1,9} \}? )? (?! [\w'’] )   # x, x_1
  | (?! ALT | CTRL | CMD | SHIFT ) [A-Z]{2,5} \b (?! [ ]/ )             # GDP, but not GSM / LTE
  | [a-z]{1,3} \( \w{1,9} \)                                         # f(x)
)"""
_TERM = rf"""(?:
    \d{{0,9}} [A-Za-z]{{1,3}} {_POWER} | \d{{1,9}} [a-z] \b | {_NUMBER} {_POWER}? | {_VARIABLE} {_POWER}?
)"""
_COMPARES = r"(?: [<>=!]= | [<>=≤≥≠≈] | := )"
# Between spaces; a hyphen between words is none.
_OPERATES = (
    rf"(?: {_COMPARES} | [+*×÷^/±·−] | (?: (?<= [a-z²³)][ ] ) | (?<= \^\d[ ] ) ) - | && | \|\| )"
)
_CALCULATES = rf"(?: [ ] {_OPERATES} [ ] | [<>=!]= | [=≤≥≠≈] | [<>] (?=\d) | [+*×÷^±] )"
_OPERAND = rf"(?: {_TERM} | \( {_TERM} (?: {_CALCULATES} {_TERM} ){{1,9}} \) {_POWER}? )"
# Of variables; not "the == operator"
_WORD = r"""(?: an? | and | are | as | by | because | called | comparison | enhances | expressions? | for | if | in
    | is | of | on | operat\w+ | or | returns? | signs? | than | the | to | unless | use | using | when | with ) \b"""
_NAME = rf"(?! {_WORD} ) [A-Za-z_] \w{{0,30}} (?: \.\w{{1,30}} ){{0,3}}"
_NO_SCALE = r"(?! [ ]? (?: hundred | thousand | [mbtr]+illion | [kmb]n? \b ) | [–-]\d )"  # ±3 million, ±5–10
_FORMULA = rf"""(?:
    {_OPERAND} (?: {_CALCULATES} {_OPERAND} ){{1,20}}                # x + y > 4
  | (?: {_COMPARES} | ± ) [ ]? {_NUMBER} {_NO_SCALE} (?: ,[ ]? {_COMPARES} [ ]? {_NUMBER} ){{0,5}}    # >=1.19,<2.0
  | {_NAME} [ ] (?: [=!]= | && | \|\| | [<>]= ) [ ] (?: {_NUMBER} | {_NAME} )        # left != right
)"""

# 2H2 + O2 -> 2H2O
_ATOM = r"[A-Z][a-z]?\d{0,2}"
_MOLECULE = rf"\d{{0,2}} (?: {_ATOM} | \( (?: {_ATOM} ){{1,5}} \) \d{{0,2}} ){{1,9}} (?! [a-z] )"
_SIDE = rf"{_MOLECULE} (?: [ ][+][ ] {_MOLECULE} ){{0,6}}"
_REACTION = rf"{_SIDE} [ ]? (?: -+> | <-+> | [=⇌→] ) [ ]? {_SIDE}"

# --- all ---

_STARTS = r"(?<! [\w.,:/+#@&$£€¥-] ) (?<! \d[ ] )"
_ENDS = r"(?! \w | [.,:/-]\d | -\w )"
# Most words are seen at once to be no code: a digit is near, or a sign of a formula, or it has a label.
_MAY_BE = rf"""(?=
    [^\s\d]{{0,40}}+ \d | [A-Z/*xX•]{{2,8}}+ [ ] [\dxX*•] | [<>=!≤≥≠≈±:]
  | [\w\[\](){{}}α-ωΑ-Ω²³]{{1,20}}+ (?: [ ]? {_OPERATES} | [ ] (?: - | <?-+> | ⇌ | → ) ) | O-O
  | {_AFTER_BANK}
)"""
# Kinds that begin alike are in the order in which they are to be tried.
CODE = rf"""(?a: {_STARTS} {_MAY_BE}
    (?: {_CHESS} | {_REACTION}
      | {_BEFORE} (?: {_UUID} | {_HASH} | {_PART} | {_KEY} ) | {_MAC} | {_IPV4} | {_IPV6} | {_COLOUR}
      | {_TIME} | {_PLACE}
      | {_IBAN} | {_TAX} | {_PAPER} | {_ORCID} | {_ISBN} | {_LABELLED}
      | {_PATENT} | {_STANDARD} | {_HIDDEN}
      | {_GROUPS} | {_TELEPHONE} | {_POSTCODE} | {_CASE}
      | {_FORMULA}
    ) {_ENDS}
)"""
