"""Texts that a page must show and never obey."""

EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "</script><script>alert(1)</script>",
    "</noscript><img src=x onerror=alert(1)>",
    "</style><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "<!--<script>alert(1)//-->",
    "javascript:alert(1)",
    "{{ 7 * 7 }} {% raw %} ${alert(1)}",
    "&lt;script&gt;alert(1)&lt;/script&gt; &amp;",
    "a\0b\x07c\x1b[31m",
    "\u202eevil\u2066 \u200f\u2028x\u0085y",
    "$\\frac{1}{0}$ \\x $x$",
    "\ufffe\U0010ffff 😀 𠀀",
]
