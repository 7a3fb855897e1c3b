"""Checks the built site: every link and anchor has a target, and no page loads files from other sites.

`python tools/site_check.py target/site` prints a line for each problem, and exits with 1 if there are any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ASSETS = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
}
"""Elements that load files, and the attributes that name these files."""
LOADED = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "manifest", "preconnect"}
"""Relations of a `<link>` that make a browser open a connection."""


class Page(HTMLParser):
    """The links, assets and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.assets: list[str] = []
        self.anchors: set[str] = set()
        self.redirect: str | None = None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the links, assets and anchors of an element."""
        named = {name: value or "" for name, value in attrs}
        self.anchors.update(named[key] for key in ("id", "name") if named.get(key))
        self.assets += [named[key] for key in ASSETS.get(tag, ()) if named.get(key)]
        if tag == "link" and LOADED & set(named.get("rel", "").lower().split()):
            self.assets.append(named.get("href", ""))
        elif tag == "meta" and named.get("http-equiv", "").lower() == "refresh":
            self.redirect = re.sub(r".*url=", "", named.get("content", ""), flags=re.IGNORECASE)
        elif tag in ("a", "area") and named.get("href") is not None:
            self.links.append(named["href"])


def mistakes(site: Path) -> Iterator[str]:
    """Yield a line for each problem in the pages of a site."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        here = path.relative_to(site)
        for asset in page.assets:
            if _elsewhere(asset):
                yield f"{here}: loads {asset}"
            elif not asset.startswith("data:") and not _target(site, path, asset).exists():
                yield f"{here}: {asset} does not exist"
        for link in page.links:
            if _elsewhere(link) or urlsplit(link).scheme:
                continue
            target = _target(site, path, link)
            if target in pages and (further := pages[target].redirect):
                target = _target(site, target, further)
            if not target.exists():
                yield f"{here}: {link} leads nowhere"
            elif target in pages and not _anchored(urlsplit(link).fragment, pages[target]):
                yield f"{here}: {link}: no such anchor"


def _elsewhere(link: str) -> bool:
    return link.startswith("//") or urlsplit(link).scheme in ("http", "https")


def _anchored(anchor: str, page: Page) -> bool:
    """Return whether a page has an anchor.

    Scripts create the anchors of source lines, `12` or `12-20`, and read the scenario from the playground's.
    """
    made = anchor.replace("-", "").isdigit() or (
        anchor.startswith("s=") and {"core", "worker"} <= page.anchors
    )
    return not anchor or made or anchor in page.anchors or unquote(anchor) in page.anchors


def _target(site: Path, page: Path, link: str) -> Path:
    path = unquote(urlsplit(link).path)
    if not path:
        return page
    target = (site / path[1:] if path.startswith("/") else page.parent / path).resolve()
    return target / "index.html" if target.is_dir() else target


def main() -> None:
    """Check the site that the command line names."""
    site = Path(sys.argv[1]).resolve()
    found = sorted(set(mistakes(site)))
    print("\n".join(found[:50]))
    pages = len(list(site.rglob("*.html")))
    print(f"{pages} pages, {len(found)} broken links, anchors or assets")
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
