"""Builds the site: pages, API, gallery, Rust documentation, sample reports, playground.

    python tools/site_build.py                  the whole site, in `target/site`
    python tools/site_build.py --small FOLDER   one for tests, in `FOLDER/site`: one report, no rustdoc

The pages of `docs` are plain Markdown that also reads on a code host. This program copies them beside the
site, follows links that leave `docs` into the repository, adds what is made for the site alone, and calls
Zensical. A link to `play/index.html#SCENE` opens the playground with a scene of `web/scenes`.
`tools/site_check.py` looks over the result.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gallery import GALLERY, INDEX, notebook

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CONFIGURATION = ROOT / "mkdocs.yml"
SCENES = ROOT / "web" / "scenes"
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Pages beside `docs` that belong to the site."""
REPORTS = ("congestion_spreading", "storage_incast", "all_reduce_beside_incast")
"""Ready scenarios whose reports are shown."""
LAST = ("reproductions/", "CHANGELOG")
"""Pages of which a search knows the titles alone."""
START = "becalm_fabric/index.html"
"""The crate that the Rust documentation opens with."""

_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)#\s]+)((?:#[^)]*)?\))")
_SCENE = re.compile(r"(play/index\.html)#(\w+)\)")


@dataclass(frozen=True)
class Site:
    """Where a site is built, and what of it."""

    configuration: Path
    """The file that Zensical reads: `mkdocs.yml`, or one made of it."""
    stage: Path
    """The pages as Zensical gets them."""
    built: Path
    """The site."""
    small: bool = False

    def build(self) -> None:
        """Build it; the program ends with the exit code of the first command that fails."""
        if self.small:
            self._configure()
        self._pages()
        self._reports()
        self._rust()
        shutil.copy(ROOT / "python/becalm/reports/play.html", _folder(self.stage / "play") / "index.html")
        shutil.rmtree(self.built, ignore_errors=True)
        strictly = ("--clean", "--strict", "--config-file", self.configuration)
        _call((sys.executable, "-m", "zensical", "build", *strictly))
        self._search()

    def _search(self) -> None:
        """Find pages of papers and the changelog by their titles alone: their words hide others."""
        file = self.built / "search.json"
        found = json.loads(file.read_text())
        items = [each for each in found["items"] if not each["location"].startswith(LAST)]
        titles = [each for each in found["items"] if each["location"].startswith(LAST) and each["level"] == 1]
        found["items"] = [*items, *({**each, "text": ""} for each in titles)]
        file.write_text(json.dumps(found, separators=(",", ":")))

    def _configure(self) -> None:
        text = CONFIGURATION.read_text()
        for old, new in (
            ("docs_dir: target/site-docs", f"docs_dir: {self.stage.name}"),
            ("site_dir: target/site", f"site_dir: {self.built.name}"),
            ("paths: [python]", f"paths: [{ROOT / 'python'}]"),
        ):
            if old not in text:
                sys.exit(f"{CONFIGURATION.name}: has no line `{old}`")
            text = text.replace(old, new)
        _folder(self.configuration.parent)
        self.configuration.write_text(text)

    def _pages(self) -> None:
        """Copy `docs`, the pages beside it, and every file of the repository that they link to."""
        shutil.rmtree(self.stage, ignore_errors=True)
        shutil.copytree(DOCS, self.stage, ignore=shutil.ignore_patterns("*.py", "*.jsonl"))
        for sheet in GALLERY.glob("*.md"):
            if sheet != INDEX:
                self._place(sheet).with_suffix(".ipynb").write_text(notebook(sheet.read_text()))
        for source in (*(ROOT / page for page in PAGES), *DOCS.rglob("*.md")):
            text = _LINK.sub(partial(self._relinked, source), source.read_text())
            text = _SCENE.sub(_scene, text)
            if self._place(source).with_suffix(".ipynb").exists():
                text += f"\n[This page as a notebook]({source.stem}.ipynb)\n"
            self._place(source).write_text(text)

    def _relinked(self, source: Path, found: re.Match[str]) -> str:
        before, target, after = found.groups()
        if "://" in target or target.startswith("mailto:"):
            return found[0]
        reached = (source.parent / target).resolve()
        if not reached.is_relative_to(DOCS) and reached.is_file() and reached.suffix != ".md":
            shutil.copy(reached, _folder(self._place(reached).parent) / reached.name)
        return before + os.path.relpath(self._place(reached), self._place(source).parent) + after

    def _place(self, path: Path) -> Path:
        """Return where a file of the repository stands among the pages: `docs` is the root of the site."""
        return self.stage / path.relative_to(DOCS if path.is_relative_to(DOCS) else ROOT)

    def _reports(self) -> None:
        """Run the scenarios of the sample reports at once; a small site shows one of them three times."""
        folder = _folder(self.stage / "reports")
        commands = []
        for name in REPORTS[:1] if self.small else REPORTS:
            runs = self.stage.parent / "site-runs" / name
            shutil.rmtree(runs, ignore_errors=True)
            options = ("--example", name, "--out", runs, "--report", folder / f"{name}.html", "--quiet")
            commands.append((sys.executable, "-m", "becalm", "run", *options))
        _call(*commands)
        for name in REPORTS[1:] if self.small else ():
            shutil.copy(folder / f"{REPORTS[0]}.html", folder / f"{name}.html")

    def _rust(self) -> None:
        """Copy the documentation of the crates; a small site has an empty page in its place.

        rustdoc loads a list of implementors for each trait, and writes none for a trait that no other crate
        implements: those lists become empty.
        """
        folder = self.stage / "rust"
        if self.small:
            _folder((folder / START).parent)
            (folder / START).write_text("<!doctype html><title>Rust</title>\n")
        else:
            shutil.copytree(ROOT / "target" / "doc", folder, ignore=shutil.ignore_patterns(".lock"))
        for page in folder.rglob("trait.*.html"):
            for script in re.findall(r'src="([^"]*trait\.impl/[^"]*\.js)"', page.read_text()):
                _folder((page.parent / script).resolve().parent)
                (page.parent / script).touch()
        (folder / "index.html").write_text(f'<meta http-equiv="refresh" content="0; url={START}">\n')


def whole() -> Site:
    """Return the site as it is published."""
    return Site(CONFIGURATION, ROOT / "target" / "site-docs", ROOT / "target" / "site")


def small(folder: Path) -> Site:
    """Return a site for tests, in a folder below the repository."""
    folder = folder.resolve()
    return Site(folder / "mkdocs.yml", folder / "docs", folder / "site", small=True)


def fragment(scenario: str) -> str:
    """Return the end of a link that opens the playground with a scenario, as `web/src/share.ts` reads it."""
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(scenario.encode()) + packer.flush()
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def _scene(found: re.Match[str]) -> str:
    scene = SCENES / f"{found[2]}.toml"
    if not scene.is_file():
        sys.exit(f"{found[0]}: there is no scene {scene.relative_to(ROOT)}")
    return f"{found[1]}{fragment(scene.read_text())})"


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _call(*commands: tuple[str | Path, ...]) -> None:
    """Run commands at once; the program ends with the first exit code that is not 0."""
    started = [subprocess.Popen(command, cwd=ROOT) for command in commands]
    for code in [each.wait() for each in started]:
        if code:
            sys.exit(code)


def main() -> None:
    """Read the command line, and build."""
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("--small", type=Path, metavar="FOLDER", help="a site for tests, in FOLDER/site")
    asked = parser.parse_args()
    (small(asked.small) if asked.small else whole()).build()


if __name__ == "__main__":
    main()
