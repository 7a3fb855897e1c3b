"""Relations between ways to write the same scenario: units, ranges, defaults, TOML."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import becalm
from drawn import Tables
from meaning.equal import bits
from meaning.relation import relation

TIMES = {"ps": -12, "ns": -9, "us": -6, "ms": -3, "s": 0}
SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20}
RATES = {"Mb/s": 10**6, "Gb/s": 10**9, "MB/s": 8 * 10**6, "GB/s": 8 * 10**9}
UNITS: list[dict[str, Decimal]] = [
    {unit: Decimal(10) ** power for unit, power in TIMES.items()},
    {unit: Decimal(factor) for unit, factor in SIZES.items()},
    {unit: Decimal(factor) for unit, factor in RATES.items()},
]
QUANTITY = re.compile(r"([\d.]+) (\S+)")
RANGE = re.compile(r"(\D*)(\d+)\.\.\1(\d+)")


def walked(value: Any, change: Any) -> Any:  # noqa: ANN401
    """Return nested tables and lists with every text changed."""
    if isinstance(value, dict):
        return {key: walked(inside, change) for key, inside in value.items()}
    if isinstance(value, list):
        return [walked(inside, change) for inside in value]
    return change(value) if isinstance(value, str) else value


def respelled(text: str, draw: random.Random) -> str:
    """Return a quantity in another unit, with at most 15 digits; other texts unchanged."""
    found = QUANTITY.fullmatch(text)
    scale = next((scale for scale in UNITS if found and found[2] in scale), None)
    if found is None or scale is None:
        return text
    spelled = []
    for unit, factor in scale.items():
        number = Decimal(found[1]) * scale[found[2]] / factor
        if number * factor == Decimal(found[1]) * scale[found[2]] and len(number.as_tuple().digits) <= 15:
            spelled.append(f"{number.normalize():{draw.choice('fE')}} {unit}")
    return draw.choice(spelled)


@relation(bits, count=40)
def quantities_in_other_units(data: Tables, draw: random.Random) -> list[Tables]:
    """Times, sizes and rates may be written in any unit."""
    return [data, walked(data, lambda text: respelled(text, draw))]


@relation(bits, count=40)
def packets_as_bytes(data: Tables, _: random.Random) -> list[Tables] | None:
    """A buffer of N packets has the bytes of N full packets; with credits, each in whole credits of 64 B."""
    buffer = data["switch"].get("buffer", "auto")
    if not buffer.endswith(" packets"):
        return None
    facts, count = becalm.Scenario(data).summary, int(buffer.split()[0])
    assert count * facts["packet_bytes"] <= facts["buffer_bytes"]
    return [data, {**data, "switch": {**data["switch"], "buffer": f"{facts['buffer_bytes']} B"}}]


@relation(bits, count=30)
def defaults_written_out(data: Tables, _: random.Random) -> list[Tables]:
    """A key that is left out has its default."""
    return [data, without_none(becalm.Scenario(data).resolved)]


@relation(bits, count=15)
def level_of_all_paths(data: Tables, _: random.Random) -> list[Tables] | None:
    """The service level of all groups and jobs may be that of all paths."""
    if all(each.get("sl", 0) == 0 for each in users(data)):
        return None
    paths = [{"from": ["*"], "to": ["*"], "sl": 1}]
    adapter = {**data.get("adapter", {}), "path_sl": paths}
    return [on_level(data, 1), {**on_level(data, 0), "adapter": adapter}]


@relation(bits, count=15)
def levels_that_respond(data: Tables, _: random.Random) -> list[Tables]:
    """A control map with the levels in use is none; other levels have no meaning."""
    used = sorted({each.get("sl", 0) for each in users(data)})
    return [
        data,
        *({**data, "adapter": {**data.get("adapter", {}), "control_map": own}} for own in (used, [*used, 9])),
    ]


def users(data: Tables) -> list[Tables]:
    """Return the groups and jobs."""
    return [*data.get("flows", []), *data.get("jobs", [])]


def on_level(data: Tables, level: int) -> Tables:
    """Return a scenario with all groups and jobs on a service level."""
    kinds = [kind for kind in ("flows", "jobs") if kind in data]
    return {**data, **{kind: [{**each, "sl": level} for each in data[kind]] for kind in kinds}}


def without_none(value: Any) -> Any:  # noqa: ANN401
    """Return nested tables without keys that have no value."""
    if isinstance(value, dict):
        return {key: without_none(inside) for key, inside in value.items() if inside is not None}
    return [without_none(inside) for inside in value] if isinstance(value, list) else value


@relation(bits, count=10)
def text_and_data(data: Tables, _: random.Random) -> list[Tables]:
    """A scenario may be written as TOML or as tables."""
    return [data, becalm.Scenario(becalm.Scenario(data).to_toml()).data()]


@relation(bits, count=20)
def keys_in_another_order(data: Tables, draw: random.Random) -> list[Tables]:
    """The order of keys in a table has no meaning."""

    def shuffled(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, dict):
            items = list(value.items())
            draw.shuffle(items)
            return {key: shuffled(inside) for key, inside in items}
        return [shuffled(inside) for inside in value] if isinstance(value, list) else value

    return [data, shuffled(data)]


@relation(bits, count=40)
def ranges_written_out(data: Tables, draw: random.Random) -> list[Tables]:
    """A range of hosts, or `*`, means the list of its hosts; and a list may be written with ranges."""
    return [data, listed(data), ranged(listed(data), draw)]


def listed(data: Tables) -> Tables:
    """Return a scenario with all hosts written out, in groups, jobs, adapters and cables."""
    scenario = becalm.Scenario(data)

    def out(table: Tables, *keys: str) -> Tables:
        made = table | {key: scenario.hosts(*table[key]) for key in keys if key in table}
        if "weights" in table:
            sizes = [scenario.hosts(item) for item in table["to"]]
            made["weights"] = [
                w / len(part) for w, part in zip(table["weights"], sizes, strict=True) for _ in part
            ]
        if table.get("from") == ["*"] and len(made.get("to", ())) == 1:
            # `*` leaves out the only destination, while a list that contains it is an error.
            made["from"] = [name for name in made["from"] if name not in made["to"]]
        return made

    made = {**data}
    for kind, keys in (("flows", ("from", "to")), ("jobs", ("hosts",))):
        if kind in data:
            made[kind] = [out(each, *keys) for each in data[kind]]
    if "caps" in data.get("adapter", {}):
        made["adapter"] = {**data["adapter"], "caps": [out(cap, "hosts") for cap in data["adapter"]["caps"]]}
    if "edges" in data["topology"]:
        edges = data["topology"]["edges"]
        cables = [cable for each in edges["cables"] for cable in _cables(each)]
        named = {key: [name for item in edges[key] for name in _names(item)] for key in ("hosts", "switches")}
        made["topology"] = {"edges": {**edges, **named, "cables": cables}}
    return made


def _names(item: str) -> list[str]:
    found = RANGE.fullmatch(item)
    return [f"{found[1]}{i}" for i in range(int(found[2]), int(found[3]) + 1)] if found else [item]


def _cables(cable: Tables) -> Iterator[Tables]:
    """Yield a cable for each pair of nodes."""
    for pair in itertools.product(*map(_names, cable["between"])):
        yield {**cable, "between": list(pair)}


def ranged(data: Tables, draw: random.Random) -> Tables:
    """Return a scenario in which some lists of hosts contain ranges."""
    made = {**data}
    for kind in ("flows", "jobs"):
        if kind in data:
            made[kind] = [
                each
                | {
                    key: _ranges(each[key], draw)
                    for key in ("from", "hosts", *_unweighted(each))
                    if key in each
                }
                for each in data[kind]
            ]
    return made


def _unweighted(group: Tables) -> tuple[str, ...]:
    """Return `to`, unless its entries have weights of their own."""
    return () if "weights" in group else ("to",)


def _ranges(names: list[str], draw: random.Random) -> list[str]:
    made: list[list[str]] = []
    for name in names:
        if made and draw.random() < 0.8 and _names(f"{made[-1][0]}..{name}")[-2:] == [made[-1][-1], name]:
            made[-1].append(name)
        else:
            made.append([name])
    return [run[0] if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in made]
