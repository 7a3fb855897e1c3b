from __future__ import annotations

import base64
import json
import re
import sys
import zlib
from importlib import import_module
from pathlib import Path

import pytest

import becalm

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import gallery  # noqa: E402
import site_build  # noqa: E402
import site_check  # noqa: E402

PAGES = sorted(page for page in gallery.GALLERY.glob("*.md") if page != gallery.INDEX)


def documented() -> list[str]:
    pages = (ROOT / "docs" / "api").glob("*.md")
    return [name for page in pages for name in re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE)]


def resolved(path: str) -> object:
    module, _, name = path.rpartition(".")
    found = import_module(module)
    return getattr(found, name, None) or import_module(path)


def test_the_api_pages_have_every_public_name() -> None:
    there = [resolved(path) for path in documented()]
    public = [name for name in becalm.__all__ if name != "__version__"]
    assert [name for name in public if getattr(becalm, name) not in there] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "api").glob("*.md")), ids=lambda page: page.stem)
def test_every_api_page_has_an_example(page: Path) -> None:
    assert (
        page.stem == "README"
        or "```python\nimport" in page.read_text()
        or "```python\nfrom" in page.read_text()
    )


def test_the_navigation_has_every_page_once() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    listed = re.findall(r"\S+\.md$", navigation, re.MULTILINE)
    docs = ROOT / "docs"
    there = [str(page.relative_to(docs)) for page in docs.rglob("*.md")]
    assert sorted(listed) == sorted([*there, "index.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])


def test_a_link_to_the_playground_holds_the_whole_scene() -> None:
    scene = (site_build.SCENES / "incast.toml").read_text()
    address = site_build.fragment(scene).removeprefix("#s=")
    packed = base64.urlsafe_b64decode(address + "=" * (-len(address) % 4))
    assert zlib.decompress(packed, wbits=-15).decode() == scene


def test_every_page_of_the_gallery_is_in_its_index_with_picture_time_and_fingerprint() -> None:
    index = gallery.INDEX.read_text()
    for page in PAGES:
        text = page.read_text()
        assert re.search(rf"\]\({page.name}\) \| \d+ s \|", index), page.name
        assert re.search(r"!\[[^\]]+\]\([^)]+\.(svg|png)\)", text), page.name
        assert re.search(r"\b[0-9a-f]{16}\b", text), page.name
    assert len(PAGES) >= 8


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_has_the_code_of_its_page(page: Path) -> None:
    made = json.loads(gallery.notebook(page.read_text()))
    code = [cell["source"] for cell in made["cells"] if cell["cell_type"] == "code"]
    assert sum(cell.count("\n!") + cell.startswith("!") for cell in code) == page.read_text().count("\n$ ")
    for cell in code:
        if not cell.startswith("!"):
            compile(cell, page.name, "exec")
    assert not any("```" in cell["source"] for cell in made["cells"])


GOOD = '<a href="b.html#there">b</a><img src="p.png"><a href="https://example.org">out</a><i id="top"></i>'
FAULTS = {
    '<a href="c.html">c</a>': "leads nowhere",
    '<a href="b.html#gone">b</a>': "no such anchor",
    '<img src="q.png">': "does not exist",
    '<script src="https://example.org/x.js"></script>': "loads https://example.org/x.js",
    '<link rel="stylesheet" href="//example.org/x.css">': "loads //example.org/x.css",
    '<iframe src="http://example.org"></iframe>': "loads http://example.org",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_check_of_the_site_finds_what_is_wrong(tmp_path: Path, fault: str) -> None:
    (tmp_path / "b.html").write_text(
        '<h1 id="there">b</h1><a href="a.html#top">a</a><a href="#there">here</a>'
    )
    (tmp_path / "p.png").touch()
    (tmp_path / "a.html").write_text(GOOD)
    assert list(site_check.mistakes(tmp_path)) == []
    (tmp_path / "a.html").write_text(GOOD + fault)
    (mistake,) = site_check.mistakes(tmp_path)
    assert FAULTS[fault] in mistake
