"""What protected spans look like: fragments of patterns, one for each kind."""

from html.entities import name2codepoint

from nmt.spans.codes import CODE
from nmt.text.scripts import HAN

CHINESE = f"{HAN}（《〈【「『）》〉】」』，。；：？！、“”‘’…—"  # a neighbour of these is Chinese; they end a URL

# The patterns are fragments for `re.VERBOSE` without groups of their own. Repetitions have bounds
# where a match could begin anywhere: otherwise the time would grow as the square of a line's length.
_CODE = r"""(?a:
    (?<![\w`])                                                  # not don`t
    (?: `{3} (?!\s) [^`]{1,999} (?<!\s) `{3}                    # ```x = f(y)```
      | `{2} (?!\s) [^`]{1,999} (?<!\s) `{2}                    # not ``so,'' he said, ``so''
      | ` (?!\s) [^`]{1,999} (?<!\s) `                          # not `so' and `so'
    )
    (?! ` | (?!s\b)\w )
)"""
# A line of Markdown that opens or closes a block of code, and what a line of a quotation or of a task list begins with.
_BLOCK = r"""(?a:
    \A (?: [ ]{0,9} (?: `{3,9} | ~{3,9} ) [ ]? [\w+#.-]{0,30} \s{0,9} \Z   # ```python
      | (?: [ ]{0,3} > (?!=) [ ]? ){1,9} (?=\S)                   # > He said
      | [ ]{0,9} [-*+] [ ] \[ [ xX] \] [ ] (?=\S)                 # - [x] Done
    )
)"""
_IMAGE = r"! (?= \[ [^][]{0,99} \] \( )                         # of ![a cat](cat.png)"
# don&#39;t: a part of an English word, for which Chinese has no use
APOSTROPHE = r"(?<= [A-Za-z] ) & (?: \#0?39 | \#x27 | apos | rsquo | \#8217 ) ; (?= [A-Za-z] )"
_ENTITY_NAMES = "|".join(sorted(name2codepoint, key=len, reverse=True))  # not R&D;
_MARKUP = rf"""
    </? [A-Za-z] [^<>]* >                                       # <b class="x">, </b>
  | <!-- .{{0,999}}? -->
  | <% .{{0,999}}? %>                                             # <%= name %>
  | (?! {APOSTROPHE} ) & (?: \#\d{{1,9}} | \#x[\da-fA-F]{{1,9}} | {_ENTITY_NAMES} ) ; # &#39; &#x27; &nbsp;
"""
_FORMAT = r"""
    \{{2,3} [^{}]{1,99} \}{2,3}                                 # {{count}}, {{ user.name }}
  | [$\#%]? \{ [^{}\s]* \}                                      # {0}, ${HOME}, #{name}
  | \{ (?: [ ]? \w{1,99} , [^{}]{1,99} | [ ] [\w.]{1,99} [ ] ) \} # {0, number}, { name }
  | % \( \w+ \) [-+ #0]{0,5} \d{0,5} (?: \.\d{1,5} )? [a-zA-Z]  # %(name)d
  | %%
  | (?<!\d) % (?: \d{1,2} \$ )? [-+#0]{0,5} \d{0,5} (?: \.\d{1,5} )?
    (?: hh? | ll? | [zjtL] )? [sdiufgxXcn@] (?! [A-Za-z]{3} )    # %s, %.2f, %1$s, %lu, %dpx
  | (?<!\d) % L? [1-9] \d? (?! [\w$] | \.\d )                   # %1, as Qt has it
"""
_URL = rf"""
    (?: (?<![A-Za-z]) [A-Za-z][A-Za-z\d+.-]{{0,30}} ://          # https://a.org/b
      | (?<![A-Za-z\d]) (?i:www)\. (?=[A-Za-z\d])              # www.a.org, not Awww...
      | mailto:                                                 # mailto:a@b.org
    )
    (?: [^\s<>"(){CHINESE}] | \( [^\s<>"(){CHINESE}]{{0,99}} \) )+
    (?<! [.,;:!?\]'*] )
"""
_EMAIL = r"""(?a:
    (?<![\w.+-]) [\w.+-]{1,64} @
    [A-Za-z\d-]{1,63} (?: \.[A-Za-z\d-]{1,63} )+
  | (?<![\w.+-]) (?= [a-z]{0,60} [\d._] ) [\w.+-]{3,64} @ [a-z][a-z\d]{2,30} \b      # tom.b47@bank
)"""
_PATH = r"""(?a:
    (?<![A-Za-z\d.²³⁰¹⁴-⁹°℃Ω€£])(?<!\d%)                        # not m³/h, 5%/month
    (?! (?<=\d[ ]) / [a-z]{1,99} (?! [\w/\\] | \.\w ) )          # not $10 /month
    (?: [A-Za-z]:\\                                             # C:\Users\me
      | \\\\ (?=\w)                                             # \\server\folder
      | \.{0,2}/                                                # /usr/lib, ./run.sh, ../a
      | ~/                                                      # ~/notes
    )
    [\w.~@%+=/\\-]* [\w/\\]
)"""
# A line break or a tab of a string that is escaped twice: Saved.\nGo on? But not in C:\new, and not \nu.
ESCAPE = r"(?a: (?<! \\ ) (?<! \b[A-Za-z]: ) (?: \\[nrt] ){1,9} (?! [a-z\\] ) )"
_MENTION = r"(?a: (?<![\w@#&]) [@#] [A-Za-z_]\w* )"  # @tom, #topic
_OPTION = rf"""(?a:
    (?<! [^\s(\["'|/=*>{CHINESE}] ) (?<! [^\s(\[]["'] )            # not 'so'--said he
    (?: --[a-z] [\w-]* (?: = [\w./:@%+,~-]{{0,99}} [\w/] )?      # --config=a.yaml
      | -[A-Za-z] (?![\w'’-])                                    # -v
    )
)"""
_SETTING = r"""(?a: (?<![\w-]) [A-Za-z_] [\w-]{0,99} = "[^"]{0,99}" )"""  # name="value"
_TOP_LEVEL = "com|org|net|edu|gov|io|cn|uk|de|fr|jp|ru|info|dev|app"
_SHORT_ENDING = r"(?<=\w\w\.)[ch]|py|js|jsx|ts|tsx|go|rs|rb|kt|cc|cs|sh|md|gz|xz|7z|db"
_LONG_ENDING = """
    ipynb|vue|json|xml|html?|s?css|php|sql|java|swift|lua|cpp|hpp|bat|ps1
  | ya?ml|toml|ini|cfg|conf|lock|log|txt|rst|tex|csv|tsv
  | pdf|docx?|xlsx?|pptx?|odt|ods|rtf|epub|jpe?g|png|gif|svg|webp|bmp|ico|psd
  | mp[34]|wav|flac|ogg|avi|mov|mkv|webm|zip|tgz|tar|bz2|rar
  | exe|dll|msi|iso|dmg|apk|jar|deb|rpm|whl|sqlite
"""
_DOMAIN_OR_FILE = rf"""(?a:
    (?<![\w-]) (?: [\w.-]{{1,63}}+ / ){{0,9}} [\w-]{{1,63}} (?: \.[\w-]{{1,63}} ){{0,9}} \.
    (?: (?: {_TOP_LEVEL} ) \b (?: \.[a-z]{{2}} \b )?            # example.org, example.com.au
        (?: :\d{{1,5}} \b )?                                    # example.org:8080
        (?: / (?: [\w.~%+=/-]{{0,999}} [\w~%+=/-] )? )?            # example.org/a
      | [a-z]{{2,6}} / [\w.~%+=/-]{{0,999}} [\w~%+=/-]           # youtu.be/a
      | (?: {_SHORT_ENDING} | {_LONG_ENDING}                     # data.tar.gz
          | {_LONG_ENDING.upper()} ) \b (?!\()                  # PHOTO.JPG
    )
)"""
_CALL = r"(?a: \b \w{1,99} (?: (?: :: | -> | \. ) \w{1,99} ){0,9} \(\) )"  # os.path.join()
# ASCII characters without a space; what is longer is data: Base64, minified scripts.
LONGEST_WORD = 99
_DATA = rf"(?a: (?<![!-~]) [!-~]{{{LONGEST_WORD + 1},}} )"
# Kinds that begin alike are in the order in which they are to be tried.
PATTERN = f"""
    {_BLOCK}
  | {_IMAGE}
  | {_CODE}
  | {_MARKUP}
  | {_FORMAT}
  | {_URL}
  | {_EMAIL}
  | {CODE}
  | {ESCAPE}
  | {_PATH}
  | {_OPTION}
  | {_SETTING}
  | {_MENTION}
  | {_DOMAIN_OR_FILE}
  | {_CALL}
  | {_DATA}
"""
_LATIN = r"\w\u00c0-\u024f"  # of a word, also where \w is ASCII
_SNAKE = r"_{0,2} [A-Za-z] [A-Za-z\d]{0,99} (?: _{1,2} [A-Za-z\d]{1,99} ){1,20} _{0,2}"  # not _well_, is____a
IDENTIFIER = rf"""(?a:
    (?<! [{_LATIN}.,:/#+-] )
    (?: (?! \w{{1,99}} \d s \b | (?: [cdkm]?m | ft | in | yd ) [23] \b )  # not MP3s, km2
        [A-Za-z]{{1,31}} \d [A-Za-z\d]{{0,63}} (?: -\d{{1,9}} )?           # Int32, i18n, x86-64
      | (?: [A-Za-z]\w{{0,99}} (?: \. | :: | -> ) ){{0,9}}
        {_SNAKE}                                                # max_tokens, os.path_of, __init_subclass__
        (?: (?: \. | :: | -> ) [A-Za-z_]\w{{0,99}} ){{0,9}}
    )
    (?! [{_LATIN}] | [.,:/-]\d )
  | (?<! [{_LATIN}/] ) [kcmµ]? [mgWNJ] / (?: [cdk]?m | s ) [²³] (?! / )     # kg/m³
  | (?<! [{_LATIN}] ) [a-z] [\w+-]{{1,30}} \( \d [a-z]{{0,2}} \)         # ls(1)
  | (?<! [{_LATIN}] ) __ [a-z\d]{{1,99}} __ (?! [{_LATIN}] )         # __init__
)"""
PICTURES = "\u2600-\u27bf\U0001f1e6-\U0001faff"
EMOJI = f"(?: [{PICTURES}] [\ufe0f\u200d\U0001f3fb-\U0001f3ff]* )+"
EMOTICON = r"""
    (?<!\S)
    (?: [:;] ['’-]? [)(DPp/] | = [)(D]                            # :-) ;D :'( :/ =)
      | <3 | \^ [_.-]? \^                                       # ^_^
    )
    (?! [^\s.,!?] )
"""
