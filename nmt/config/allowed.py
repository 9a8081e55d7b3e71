"""What a setting may be, in words: "a whole number from 1 to 1000"."""

from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

_ENDLESS = 2**62  # a bound from here on is the computer's, not the setting's


def allowed(field: FieldInfo) -> str:
    """What a field of the schema may be; its own description if it has one."""
    return field.description or _allowed(field.annotation, field.metadata)


def field_at(keys: Sequence[str | int], schema: type[BaseModel]) -> FieldInfo:
    """The field at `keys`, such as ("train", "betas", 0). Raises KeyError if the schema has none there."""
    field = FieldInfo(annotation=schema)
    for key in keys:
        field = _inside(field, key)
    return field


def takes_any_text(field: FieldInfo) -> bool:
    """Whether a field holds text of any form: a name, a path."""
    if field.annotation is str:
        return not any(hasattr(bound, "pattern") for bound in field.metadata)
    kinds = [kind for kind in _alternatives(field.annotation) if get_origin(kind) is Annotated]
    return any(takes_any_text(FieldInfo.from_annotation(kind)) for kind in kinds)


def choices(field: FieldInfo) -> list[str]:
    """The words among which a field is a choice; none where it is something else."""
    found = []
    for kind in _alternatives(field.annotation):
        if get_origin(kind) is Literal:
            found += [str(choice) for choice in get_args(kind)]
    return found


def has_length(field: FieldInfo) -> bool:
    """Whether a field is a list of so many items, neither more nor fewer."""
    return get_origin(field.annotation) is tuple and Ellipsis not in get_args(field.annotation)


def is_section(field: FieldInfo) -> bool:
    """Whether a field has settings of its own."""
    return any(map(_is_section, _alternatives(field.annotation)))


def _inside(field: FieldInfo, key: str | int) -> FieldInfo:
    """The field of a section, or an item of a list."""
    for kind in _alternatives(field.annotation):
        if _is_section(kind):
            fields: dict[str, FieldInfo] = kind.model_fields
            return fields[str(key)]
        if get_origin(kind) is tuple:
            return FieldInfo.from_annotation(get_args(kind)[0])  # all items are of one kind
    raise KeyError(key)


def _allowed(kind: Any, bounds: Sequence[Any] = ()) -> str:
    if get_origin(kind) is Annotated:
        return allowed(FieldInfo.from_annotation(kind))
    alternatives = _alternatives(kind)
    if len(alternatives) > 1:
        return ", or ".join(_allowed(each, bounds) for each in alternatives)
    if get_origin(kind) is Literal:
        return _either([str(choice) for choice in get_args(kind)])
    if get_origin(kind) is tuple:
        return _list(get_args(kind))
    if _is_section(kind):
        return f"a section ({', '.join(kind.model_fields)})"
    if kind in (int, float):
        return _number(kind, bounds)
    return {bool: "true or false", NoneType: "null", str: "text"}[kind]


def _alternatives(kind: Any) -> tuple[Any, ...]:
    """`int | None` is two kinds; anything else is one."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _either(choices: list[str]) -> str:
    """Write "a, b or c"."""
    *first, last = choices
    return f"{', '.join(first)} or {last}" if first else last


def _list(items: tuple[Any, ...]) -> str:
    if items[-1] is Ellipsis:
        return f"a list, each item {_allowed(items[0])}"
    return f"a list of {len(items)}, each {_allowed(items[0])}"


def _number(kind: type, bounds: Sequence[Any]) -> str:
    """A number and its range, such as "a number of at least 0 and below 1"."""
    noun = "a whole number" if kind is int else "a number"
    least, above = _bound(bounds, "ge"), _bound(bounds, "gt")
    most, below = _bound(bounds, "le"), _bound(bounds, "lt")
    if kind is int and above is not None:
        least, above = above + 1, None
    if least is not None and most is not None:
        return f"{noun} from {least:g} to {most:,g}"
    limits = []
    if least is not None:
        limits.append(f"of at least {least:g}")
    if above is not None:
        limits.append(f"above {above:g}")
    if most is not None:
        limits.append(f"at most {most:g}")
    if below is not None and below < _ENDLESS:
        limits.append(f"below {below:g}")
    return " ".join([noun, " and ".join(limits)]) if limits else noun


def _bound(bounds: Sequence[Any], name: str) -> Any:
    """The bound of that name (ge, gt, le or lt), or None."""
    found = [getattr(bound, name) for bound in bounds if hasattr(bound, name)]
    return found[0] if found else None
