from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys

import becalm
from becalm import _core
from becalm.scenario import contents

HEAVY = ("matplotlib", "numpy", "polars", "pydantic", "rich", "typer")
MOST_MODULES = 300
"""More modules than `import becalm` loads, most of them Python's own."""


def test_import_is_light() -> None:
    script = (
        "import sys; before = len(sys.modules); import becalm; "
        f"print([name for name in {HEAVY} if name in sys.modules], len(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy, modules = done.stdout.rsplit(maxsplit=1)
    assert heavy == "[]"
    assert int(modules) < MOST_MODULES


def test_version_is_one() -> None:
    from importlib.metadata import version

    assert becalm.__version__ == version("becalm")


def test_every_public_name_is_documented() -> None:
    for name in becalm.__all__:
        assert name.startswith("__") or getattr(becalm, name).__doc__, name


def test_catalogue_describes_everything() -> None:
    for kind, entries in contents.catalogue().items():
        assert entries, kind
        for entry in entries:
            assert entry.summary, entry.name
            assert all(parameter["help"] for parameter in entry.parameters), entry.name


def test_json_schema_knows_every_section() -> None:
    schema = json.loads(_core.json_schema())
    assert {"run", "topology", "switch", "marking", "response", "flows"} <= set(schema["properties"])


MODULES = sorted(each.name for each in pkgutil.walk_packages(becalm.__path__, "becalm."))


def test_every_module_is_reached_by_its_path() -> None:
    hidden = []
    for name in MODULES:
        if not name.endswith("__main__"):
            module = importlib.import_module(name)
            found: object = becalm
            for part in name.split(".")[1:]:
                found = getattr(found, part, None)
            if found is not module:
                hidden.append(name)
    assert len(MODULES) > 100
    assert hidden == []
