"""The page of a tuning: the answer, the rows by number of contributors, the search and its trials."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from becalm._core import pack
from becalm.analysis.formats import difference
from becalm.base import jsons
from becalm.base.errors import ResultsError
from becalm.base.parquet import read_unlisted
from becalm.reports.page import flat, heading
from becalm.reports.points import MOST_LINES, cell, finite, table

if TYPE_CHECKING:
    import polars as pl

BEST = "tuned"
"""Name of the row with the tuned parameters."""
TUNE = "tune.json"
"""Name of the result file in a tuning's folder."""
TUNED = {
    **dict.fromkeys(("delivered", "got", "fair"), ("number", "B/s")),
    **dict.fromkeys(("latency_p99", "settle", "recovery"), ("number", "s")),
    **dict.fromkeys(("background", "background_uncapped", "hot_link"), ("share", "")),
    **dict.fromkeys(("lost", "starved"), ("share", "")),
    "fairness": ("index", ""),
    "loss": ("index", ""),
}
"""Kind and unit of the measures of a tuning."""
OF_ROWS = {
    **dict.fromkeys(("loss_low", "loss_high", "to_no_control", "low", "high"), ("index", "")),
}
"""Kind and unit of the other columns of the table of rows."""
ALL = "all"
"""All classes of contributors."""
MOST_CASES = 6
"""Maximum number of a tuning's cases that charts show separately. For more cases, charts show the mean."""
MEANINGS = {
    "background": "background: delivered over offered",
    "background_uncapped": "background: delivered over offered, uncapped",
    "hot_link": "hot link: utilization",
    "lost": "background: share lost",
    "starved": "contributors: unused share of their link",
    "got": "background: delivered",
}
"""Labels of a tuning's measures whose names do not show what the share refers to."""


def tune_page(folder: Path, title: str | None) -> tuple[bytes, str]:
    """Return the payload of a tuning's page, and its answer.

    Raises:
        ResultsError: a file is missing or damaged.

    """
    study = _read(folder / TUNE)
    trials = read_unlisted(folder / "trials.parquet")
    validation = read_unlisted(folder / "validation.parquet")
    try:
        page = _tune(study, trials, validation, title or folder.name)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ResultsError(f"{folder / TUNE}: was not written by becalm: {error}") from error
    return pack(jsons.dumps(page)), page["about"]["verdict"]


def _tune(
    study: Mapping[str, Any], trials: pl.DataFrame, validation: pl.DataFrame, title: str
) -> dict[str, Any]:
    gain = {key: jsons.number(value) for key, value in study["gain"].items()}
    less = difference(gain["guideline"] - gain["tuned"], gain["low"], gain["high"])
    rows = [{key: _plain(key, value) for key, value in row.items()} for row in study.get("rows", ())]
    about = heading(title, {key: study[key] for key in ("becalm", "model")}) | {
        # Studies of older versions have no answer.
        "verdict": str(study.get("answer", "")),
        "facts": [f"{study['trials']} trials", f"{study['runs']} runs"],
        "notes": [
            *(f"Limit exceeded: {each}" for each in study["broken"]),
            *(f"At the edge of its range: {each}" for each in study["at_end"]),
            str(study["note"]),
        ],
        "parameters": [[key, str(value)] for key, value in flat(study["parameters"])],
    }
    importance = study["importance"]
    panel = {
        "title": "Importance",
        "unit": "",
        "kind": "share",
        "x": {"name": "parameter", "values": list(importance), "unit": ""},
        "lines": [{"name": "share", "values": list(importance.values())}],
    }
    return {
        "kind": "tune",
        "about": about,
        "panels": [panel] if importance else [],
        "contributors": _contributors(rows),
        "compared": f"Means over new cases, which the search did not use. Loss: {gain['guideline']:.4g} with "
        f"{study['guideline']}, {gain['tuned']:.4g} tuned; {less}.",
        "comparison": list(_comparison(validation, study["guideline"])),
        "scatters": [_scatter(trials)],
        "tables": [
            table("validation", "Guidelines and tuned parameters, on new seeds", validation, {}, (), TUNED),
            table("trials", "Trials", trials, {}, (), TUNED),
        ],
    }


