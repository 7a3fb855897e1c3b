"""Provenance in results and packages, without private data."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import becalm
import commands

ROOT = Path(__file__).parents[2]


def test_results_hold_no_paths(file: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret-project"
    secret.mkdir()
    scenario = secret / "mine.toml"
    scenario.write_text(file.read_text())
    assert commands.becalm("run", scenario, "--out", secret / "out", "-q", cwd=tmp_path).returncode == 0
    for path in (secret / "out").iterdir():
        content = path.read_bytes()
        for private in ("secret-project", str(tmp_path), str(Path.home() / "x")[:-1], str(ROOT)):
            assert private.encode() not in content, (path.name, private)
    assert json.loads((secret / "out" / "manifest.json").read_text())["scenario"]["name"] == "mine.toml"


def test_designs_hold_no_paths(tmp_path: Path) -> None:
    made = becalm.design("max(r / 2, rmin)", trial=False).save(tmp_path / "secret-project")
    for path in made.iterdir():
        content = path.read_bytes()
        assert b"secret-project" not in content
        assert str(ROOT).encode() not in content


def test_everything_that_is_installed_has_a_hash() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    wanted = re.split(r"^(?=\S)", re.sub(r"^#.*\n", "", lock, flags=re.MULTILINE), flags=re.MULTILINE)[1:]
    assert len(wanted) > 30
    for each in wanted:
        assert re.match(r"[a-z0-9-]+==\S+ ", each), each
        assert re.search(rf"--hash=sha256:[0-9a-f]{{{2 * hashlib.sha256().digest_size}}}\b", each), each


def test_licences_are_weighed_as_spdx_says() -> None:
    from importlib.machinery import SourceFileLoader
    from importlib.util import module_from_spec, spec_from_loader

    loader = SourceFileLoader("licences", str(ROOT / ".ci" / "licences"))
    spec = spec_from_loader("licences", loader)
    assert spec is not None
    licences = module_from_spec(spec)
    loader.exec_module(licences)
    for good in (
        "MIT",
        "MIT/Apache-2.0",
        "GPL-3.0 OR MIT",
        "(MIT OR GPL-3.0) AND Unicode-3.0",
        "ISC AND MIT",
    ):
        assert licences.allowed(good), good
    for bad in ("GPL-3.0", "none", "MIT AND GPL-3.0", "(MIT OR ISC) AND AGPL-3.0", "Apache", ""):
        assert not licences.allowed(bad), bad
