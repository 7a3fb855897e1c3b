"""TOML files that Python reads: sweeps, tunings, schemes, scenes, claims.

A kind of table is a class, a `Part`, whose fields are its keys. `read` checks a file against one, and reports
all mistakes at once, with lines:

    class Seeds(Part):
        count: int = Field(1, ge=1)

    content, mistakes = read("sweep.toml", Sweep)
    mistakes.add(None, "seeds.count", "", "does not fit the scenario")   # finds the line of the key
    mistakes.check()
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from becalm._core import toml_lines
from becalm.errors import BecalmError, ScenarioError
from becalm.mistakes import Mistakes, read_text, reason
from becalm.quantities import seconds

__all__ = [
    "Part",
    "Table",
    "Time",
    "as_mistake",
    "checked",
    "flat",
    "noted",
    "one_of",
    "parse",
    "read",
    "wrong",
]


class Part(BaseModel):
    """A table of a file; a field's description says what would be valid."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


AnyPart = TypeVar("AnyPart", bound=Part)
Table = dict[str, Any]


def wrong(problem: str, valid: str = "") -> PydanticCustomError:
    """Return the error that a validator raises: the problem, and what would be valid."""
    return PydanticCustomError("wrong", "{problem}", {"problem": problem, "valid": valid})


def one_of(names: Sequence[str]) -> AfterValidator:
    """Return a validator that accepts only these names."""

    def check(value: str) -> str:
        if value not in names:
            raise wrong("unknown", ", ".join(names))
        return value

    return AfterValidator(check)


def as_mistake(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function whose errors are mistakes in a file."""

    def checked(value: object) -> object:
        try:
            return check(value)
        except BecalmError as error:
            raise wrong(str(error)) from error

    return checked


Time = Annotated[float, BeforeValidator(as_mistake(lambda value: seconds(str(value))))]
"""A time with its unit, in seconds."""


def read(path: str | PathLike[str], kind: type[AnyPart]) -> tuple[AnyPart, Mistakes]:
    """Return the content of a file, and a list for further mistakes.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: not a text file, not TOML, or with mistakes: all of them.

    """
    data, mistakes = parse(read_text(path), str(path))
    return checked(data, kind, mistakes), mistakes


def parse(text: str, file: str) -> tuple[Table, Mistakes]:
    """Return the values of a TOML text, and a list for its mistakes that knows the lines of its keys.

    Raises:
        ScenarioError: not TOML.

    """
    lines = toml_lines(text, file)
    try:
        return tomllib.loads(text), Mistakes(file, lines)
    except (RecursionError, ValueError) as error:
        raise ScenarioError(f"{file}: {reason(error)}", file) from error


def checked(data: Table, kind: type[AnyPart], mistakes: Mistakes) -> AnyPart:
    """Return a file's content as an instance of its class.

    Raises:
        ScenarioError: these mistakes, and all that were noted before.

    """
    found = noted(data, kind, mistakes)
    mistakes.check()
    if found is None:
        raise AssertionError("a mistake was not noted")
    return found


def noted(data: Table, kind: type[AnyPart], mistakes: Mistakes, at: str = "") -> AnyPart | None:
    """Return a table as an instance of its class; None if it has mistakes, which are noted.

    Args:
        data: the table.
        kind: its class.
        mistakes: where mistakes go.
        at: path of the table, such as `flows[0]`; empty for the whole file.

    """
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        for each in error.errors(include_url=False):
            key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in each["loc"])
            value = "" if each["type"] in ("missing", "extra_forbidden") else _shown(each["input"])
            mistakes.add(None, f"{at}{key}".lstrip("."), value, *_said(each, kind))
        return None


def flat(table: Mapping[str, Any], is_value: Any) -> Table:  # noqa: ANN401
    """Return a table by dotted keys, whether they were quoted or not; tables that are values stay whole."""
    found: Table = {}
    for key, value in table.items():
        if isinstance(value, dict) and value and not is_value(value):
            found |= {f"{key}.{inner}": each for inner, each in flat(value, is_value).items()}
        else:
            found[key] = value
    return found


def _shown(value: object) -> str:
    """Return a value as a file has it; empty for a table, whose key says enough."""
    if isinstance(value, dict):
        return ""
    return repr(value) if isinstance(value, float) else json.dumps(value, default=str, ensure_ascii=False)


_PROBLEMS = {
    "missing": "is missing",
    "extra_forbidden": "unknown key",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "too_short": "has too few items",
    "too_long": "has too many items",
    "string_too_short": "is empty",
    "string_pattern_mismatch": "wrong form",
}
"""Problems, by pydantic's kind of error."""
_BOUNDS = {"ge": "{} or more", "gt": "more than {}", "le": "{} or less", "lt": "less than {}"}


def _said(error: ErrorDetails, kind: type[Part]) -> tuple[str, str]:
    """Return what is wrong, and what would be valid."""
    sort, context = error["type"], error.get("ctx", {})
    if sort == "wrong":
        return context["problem"], context["valid"]
    fields, described = _fields(kind, error["loc"])
    if sort == "extra_forbidden":
        return _PROBLEMS[sort], ", ".join(fields)
    bounds = [text.format(context[name]) for name, text in _BOUNDS.items() if name in context]
    return _PROBLEMS.get(sort, "out of range" if bounds else error["msg"]), described or ", ".join(bounds)


def _fields(kind: type[Part], location: tuple[int | str, ...]) -> tuple[list[str], str]:
    """Return the keys of the table at a place, and the description of the last key."""
    described = ""
    for step in location:
        known = {field.alias or name: field for name, field in kind.model_fields.items()}
        field = known.get(str(step))
        described = (field.description or "") if field else described
        if field and (inner := _part(field.annotation)):
            kind = inner
    return [field.alias or name for name, field in kind.model_fields.items()], described


def _part(annotation: Any) -> type[Part] | None:  # noqa: ANN401
    """Return the class of the tables within a type, such as that in `list[Case] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    return next(filter(None, map(_part, get_args(annotation))), None)
