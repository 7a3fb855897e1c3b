"""Optuna's journal of a study, checked before Optuna reads it, since the folder may come from a stranger.

Optuna trusts its journal. Some of its samplers keep their state in it as pickles, which run code when they
are read. becalm therefore uses only samplers that keep plain data, and refuses a journal with anything else.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from becalm.base.documents import Part, of_json, wrong
from becalm.base.errors import BecalmError
from becalm.base.mistakes import reason, short

Number = Annotated[float, Field(allow_inf_nan=True)]
_Place = Annotated[int, Field(ge=0)]
_ATTRIBUTES: tuple[tuple[re.Pattern[str], TypeAdapter[Any]], ...] = (
    (re.compile(r"constraints:.*", re.DOTALL), TypeAdapter(Number)),
    (re.compile("fixed_params"), TypeAdapter(dict[str, Number | str | bool])),
    (re.compile(r"tpe:relative_params:\d+"), TypeAdapter(str)),
)
"""The attributes that becalm's sampler keeps, and their types."""


def _plain(attributes: dict[str, Any]) -> dict[str, Any]:
    for key, value in attributes.items():
        kind = next((kind for pattern, kind in _ATTRIBUTES if pattern.fullmatch(key)), None)
        if kind is None:
            raise wrong(f"has the attribute `{short(key)}`, which becalm's samplers do not write")
        try:
            kind.validate_python(value, strict=True)
        except ValidationError as error:
            raise wrong(
                f"has an attribute `{short(key)}` of another type than becalm's samplers write"
            ) from error
    return attributes


_System = Annotated[dict[str, Any], AfterValidator(_plain)]


class _Line(Part):
    op_code: int
    worker_id: str


class _Study(_Line):
    study_name: Literal["becalm"]
    directions: list[Literal[1]] = Field(min_length=1, max_length=1)


class _StudyUser(_Line):
    study_id: Literal[0]
    user_attr: dict[Literal["spec"], str] = Field(min_length=1)


class _StudySystem(_Line):
    study_id: Literal[0]
    system_attr: _System = Field(min_length=1)


class _Trial(_Line):
    study_id: Literal[0]
    datetime_start: str | None
    state: Literal[0, 4] = 0
    value: None = None
    values: None = None
    distributions: dict[str, str] = Field({}, max_length=0)
    params: dict[str, Any] = Field({}, max_length=0)
    user_attrs: dict[str, Any] = Field({}, max_length=0)
    system_attrs: _System = Field({})
    intermediate_values: dict[str, Any] = Field({}, max_length=0)


class _TrialLine(_Line):
    trial_id: _Place


class _Parameter(_TrialLine):
    param_name: str
    param_value_internal: Number
    distribution: str


class _State(_TrialLine):
    state: Literal[0, 1, 3]
    values: list[Number] | None
    datetime_start: str | None = None
    datetime_complete: str | None = None


class Measures(Part):
    """What becalm keeps of a trial."""

    loss: Number | None = None
    measures: dict[str, dict[str, Number | None]] | None = None
    whole: bool | None = None


class _TrialUser(_TrialLine):
    user_attr: Measures


class _TrialSystem(_TrialLine):
    system_attr: _System = Field(min_length=1)


_KINDS: dict[int, type[_Line]] = {
    **{0: _Study, 2: _StudyUser, 3: _StudySystem, 4: _Trial},
    **{5: _Parameter, 6: _State, 8: _TrialUser, 9: _TrialSystem},
}
"""The kinds of records by Optuna's number of the operation. The others do not occur in becalm's studies."""


def check(path: Path) -> None:
    """Check that a journal contains only what a study of becalm writes.

    A last line without its end, which a killed process leaves, is removed.

    Raises:
        BecalmError: a line is something else.

    """
    if not path.is_file():
        return
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        path.write_bytes(whole)
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            record = json.loads(line)
        except (RecursionError, ValueError) as error:
            raise BecalmError(f"{path}:{number}: not a record of a study: {reason(error)}") from error
        operation = record.get("op_code") if isinstance(record, dict) else None
        kind = _KINDS.get(operation) if isinstance(operation, int) else None
        if kind is None:
            raise BecalmError(f"{path}:{number}: not a record that becalm's studies contain")
        of_json(record, kind, f"{path}:{number}")
