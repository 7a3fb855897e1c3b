"""Portable JSON, since Python's writer emits infinities and NaN, which the format does not allow."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any


def dumps(value: Any, *, indent: int | None = None, default: Callable[[Any], Any] | None = None) -> str:  # noqa: ANN401
    """Return a value as JSON. Infinity is the string `"inf"` or `"-inf"`; NaN is `null`."""
    return json.dumps(_plain(value), indent=indent, default=default, allow_nan=False)


def number(value: Any) -> float:  # noqa: ANN401
    """Return the number that `dumps` wrote."""
    return math.nan if value is None else float(value)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
