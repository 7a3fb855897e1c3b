"""The page of results: one self-contained HTML file."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from becalm._core import report as core_report
from becalm.analysis import formats
from becalm.base import columns, jsons, provenance
from becalm.base.errors import ResultsError
from becalm.base.folders import FileKind
from becalm.reports.again import MOST_TEXT, again
from becalm.results.tables import SCHEMA

if TYPE_CHECKING:
    from becalm.results import Results

MOST_SIZE = 5_000_000
"""Default limit on the size of a page in bytes."""
_MARK = "<!--payload-->"
_SAME = ("becalm", "git_revision", "core")
"""Keys whose values differ between builds of becalm."""
UNREAD = ("snapshots", "messages")
"""Large tables that neither a page nor its diagnosis needs. Other tables contain their means."""


def report(
    results: Results,
    *,
    title: str | None = None,
    replication: int | None = None,
    max_size: int = MOST_SIZE,
    full: bool = False,
    folder: str | PathLike[str] | None = None,
) -> str:
    """Return a page that shows a run, as one HTML file.

    The page shows the fabric over time if the scenario sets `observe.frames`, and the exact growth of the
    congestion tree if it sets `observe.spans`.

    Args:
        results: the results to show.
        title: the heading; None: the scenario's name.
        replication: the only replication to show; None: all.
        max_size: maximum size of the page in bytes. A larger page omits every second frame until it fits, and
            contains a note about this.
        full: whether to keep waits, marks and load of every link over time, whatever their size.
        folder: folder of the results, for the page's commands; see `becalm.explain`.

    Raises:
        ResultsError: there is no such replication.

    """
    name = title or PurePath(results.scenario.name).stem
    packed = payload(
        results, title=title, replication=replication, max_size=max_size, full=full, folder=folder
    )
    return filled(packed, name, said=[results.verdict or ""])


def payload(
    results: Results,
    *,
    title: str | None = None,
    replication: int | None = None,
    max_size: int = MOST_SIZE,
    full: bool = False,
    folder: str | PathLike[str] | None = None,
    about: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the compressed content of a run's page; see `report`. `about` replaces parts of its header.

    Raises:
        ResultsError: there is no such replication.

    """
    # Import here: this module loads NumPy, which would slow down `import becalm`.
    from becalm.reports.operations import lanes

    chosen = [each for each in results.replications if replication in (None, each.replication)]
    if not chosen:
        numbers = ", ".join(str(each.replication) for each in results.replications)
        raise ResultsError(f"no replication {replication}; valid: {numbers}")
    runs = [
        (
            *(each.replication, each.fingerprint, each.packet_hops),
            each.end if each.stopped else None,
            dict(_tables(results, each.replication)),
        )
        for each in chosen
    ]
    room = max(1, (max_size - len(template().encode())) * 3 // 4) if max_size else 0
    header = _about(results, title, chosen[0].replication, folder) | {"again": again(results, replication)}
    header["operations"] = {str(each.replication): list(lanes(results, each)) for each in chosen}
    header["schema"] = [table.written() for table in SCHEMA.values()]
    return core_report(results.scenario.core, runs, jsons.dumps(header | dict(about or {})), room, full)[0]


PAGE = FileKind((".html", ".htm"), "a report", b'<script type="application/octet-stream" id="payload">')
"""The files of pages."""


BESIDE = ("second", "third")
"""Elements of the payloads of further runs, from left to right."""


def filled(packed: bytes, title: str, others: Sequence[bytes] = (), said: Sequence[str] = ()) -> str:
    """Return the template with a payload, or with the payloads of up to three runs.

    Args:
        packed: the payload.
        title: the title.
        others: the payloads of the runs to the right.
        said: sentences for a browser without JavaScript.

    """
    before, _, after = template().partition(_MARK)
    heading = f"<title>{html.escape(title)}</title>"
    before = before.replace("<title>becalm report</title>", heading, 1)
    plain = f"<h1>{html.escape(title)}</h1>" + "".join(f"<p>{html.escape(each)}</p>" for each in said if each)
    before = before.replace("<noscript>", f"<noscript>{plain}", 1)
    data = [_element("payload", packed), *map(_element, BESIDE, others)]
    return f"{before}{''.join(data)}{after}"


def _element(name: str, packed: bytes) -> str:
    return f'<script type="application/octet-stream" id="{name}">{base64.b64encode(packed).decode()}</script>'


@cache
def template() -> str:
    """Return the template without a payload."""
    return (resources.files("becalm.reports") / "template.html").read_text(encoding="utf-8")


def frame(results: Results) -> str:
    """Return a run's page for a notebook cell, in a sandbox whose scripts cannot access the notebook."""
    style = "width:100%;height:900px;border:0"
    page = html.escape(report(results))
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'


def heading(name: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the header of any page; `manifest` describes the results or becalm itself."""
    return {
        "title": name,
        "facts": [],
        "notes": [],
        "diagnosis": [],
        "scenario": "",
        "again": {"file": "", "commands": [], "note": ""},
        "parameters": [],
        "provenance": [[key, _written(value)] for key, value in flat(manifest)],
    }


def flat(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested tables by dotted key."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{before}{key}.")
        elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            for i, item in enumerate(value):
                yield from flat(item, f"{before}{key}[{item.get('name', i)}].")
        else:
            yield f"{before}{key}", value


def _about(
    results: Results, title: str | None, replication: int, folder: str | PathLike[str] | None = None
) -> dict[str, Any]:
    scenario, manifest = results.scenario, results.manifest()
    origin = {
        key: manifest[key] for key in ("becalm", "created", "git_revision", "model", "core", "compiler")
    }
    origin |= {"platform": manifest["platform"], "seed": manifest["seed"]}
    origin |= {"wall_time [s]": round(results.wall_time, 3), "fingerprints": results.fingerprints}
    origin |= {"scenario": {"name": PurePath(scenario.name).name, "hash": scenario.hash}}
    origin["guards"] = results.guards
    here = provenance.describe()
    other = any(here[key] != manifest[key] for key in _SAME)
    if other:
        origin["page written by"] = {key: here[key] for key in ("becalm", "created", *_SAME[1:], "platform")}
    summary = scenario.summary
    runs = len(results.replications)
    hosts, switches, hops = summary["hosts"], summary["switches"], results.packet_hops
    missing = [] if "frames" in results.tables else [_NO_FRAMES]
    return heading(title or PurePath(scenario.name).stem, origin) | {
        "diagnosis": list(_diagnosis(results, replication, folder)),
        "facts": [
            f"{hosts:,} hosts, {switches:,} {'switch' if switches == 1 else 'switches'}",
            f"{hops:,} packet-hops in {formats.seconds(results.wall_time)}",
            f"{runs} replications" if runs > 1 else f"fingerprint {results.fingerprint}",
            *([] if results.approximation is None else [f"approximate: {results.approximation}"]),
            *([] if results.stopped is None else [f"stopped at {formats.seconds(results.stopped)}"]),
            f"becalm {manifest['becalm']}" + (f", page by becalm {here['becalm']}" if other else ""),
            str(manifest["created"]),
        ],
        "notes": missing,
        "scenario": _short(scenario.to_toml()),
        "parameters": [[key, _written(value)] for key, value in flat(_bounded(scenario.resolved))],
    }


def _diagnosis(
    results: Results, replication: int, folder: str | PathLike[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the sentences of `becalm explain`, each with the page's table that contains its rows.

    Yield nothing for a stored run that has only a summary, because the rules need more tables.
    """
    from becalm.explanations import TOPICS, explain

    try:
        found = explain(results, replication, folder=folder)
    except ResultsError:
        return
    for topic, title in TOPICS.items():
        for place, sentence in enumerate(found.about(topic)):
            lead = place == 0 and topic in _LEADS
            tables = [each.table for each in sentence.references]
            anchor = next((_PLACES[name] for name in tables if name in _PLACES), "")
            said = {"text": sentence.text, "place": sentence.place, "anchor": anchor}
            yield {"topic": title, **said, "lead": lead}


_LEADS = ("roots", "causes", "victims", "advice")
"""Topics whose first sentences come first on the page."""
_PLACES = {
    **{"tree": "tree", "victims": "victims", "groups": "groups", "links": "hottest", "series": "time"},
    **{"paces": "time", "scenario": "parameters", "jobs": "job-times", "ranks": "ranks"},
}
"""The page section of each table."""
_NO_FRAMES = (
    'The fabric is shown as a mean over the measured window: set observe.frames = "auto" and '
    "observe.spans = true, or run with --report, to see it over time."
)


def _tables(results: Results, replication: int) -> Iterator[tuple[str, list[tuple[str, str, Any]]]]:
    import polars as pl

    for name, table in results.tables.items():
        if name in (*UNREAD, "paces", "ops"):
            continue
        if name == "series":
            table = table.filter(pl.col("kind") == "group")
        yield name, columns.of(table, replication, results.units[name])


def _bounded(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """Shorten lists that would fill the page, such as the cables of an imported fabric."""

    def cut(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, Mapping):
            return {key: cut(item) for key, item in value.items()}
        if isinstance(value, list) and len(value) > 200:
            return f"{len(value):,} items"
        return [cut(item) for item in value] if isinstance(value, list) else value

    bounded: dict[str, Any] = cut(resolved)
    return bounded


def _written(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, list):
        return _short(", ".join(map(str, value)))
    return "–" if value is None else _short(str(value))


def _short(text: str) -> str:
    return (
        text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n… {len(text) - MOST_TEXT:,} more characters"
    )
