"""Builds the site in `target/site`: pages, API, gallery, Rust documentation, sample reports, playground.

The pages of `docs` are plain Markdown that also reads on a code host. This program copies them to
`target/site-docs`, follows links that leave `docs` into the repository, adds what is made for the site alone,
and calls Zensical. `tools/site_check.py` looks over the result.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

from gallery import GALLERY, INDEX, notebook

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
STAGE = ROOT / "target" / "site-docs"
SITE = ROOT / "target" / "site"
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Pages beside `docs` that belong to the site."""
REPORTS = ("congestion_spreading", "storage_incast", "all_reduce_beside_incast")
"""Ready scenarios whose reports are shown."""
START = "becalm_fabric/index.html"
"""The crate that the Rust documentation opens with."""

_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)#\s]+)((?:#[^)]*)?\))")


def main() -> None:
    """Build the site; the exit code is that of the first command that fails."""
    stage()
    reports()
    rust()
    shutil.copy(ROOT / "python/becalm/report/play.html", _folder(STAGE / "play") / "index.html")
    shutil.rmtree(SITE, ignore_errors=True)
    _call(sys.executable, "-m", "zensical", "build", "--clean", "--strict", "--config-file", "mkdocs.yml")


def stage() -> None:
    """Copy `docs`, the pages beside it, and every file of the repository that they link to."""
    shutil.rmtree(STAGE, ignore_errors=True)
    shutil.copytree(DOCS, STAGE, ignore=shutil.ignore_patterns("*.py", "*.jsonl"))
    for sheet in GALLERY.glob("*.md"):
        if sheet != INDEX:
            _place(sheet).with_suffix(".ipynb").write_text(notebook(sheet.read_text()))
    for source in (*(ROOT / page for page in PAGES), *DOCS.rglob("*.md")):
        text = _LINK.sub(partial(_relinked, source), source.read_text())
        if _place(source).with_suffix(".ipynb").exists():
            text += f"\n[This page as a notebook]({source.stem}.ipynb)\n"
        _place(source).write_text(text)


def reports() -> None:
    """Run the scenarios of the sample reports."""
    folder = _folder(STAGE / "reports")
    for name in REPORTS:
        runs = ROOT / "target" / "site-runs" / name
        shutil.rmtree(runs, ignore_errors=True)
        options = ("--example", name, "--out", runs, "--report", folder / f"{name}.html", "--quiet")
        _call(sys.executable, "-m", "becalm", "run", *options)


def rust() -> None:
    """Copy the documentation of the crates.

    rustdoc loads a list of implementors for each trait, and writes none for a trait that no other crate
    implements: those lists become empty.
    """
    folder = STAGE / "rust"
    shutil.copytree(ROOT / "target" / "doc", folder, ignore=shutil.ignore_patterns(".lock"))
    for page in folder.rglob("trait.*.html"):
        for script in re.findall(r'src="([^"]*trait\.impl/[^"]*\.js)"', page.read_text()):
            _folder((page.parent / script).resolve().parent)
            (page.parent / script).touch()
    (folder / "index.html").write_text(f'<meta http-equiv="refresh" content="0; url={START}">\n')


def _relinked(source: Path, found: re.Match[str]) -> str:
    before, target, after = found.groups()
    if "://" in target or target.startswith("mailto:"):
        return found[0]
    reached = (source.parent / target).resolve()
    if not reached.is_relative_to(DOCS) and reached.is_file() and reached.suffix != ".md":
        shutil.copy(reached, _folder(_place(reached).parent) / reached.name)
    return before + os.path.relpath(_place(reached), _place(source).parent) + after


def _place(path: Path) -> Path:
    """Return where a file of the repository stands among the pages: `docs` is the root of the site."""
    return STAGE / path.relative_to(DOCS if path.is_relative_to(DOCS) else ROOT)


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _call(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
