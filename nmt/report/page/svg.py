"""Matplotlib's SVG made fit for a page: no inline styles, ids of its own, colours that the page's style sheet sets.

A series is drawn in a stand-in colour, `series_colour(i)`, which becomes the class `s{i}` on the page; what is
drawn black takes the colour of the text.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

_NAMESPACE = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
GRID = "#00fe00"
_SERIES = re.compile(r"#fe00([0-9a-f]{2})")
_INK = ("#000000", "black")
_KEPT_STYLES = {
    "fill",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-dashoffset",
    "opacity",
}
_KEPT_STYLES |= {
    "fill-opacity",
    "stroke-opacity",
    "text-anchor",
    "stroke-linejoin",
    "stroke-linecap",
}
_REFERENCE = re.compile(r"#([\w-]+)")


def series_colour(number: int) -> str:
    """The stand-in colour of a series."""
    return f"#fe00{number:02x}"


def cleaned(svg: str, prefix: str, label: str) -> str:
    """The svg element alone, to be put into HTML; `prefix` begins its ids, `label` says what it shows."""
    root = ET.fromstring(svg)  # noqa: S314 - matplotlib wrote it
    for parent in list(root.iter()):
        for child in list(parent):
            if _name(child) in ("metadata", "style"):
                parent.remove(child)
    used = set(_references(root))
    for element in root.iter():
        _clean(element, prefix, used)
    view_box = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update({"viewBox": view_box, "class": "plot", "role": "img", "aria-label": label})
    ET.register_namespace("", _NAMESPACE)
    text = ET.tostring(root, encoding="unicode", short_empty_elements=True)
    return re.sub(r">\s+<", "><", text)


def _name(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _references(root: ET.Element) -> Iterator[str]:
    for element in root.iter():
        for name in (_LINK, "clip-path"):
            yield from _REFERENCE.findall(element.get(name, ""))


def _clean(element: ET.Element, prefix: str, used: set[str]) -> None:
    identity = element.attrib.pop("id", None)
    if identity in used:
        element.set("id", f"{prefix}{identity}")
    link = element.attrib.pop(_LINK, None)
    if link is not None:
        element.set("href", f"#{prefix}{link[1:]}")
    if "clip-path" in element.attrib:
        element.set("clip-path", _REFERENCE.sub(rf"#{prefix}\1", element.attrib["clip-path"]))
    styles = _styles(element.attrib.pop("style", ""))
    classes = []
    for name, value in styles.items():
        kind = _class_of(name, value)
        if kind:
            classes.append(kind)
        elif name in _KEPT_STYLES:
            element.set(name, value)
    if _name(element) == "text":
        _set_font(element, styles)
    if classes:
        element.set("class", " ".join(classes))


def _styles(text: str) -> dict[str, str]:
    styles = {}
    for declaration in filter(None, map(str.strip, text.split(";"))):
        name, _, value = declaration.partition(":")
        styles[name.strip()] = value.strip()
    return styles


def _class_of(name: str, value: str) -> str | None:
    """The class that stands for a colour: `f3` fills in the colour of series 3, `kg` strokes as the grid."""
    if name not in ("fill", "stroke"):
        return None
    letter = "f" if name == "fill" else "k"
    series = _SERIES.fullmatch(value)
    if series:
        return f"{letter}{int(series[1], 16)}"
    if value == GRID:
        return f"{letter}g"
    return f"{letter}i" if value in _INK else None


def _set_font(element: ET.Element, styles: dict[str, str]) -> None:
    size = re.search(r"([\d.]+)px", styles.get("font", styles.get("font-size", "")))
    element.set("font-size", size[1] if size else "10")
