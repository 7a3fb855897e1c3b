"""Builds the site: pages, API, gallery, Rust documentation, sample reports, playground.

    python tools/site_build.py                  the full site, in `target/site`
    python tools/site_build.py --small FOLDER   a site for tests, in `FOLDER/site`: one report, no rustdoc

The pages in `docs` are plain Markdown, which is also readable on a code host. This program copies them and
the repository files that they link to, adds content for the site, and calls Zensical. A link to
`play/index.html#SCENE` opens the playground with a scene from `web/scenes`. `tools/site_check.py` checks the
result.
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
README = ROOT / "README.md"
"""The first page of the site."""
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
"""Pages outside `docs` that are part of the site."""
TRY = """\
Move the sliders in the [playground](play/index.html), or look at a report: a
[congestion tree](reports/congestion_spreading.html), a [storage incast](reports/storage_incast.html), or an
[all-reduce next to an incast](reports/all_reduce_beside_incast.html).

"""
"""What only the site has, before the README's section `Start`."""
REPORTS = ("congestion_spreading", "storage_incast", "all_reduce_beside_incast")
"""Example scenarios of the sample reports."""
LAST = ("reproductions/", "CHANGELOG")
"""Pages that a search finds by title only."""
START = "becalm_fabric/index.html"
"""Start page of the Rust documentation."""

_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)#\s]+)((?:#[^)]*)?\))")
_SCENE = re.compile(r"(play/index\.html)#(\w+)\)")
_NAVIGATION = re.compile(
    r'(<nav [^>]*)aria-labelledby="(__nav_\w+)_label"([^>]*>\s*<label [^>]*for="\2">(.*?)</label>)', re.DOTALL
)
"""A part of the navigation: the label that it refers to is without text if the part has a page of its own."""
_EMPTY = re.compile(r"<th\b([^>]*)></th>")


@dataclass(frozen=True)
class Site:
    """Paths and extent of a site."""

    configuration: Path
    """Zensical's configuration: `mkdocs.yml` or a file derived from it."""
    stage: Path
    """Folder of the pages for Zensical."""
    built: Path
    """Folder of the site."""
    small: bool = False

    def build(self) -> None:
        """Build the site; if a command fails, exit with its code."""
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
        self._accessible()

    def _search(self) -> None:
        """Limit search of papers and the changelog to titles, because their text would hide other pages."""
        file = self.built / "search.json"
        found = json.loads(file.read_text())
        items = [each for each in found["items"] if not each["location"].startswith(LAST)]
        titles = [each for each in found["items"] if each["location"].startswith(LAST) and each["level"] == 1]
        found["items"] = [*items, *({**each, "text": ""} for each in titles)]
        file.write_text(json.dumps(found, separators=(",", ":")))

    def _accessible(self) -> None:
        """Name what the theme does not, for readers without a screen. `docs/site.js` does the rest."""
        for page in self.built.rglob("*.html"):
            if page.relative_to(self.built).parts[0] in ("play", "reports", "rust"):
                continue
            text = _NAVIGATION.sub(_named, page.read_text(encoding="utf-8"))
            page.write_text(_EMPTY.sub(r"<td\1></td>", text), encoding="utf-8")

    def _configure(self) -> None:
        text = CONFIGURATION.read_text()
        for old, new in (
            ("docs_dir: target/site-docs", f"docs_dir: {self.stage.name}"),
            ("site_dir: target/site", f"site_dir: {self.built.name}"),
            ("paths: [python]", f"paths: [{ROOT / 'python'}]"),
        ):
            if old not in text:
                sys.exit(f"{CONFIGURATION.name}: the line `{old}` is missing")
            text = text.replace(old, new)
        _folder(self.configuration.parent)
        self.configuration.write_text(text)

    def _pages(self) -> None:
        """Copy `docs`, the pages outside it, and the repository files that they link to."""
        shutil.rmtree(self.stage, ignore_errors=True)
        shutil.copytree(DOCS, self.stage, ignore=shutil.ignore_patterns("*.py", "*.jsonl"))
        for sheet in GALLERY.glob("*.md"):
            if sheet != INDEX:
                self._place(sheet).with_suffix(".ipynb").write_text(notebook(sheet.read_text()))
        for source in (*(ROOT / page for page in PAGES), *DOCS.rglob("*.md")):
            text = source.read_text()
            if source == README:
                before, start, after = text.partition("## Start\n")
                text = before + TRY + start + after
            text = _LINK.sub(partial(self._relinked, source), text)
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
        """Return the place of a repository file among the pages; `docs` is the root of the site."""
        if path == README:
            return self.stage / "index.md"
        return self.stage / path.relative_to(DOCS if path.is_relative_to(DOCS) else ROOT)

    def _reports(self) -> None:
        """Run the scenarios of the sample reports in parallel; a small site contains copies of one report."""
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
        """Copy the documentation of the crates; a small site contains an empty page instead.

        rustdoc's pages load a list of implementors for each trait, but rustdoc writes no list for a trait
        that no other crate implements. This method creates the missing lists as empty files.
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
    """Return the published site."""
    return Site(CONFIGURATION, ROOT / "target" / "site-docs", ROOT / "target" / "site")


def small(folder: Path) -> Site:
    """Return a site for tests in a folder of the repository."""
    folder = folder.resolve()
    return Site(folder / "mkdocs.yml", folder / "docs", folder / "site", small=True)


def fragment(scenario: str) -> str:
    """Return the fragment of a playground link for a scenario, in the format of `web/src/share.ts`."""
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(scenario.encode()) + packer.flush()
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def _named(found: re.Match[str]) -> str:
    name = " ".join(re.sub(r"<[^>]+>", " ", found[4]).split())
    return f'{found[1]}aria-label="{name}"{found[3]}'


def _scene(found: re.Match[str]) -> str:
    scene = SCENES / f"{found[2]}.toml"
    if not scene.is_file():
        sys.exit(f"{found[0]}: scene {scene.relative_to(ROOT)} does not exist")
    return f"{found[1]}{fragment(scene.read_text())})"


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _call(*commands: tuple[str | Path, ...]) -> None:
    """Run commands in parallel; exit with the first non-zero exit code."""
    started = [subprocess.Popen(command, cwd=ROOT) for command in commands]
    for code in [each.wait() for each in started]:
        if code:
            sys.exit(code)


def main() -> None:
    """Build the site that the command line selects."""
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("--small", type=Path, metavar="FOLDER", help="build a site for tests in FOLDER/site")
    asked = parser.parse_args()
    (small(asked.small) if asked.small else whole()).build()


if __name__ == "__main__":
    main()
