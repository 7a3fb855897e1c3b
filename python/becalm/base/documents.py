"""TOML files that Python reads: sweeps, tunings, schemes, scenes, claims.

Each kind of table is a subclass of `Part` whose fields are the table's keys. `read` checks a file against a
`Part` and reports all mistakes at once, with their lines:

    class Seeds(Part):
        count: int = Field(1, ge=1)

    content, mistakes = read("sweep.toml", Sweep)
    mistakes.add(None, "seeds.count", "", "does not fit the scenario")   # finds the key's line
    mistakes.check()
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from becalm._core import toml_lines
from becalm.base.errors import BecalmError, ScenarioError
from becalm.base.mistakes import Mistakes, nearest_file, read_text, reason
from becalm.base.quantities import seconds

__all__ = [
    "Part",
    "Table",
    "Time",
    "as_mistake",
    "beside",
    "checked",
    "flat",
    "noted",
    "of_json",
    "one_of",
    "parse",
    "read",
    "wrong",
]


class Part(BaseModel):
    """A table of a file. A field's description lists valid values."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    gone: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier versions: why a file no longer needs them."""


AnyPart = TypeVar("AnyPart", bound=Part)
Table = dict[str, Any]


def wrong(problem: str, valid: str = "") -> PydanticCustomError:
    """Return the error for a validator to raise, with the problem and valid values."""
    return PydanticCustomError("wrong", "{problem}", {"problem": problem, "valid": valid})


def one_of(names: Sequence[str]) -> AfterValidator:
    """Return a validator that accepts only the given names."""

    def check(value: str) -> str:
        if value not in names:
            raise wrong("unknown", ", ".join(names))
        return value

    return AfterValidator(check)


def as_mistake(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function whose errors become mistakes in a file."""

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
        FileNotFoundError: the file does not exist.
        ScenarioError: the file is not text or not TOML, or has mistakes; the error lists all of them.

    """
    data, mistakes = parse(read_text(path), str(path))
    return checked(data, kind, mistakes), mistakes


def beside(mistakes: Mistakes, key: str, name: str) -> Path:
    """Return the path of a file that a key names, relative to the file with the key.

    Raises:
        ScenarioError: there is no such file, or there are mistakes noted before.

    """
    found = Path(mistakes.file).parent / name
    if "\0" not in name and not found.exists():
        mistakes.add(None, key, json.dumps(name), f"no such file{nearest_file(found)}")
        mistakes.check()
    return found


def parse(text: str, file: str) -> tuple[Table, Mistakes]:
    """Return the values of a TOML text, and a list for mistakes that contains the keys' lines.

    Raises:
        ScenarioError: the text is not TOML.

    """
    lines = toml_lines(text, file)
    try:
        return tomllib.loads(text), Mistakes(file, lines)
    except (RecursionError, ValueError) as error:
        raise ScenarioError(f"{file}: {reason(error)}", file) from error


def checked(data: Table, kind: type[AnyPart], mistakes: Mistakes) -> AnyPart:
    """Return a file's content as an instance of its class.

    Raises:
        ScenarioError: there are mistakes, including those noted before; the error lists all of them.

    """
    found = noted(data, kind, mistakes)
    mistakes.check()
    if found is None:
        raise AssertionError("a mistake was not noted")
    return found


def noted(data: object, kind: type[AnyPart], mistakes: Mistakes, at: str = "") -> AnyPart | None:
    """Return a table as an instance of its class. If it has mistakes, note them and return None.

    Args:
        data: the table.
        kind: its class.
        mistakes: list to add mistakes to.
        at: path of the table, such as `flows[0]`; empty for the entire file.

    """
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        for each in error.errors(include_url=False):
            key = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in each["loc"])
            value = "" if each["type"] in ("missing", "extra_forbidden") else _shown(each["input"])
            mistakes.add(None, f"{at}{key}".lstrip("."), value, *_said(each, kind))
        return None


def of_json(data: object, kind: type[AnyPart], file: str | PathLike[str]) -> AnyPart:
    """Return a value that was read from JSON as an instance of its class.

    Raises:
        BecalmError: it does not fit; the message states the first problem.

    """
    mistakes = Mistakes(file)
    found = noted(data, kind, mistakes)
    if found is None:
        raise BecalmError(mistakes.first())
    return found


def flat(table: Mapping[str, Any], is_value: Any) -> Table:  # noqa: ANN401
    """Return a table by dotted keys, quoted or not. Tables that are values are not flattened."""
    found: Table = {}
    for key, value in table.items():
        if isinstance(value, dict) and value and not is_value(value):
            found |= {f"{key}.{inner}": each for inner, each in flat(value, is_value).items()}
        else:
            found[key] = value
    return found


def _shown(value: object) -> str:
    """Return a value as in a file, or an empty string for a table, since its key is sufficient."""
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
"""Problems by pydantic's error type."""
_BOUNDS = {"ge": "{} or more", "gt": "more than {}", "le": "{} or less", "lt": "less than {}"}


def _said(error: ErrorDetails, kind: type[Part]) -> tuple[str, str]:
    """Return the problem and valid values."""
    sort, context = error["type"], error.get("ctx", {})
    if sort == "wrong":
        return context["problem"], context["valid"]
    table, described = _place(kind, error["loc"])
    if sort == "extra_forbidden":
        why = table.gone.get(str(error["loc"][-1]))
        fields = ", ".join(field.alias or name for name, field in table.model_fields.items())
        return f"leave out this key of earlier versions: {why}" if why else _PROBLEMS[sort], fields
    bounds = [text.format(context[name]) for name, text in _BOUNDS.items() if name in context]
    return _PROBLEMS.get(sort, "out of range" if bounds else error["msg"]), described or ", ".join(bounds)


def _place(kind: type[Part], location: tuple[int | str, ...]) -> tuple[type[Part], str]:
    """Return the class of the table at a place, and the description of the last key."""
    described = ""
    for step in location:
        known = {field.alias or name: field for name, field in kind.model_fields.items()}
        field = known.get(str(step))
        described = (field.description or "") if field else described
        if field and (inner := _part(field.annotation)):
            kind = inner
    return kind, described


def _part(annotation: Any) -> type[Part] | None:  # noqa: ANN401
    """Return the table class within a type, such as `Case` in `list[Case] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    return next(filter(None, map(_part, get_args(annotation))), None)
