"""Scenes of the playground, and the page itself, without a browser."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app
from becalm.reports import playground

SCENES = sorted((Path(__file__).parents[2] / "web" / "scenes").glob("*.toml"))


@pytest.mark.parametrize("file", SCENES, ids=lambda file: file.stem)
def test_scenes_run(file: Path) -> None:
    """Each scene is valid and quick, and control changes its results."""
    scenario = becalm.load(file)
    results = becalm.run(scenario)
    assert 5_000 < results.packet_hops < 1_000_000
    bare = scenario.replace({"marking": {"none": {}}, "response": {"none": {}}})
    assert becalm.run(bare).fingerprint != results.fingerprint


def test_the_page_holds_every_scene_and_loads_nothing() -> None:
    page = playground.page().read_text(encoding="utf-8")
    assert len(page.encode()) <= 1_150_000
    assert "connect-src 'none'" in page
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)
    for file in SCENES:
        assert file.read_text().splitlines()[0] in page


def test_the_command_prints_the_path_where_there_is_no_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    done = CliRunner().invoke(app, ["play"])
    assert (done.exit_code, done.output.replace("\n", "")) == (0, str(playground.page()))
    file = tmp_path / "mine.toml"
    file.write_text("# </script>\n", encoding="utf-8")
    text = playground.page_with(file).read_text(encoding="utf-8")
    data = re.search(r'id="given">([^<]+)<', text)
    assert data is not None
    assert base64.b64decode(data[1]).decode() == file.read_text()


def test_what_is_no_text_is_one_clear_message(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    for data, problem in ((b"\xff", "not a text file in UTF-8"), (b"#" * 1_000_001, "1,000,001 bytes")):
        file.write_bytes(data)
        done = CliRunner().invoke(app, ["play", str(file)])
        assert done.exit_code == 2
        assert problem in done.output.replace("\n", " ")
    assert CliRunner().invoke(app, ["play", str(tmp_path / "none.toml")]).exit_code == 2
