"""The dictionary of result columns is complete."""

from __future__ import annotations

import becalm
from becalm.columns import COLUMNS, TABLES


def test_every_column_has_a_meaning_and_every_meaning_a_column(scenario: becalm.Scenario) -> None:
    end = scenario.resolved["run"]["duration"]
    everything = {
        **{"observe.paces": True, "observe.queues": True, "observe.snapshots": [end]},
        **{"observe.frames": end, "observe.spans": True, "observe.messages": True},
        "switch.flow_control": {"pfc": {}},
        "jobs": [{"name": "job", "hosts": ["A1", "B1"], "collective": {"barrier": {}}, "record_ops": True}],
    }
    units = becalm.run(scenario.replace(everything)).units
    columns = {
        table: [column for column in names if column != "replication"] for table, names in units.items()
    }
    assert columns == {table: list(meanings) for table, meanings in COLUMNS.items()}
    assert list(TABLES) == list(COLUMNS)


def test_meanings_are_sentences() -> None:
    for meaning in [*TABLES.values(), *(text for table in COLUMNS.values() for text in table.values())]:
        assert meaning.endswith("."), meaning
