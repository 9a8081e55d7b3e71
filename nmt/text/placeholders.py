"""The characters that stand for something else while a line is translated; no text has them."""

# Each stands for a protected span. Every tokenizer makes a token of its own of each; they are of Unicode's private use.
PLACEHOLDERS = tuple(map(chr, range(0xE010, 0xE01A)))
# White space of a masked source where the line itself has none.
JOINT = "\x1f"
