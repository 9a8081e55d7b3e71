"""How figures are written in English and in Chinese: fragments for `re.VERBOSE`.

Their repetitions have bounds, for nobody writes more digits: otherwise the time would grow as the square of a line's
length.
"""

FRACTIONS = "½¼¾⅓⅔⅛"
FIGURES = rf"""(?:
    (?: \d{{1,3}} (?: [,， ] \d{{3}} ){{1,9}} (?!\d)  # 1,000 or 1 000
      | \d{{1,30}}                                 # 1000
    )
    (?: \.\d{{1,30}}                               # 2.5
      | [{FRACTIONS}]                             # 2½
    )?
)"""
CLOCK = r"""(?P<clock>
    (?<!\d) \d\d?
    (?: [:.] \d\d (?= \s? [ap]\.?m\b )         # 4.40 a.m.
      | (?: :\d\d ){1,2} (?!\d)                # 15:30 or 15:30:59
    )
)"""
DIVIDED = r"""(?P<divided>
    \d{1,30}
    (?: (?: \.\d{1,30} ){2,3}                  # 1.2.3
      | / \d{1,3} (?: ,\d{3} ){1,9} (?!\d)    # 412/5,600
      | (?: /\d{1,30} ){1,2}                   # 2/3 or 3/4/2019
    )
)"""

# Full-width figures and marks, and narrow and no-break spaces, as ASCII.
# A full-width comma stays: 1，500 may be one number, but 2/3，120 is two.
FOLD = str.maketrans("０１２３４５６７８９．％：／－\xa0\u202f\u2009", "0123456789.%:/-   ")