def _plain(key: str, value: Any) -> Any:  # noqa: ANN401
    """Return a cell of a row as it was before `jsons.dumps`, which writes infinities as text."""
    return value if key in ("row", "contributors") or isinstance(value, int) else jsons.number(value)


def _contributors(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return a chart of the loss by number of contributors, and a table of all its numbers.

    Each row of the table is one of the compared settings and a class of contributors. None without rows.
    """
    import polars as pl

    if not rows:
        return None
    overall = {row["row"]: row["loss"] for row in rows if row["contributors"] == ALL}
    ordered = sorted(rows, key=lambda row: overall[row["row"]])
    names, classes = (list(dict.fromkeys(row[key] for row in ordered)) for key in ("row", "contributors"))
    at = {(row["row"], row["contributors"]): row for row in rows}
    ends = {"values": "loss", "low": "loss_low", "high": "loss_high"}
    lines = [
        {
            "name": name,
            **{end: [cell(at[name, each].get(key)) for each in classes] for end, key in ends.items()},
        }
        for name in names
    ]
    x = {"name": "contributors", "values": classes, "unit": ""}
    return {
        "chart": {"title": "loss", "unit": "", "kind": "index", "x": x, "lines": lines},
        "table": table("rows", "All numbers", pl.DataFrame(ordered), {}, (), TUNED | OF_ROWS),
    }


def _comparison(validation: pl.DataFrame, guideline: str) -> Iterator[dict[str, Any]]:
    """Yield a chart of every measure on new seeds, by case or averaged, with one bar per candidate."""
    names = validation["candidate"].unique(maintain_order=True).to_list()
    # The guideline and the tuned parameters come first; other guidelines follow.
    order = [name for name in (guideline, BEST) if name in names]
    order += [name for name in names if name not in order]
    by_case = "case" in validation.columns
    cases = validation["case"].unique(maintain_order=True).to_list() if by_case else ["all"]
    if len(cases) > MOST_CASES:
        by_case, cases = False, [f"mean of {len(cases)} cases"]
    for measure, dtype in validation.schema.items():
        if not dtype.is_float():
            continue
        lines = []
        for name in order[:MOST_LINES]:
            own = validation.filter(validation["candidate"] == name)
            parts = [own.filter(own["case"] == case) if by_case else own for case in cases]
            values = [part[measure].mean() if part.height else None for part in parts]
            lines.append({"name": name, "values": [cell(value) for value in values]})
        title = MEANINGS.get(measure, measure.replace("_", " "))
        x = {"name": "case", "values": cases, "unit": ""}
        kind, unit = TUNED.get(measure, ("number", ""))
        yield {"title": title, "unit": unit, "kind": kind, "x": x, "lines": lines}


def _scatter(trials: pl.DataFrame) -> dict[str, Any]:
    """Return a chart of the loss over the trials, which marks the best trial that keeps all limits."""
    rows = [row for row in trials.sort("number").iter_rows(named=True) if finite(row["loss"])]
    best = min((row["loss"] for row in rows if row["kept"]), default=None)
    points = [
        {
            "x": float(row["number"]),
            "y": float(row["loss"]),
            "name": f"trial {row['number']}",
            "kind": "best of all" if row["kept"] and row["loss"] == best else "trial",
        }
        for row in rows
    ]
    points.sort(key=lambda point: str(point["kind"]) == "best of all")
    kind, unit = TUNED["loss"]
    return {
        "title": "loss over trial",
        "x": {"name": "trial", "kind": "count", "unit": ""},
        "y": {"name": "loss", "kind": kind, "unit": unit},
        "points": points,
    }


def _read(file: Path) -> dict[str, Any]:
    """Read a JSON file that becalm wrote.

    Raises:
        ResultsError: the file cannot be read.

    """
    try:
        found = json.loads(file.read_bytes())
    except (OSError, RecursionError, ValueError) as error:
        raise ResultsError(f"{file}: cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ResultsError(f"{file}: was not written by becalm")
    return found
