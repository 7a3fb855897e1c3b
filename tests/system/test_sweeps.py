"""Damaged, missing or failing points of a sweep are named or computed again, and other points continue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import commands

DAMAGE = (b"", b"{}", b"\0" * 40_000, b"\x89PNG\r\n\x1a\n", None)
"""Replacements of a file; None deletes it. The test also cuts files in half."""


@pytest.fixture
def spec(file: Path) -> Path:
    path = file.parent / "sweep.toml"
    path.write_text(f'scenario = "{file.name}"\nstore = "kept"\n[seeds]\ncount = 12\n')
    return path


def _runs(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "runs").rglob("*.zip")}


def test_twelve_damaged_points_lose_nothing(spec: Path) -> None:
    def sweep() -> tuple[dict[str, int], str]:
        done = commands.becalm("sweep", spec, "--json", "--workers", 2)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
        return json.loads(done.stdout), done.stderr

    assert sweep()[0]["computed"] == 12
    kept = spec.parent / "kept"
    whole = _runs(kept)
    assert len(whole) == 12
    for place, (name, content) in enumerate(sorted(whole.items())):
        damage = [*DAMAGE, content[: len(content) // 2]][place % 6]
        if damage is None:
            (kept / name).unlink()
        else:
            (kept / name).write_bytes(damage)
    done, said = sweep()
    # Missing runs are computed again without a message, because nothing shows that they existed.
    assert (done["found"], done["computed"], done["damaged"]) == (0, 12, 10)
    assert said.count("; computed again\n") == 10
    assert {name: len(content) for name, content in _runs(kept).items()}.keys() == whole.keys()
    assert sweep()[0]["found"] == 12


RING = """\
[run]
duration = "2 ms"
[switch.arbiter.oldest_first]
[topology.edges]
hosts = ["H0..H3"]
switches = ["S0..S3"]
allow_cycles = true
cables = [
    { between = ["H0", "S0"] }, { between = ["H1", "S1"] },
    { between = ["H2", "S2"] }, { between = ["H3", "S3"] },
    { between = ["S0", "S1"] }, { between = ["S1", "S2"] },
    { between = ["S2", "S3"] }, { between = ["S3", "S0"] },
]
[[topology.edges.routes]]
switch = "S0"
to = ["H1", "H2"]
via = "S1"
[[topology.edges.routes]]
switch = "S1"
to = ["H2", "H3"]
via = "S2"
[[topology.edges.routes]]
switch = "S2"
to = ["H3", "H0"]
via = "S3"
[[topology.edges.routes]]
switch = "S3"
to = ["H0", "H1"]
via = "S0"
[switch]
buffer = "2 packets"
[[flows]]
name = "ring"
from = ["*"]
pattern.shift.by = 2
"""


def test_a_point_that_fails_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "ring.toml").write_text(RING)
    spec = tmp_path / "sweep.toml"
    spec.write_text(
        'scenario = "ring.toml"\nstore = "kept"\n[grid]\n"switch.buffer" = ["2 packets", "unlimited"]\n'
    )
    done = commands.becalm("sweep", spec)
    assert done.returncode == 1
    assert "1 computed, 1 failed" in done.stdout
    assert "switch.buffer = 2 packets: deadlock" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("hot", ["BC", "A3"])
def test_the_incast_of_the_documentation(hot: str, file: Path, tmp_path: Path) -> None:
    """All hosts send to one host, except this host itself."""
    import becalm

    text = '[run]\nduration = "50 us"\n[topology.dumbbell]\n[[flows]]\nname = "all"\nfrom = ["*"]\n'
    text += f'to = ["{hot}"]\n'
    file.write_text(text)
    done = commands.becalm("run", file, "--out", tmp_path / "out", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    flows = becalm.load_results(tmp_path / "out").flows
    assert flows.height == 22
    assert hot not in flows["source"].to_list()
    file.write_text(text.replace('"*"', f'"{hot}"'))
    commands.check_message(commands.becalm("validate", file), f"`{hot}`", "itself")
