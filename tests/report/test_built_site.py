"""The built site in a real browser: no messages, no external requests, and a result behind each entry link.

`BECALM_SITE`, which `make site-check` sets, names an existing site. Otherwise a small site is built.
`target/screenshots` contains screenshots of the opened pages.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from browsing import chromium, complaints, requests, violations, wait

import becalm

pytest.importorskip("zensical", reason="needs becalm[site]: zensical")

from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "target" / "screenshots"
OPENED = {
    "first_page": "index.html",
    "gallery": "gallery/incast_victims.html",
    "reproductions": "reproductions/index.html",
    "api": "api/runs.html",
    "report": "reports/congestion_spreading.html",
    "playground": "play/index.html",
}
DRAWN = {
    "report": "document.getElementById('page').dataset.ready === 'true'",
    "playground": "document.getElementById('page').dataset.ready === 'true' && playground.idle()",
}
"""Conditions under which pages with scripts are complete."""
ASKED = {
    "how long does my job take": "questions.html",
    "progress bar": "questions.html",
    "why is my job slow": "questions.html",
    "which settings should I use": "questions.html",
    "import my fabric": "questions.html",
    "sweep on a cluster": "sweeps.html",
    "write my own scheme": "gallery/own_marking.html",
    "credit starvation": "schemes/marking.ibta.html",
    "victim": "results.html",
}
"""Typical searches, and pages with the answers."""
DOORS = ("run a fabric", "run jobs", "do research", "design hardware")
READ = (
    *("index.html", "administrators.html", "gallery/incast_victims.html", "reproductions/index.html"),
    *("reproductions/gran2010/readings.html", "api/design.html", "schemes/index.html", "404.html"),
)
"""Pages of each kind, which axe reads."""
SCHEMES = {"light": "default", "dark": "slate"}
"""The theme's names of its colours."""
PLAYED = f"window.playground !== undefined && {DRAWN['playground']}"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def site() -> Path:
    if given := os.environ.get("BECALM_SITE"):
        there = ROOT / given
        assert (there / "index.html").is_file(), f"BECALM_SITE={given}: no site there"
        return there
    folder = ROOT / "target" / "small-site"
    subprocess.run([sys.executable, ROOT / "tools" / "site_build.py", "--small", folder], check=True)
    return folder / "site"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    yield from chromium()


@pytest.fixture
def silent(browser: Any, address: str) -> Iterator[Any]:  # noqa: ANN401
    """A browser; checks that it logs no messages and requests only the site."""
    complaints(browser)
    requests(browser)
    yield browser
    own = (address, "blob:", "data:", "about:")
    assert [url for url in requests(browser) if not url.startswith(own)] == []
    assert complaints(browser) == []


def opened(browser: Any, url: str, condition: str = "true") -> None:  # noqa: ANN401
    browser.get(url)
    wait(browser, f"document.readyState === 'complete' && {condition}")


def resized(browser: Any, width: int, height: int) -> None:  # noqa: ANN401
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def native(scenario: str) -> str:
    return becalm.run(becalm.Scenario(scenario), threads=1).fingerprints[0]


@pytest.mark.parametrize("name", OPENED)
def test_a_page_loads_only_from_its_site_and_without_a_message(silent: Any, address: str, name: str) -> None:  # noqa: ANN401
    opened(silent, address + OPENED[name], DRAWN.get(name, "true"))
    assert silent.save_screenshot(str(SCREENSHOTS / f"{name}.png"))
    broken = "[...document.images].filter((image) => !image.complete || !image.naturalWidth)"
    assert silent.execute_script(f"return {broken}.map((image) => image.src)") == []


@pytest.mark.parametrize("name", sorted(OPENED))
def test_a_page_fits_a_narrow_screen(silent: Any, address: str, name: str) -> None:  # noqa: ANN401
    resized(silent, 390, 844)
    opened(silent, address + OPENED[name], DRAWN.get(name, "true"))
    assert silent.save_screenshot(str(SCREENSHOTS / f"{name}_narrow.png"))
    beyond = silent.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
    silent.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert beyond <= 0


@pytest.mark.parametrize("door", DOORS)
def test_a_door_leads_in_three_clicks_to_a_result_of_ones_own(silent: Any, address: str, door: str) -> None:  # noqa: ANN401
    """Click the entry link, its scene in the playground, and a slider."""
    opened(silent, address)
    row = f"[...document.querySelectorAll('tr')].find((row) => row.textContent.includes({door!r}))"
    silent.execute_script(f"{row}.querySelector('td:nth-child(2) a').click()")
    wait(silent, "document.querySelector('a[href*=\"play/index.html\"]') !== null")

    silent.execute_script("document.querySelector('a[href*=\"play/index.html#s=\"]').click()")
    wait(silent, PLAYED)
    shown = silent.execute_script("return playground.fingerprints()")[0]
    assert shown == native(silent.execute_script("return playground.text()"))

    slider = silent.find_element(By.CSS_SELECTOR, ".slider input")
    share = silent.execute_script("const [s] = arguments; return (s.value - s.min) / (s.max - s.min)", slider)
    width = slider.size["width"]
    ActionChains(silent).move_to_element_with_offset(
        slider, int(width * (0.35 if share < 0.5 else -0.35)), 0
    ).click().perform()
    wait(silent, f"{DRAWN['playground']} && playground.fingerprints()[0] !== {shown!r}")
    own = silent.execute_script("return playground.fingerprints()")[0]
    assert own == native(silent.execute_script("return playground.text()"))
    wait(silent, PLAYED)
    assert silent.save_screenshot(str(SCREENSHOTS / f"door_{door.split()[-1]}.png"))


def test_every_page_of_the_gallery_has_its_notebook(silent: Any, address: str) -> None:  # noqa: ANN401
    opened(silent, address + "gallery/index.html")
    links = silent.execute_script("return [...document.querySelectorAll('td a')].map((link) => link.href)")
    assert len(links) >= 8
    for link in links:
        opened(silent, link)
        (book,) = silent.execute_script(
            "return [...document.querySelectorAll('a[href$=\".ipynb\"]')].map((a) => a.href)"
        )
        with urllib.request.urlopen(book) as answer:
            assert json.load(answer)["nbformat"] == 4


@pytest.mark.parametrize(("question", "page"), ASKED.items())
def test_the_search_finds_a_page(silent: Any, address: str, question: str, page: str) -> None:  # noqa: ANN401
    opened(silent, address)
    silent.find_element(By.CSS_SELECTOR, ".md-search__button").click()
    wait(silent, "document.activeElement.shadowRoot?.querySelector('input') != null")
    ActionChains(silent).send_keys(question).perform()
    found = "[...document.activeElement.shadowRoot.querySelectorAll('a[href]')].map((each) => each.pathname)"
    # The page shows results while the question is typed.
    first = f"{found}.slice(0, 3)"
    papers = f"{first}.some((each) => each.startsWith('/reproductions/'))"
    wait(silent, f"{first}.includes('/{page}') && !{papers}", 10)
    assert silent.save_screenshot(str(SCREENSHOTS / "search.png"))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("page", READ)
def test_axe_finds_nothing(silent: Any, address: str, page: str, scheme: str) -> None:  # noqa: ANN401
    opened(silent, address + page)
    # The theme chooses its colours only when a page opens, and keeps them for the next page.
    silent.execute_script("document.body.dataset.mdColorScheme = arguments[0]", SCHEMES[scheme])
    assert violations(silent, scheme) == []
