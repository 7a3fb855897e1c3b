"""A browser for tests of pages, and queries to it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="needs becalm[web-test]: selenium")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("needs a browser: chromium and chromium-driver", allow_module_level=True)

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def chromium() -> Iterator[Any]:
    """Provide a browser that records messages and requests."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--window-size=1400,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(60)
    yield driver
    driver.quit()


def wait(browser: Any, condition: str, seconds: float = 60) -> None:  # noqa: ANN401
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, seconds, 0.02).until(lambda driver: driver.execute_script(f"return {condition}"))


def text(browser: Any, selector: str) -> str:  # noqa: ANN401
    found: str = browser.execute_script("return document.querySelector(arguments[0]).textContent", selector)
    return found


def requests(browser: Any) -> list[str]:  # noqa: ANN401
    """Return the URLs requested since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [each["params"] for each in messages if each["method"] == "Network.requestWillBeSent"]
    return [each["request"]["url"] for each in asked]


def complaints(browser: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Return log messages of pages since the last call, without the browser's notes on rendering."""
    entries: list[dict[str, Any]] = browser.get_log("browser")
    return [each for each in entries if (each["level"], each["source"]) != ("INFO", "rendering")]


def opened(browser: Any, page: Path) -> Any:  # noqa: ANN401
    """Open a report and wait until it is drawn; messages of earlier pages are dropped."""
    complaints(browser)
    browser.get(page.as_uri())
    wait(browser, "document.getElementById('page').dataset.ready === 'true'")
    return browser


def violations(browser: Any, scheme: str) -> list[tuple[str, list[str]]]:  # noqa: ANN401
    """Return axe's findings in a page in a light or dark theme."""
    if not AXE.is_file():
        pytest.skip("needs axe-core: npm ci in web/")
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script("axe.run().then(arguments[0])")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert len(found["passes"]) > 20
    return [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found["violations"]]


INK = """const canvas = document.querySelector('.fabric canvas');
const all = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
let ink = 0;
for (let i = 0; i < all.length; i += 4) {
  if (all[i + 3] > 0 && Math.min(all[i], all[i + 1], all[i + 2]) < 200) ink++;
}
return [ink / (canvas.width * canvas.height), becalm.victims()]"""


def first_picture(browser: Any) -> tuple[float, tuple[int, int]]:  # noqa: ANN401
    """Return the share of ink in a light report's picture; the victims in it, and all victims."""
    ink, (drawn, every) = browser.execute_script(INK)
    return ink, (drawn, every)
