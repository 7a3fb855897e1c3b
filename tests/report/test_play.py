"""The playground in a real browser: same results as becalm, visible mistakes, no external files."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import chromium, complaints, requests, text, violations, wait

import becalm
from becalm.reports import playground
from becalm.results.verdicts import versus

READY = "document.getElementById('page').dataset.ready === 'true' && playground.idle()"
ROOT = Path(__file__).parents[2]
SCENES = sorted((ROOT / "web" / "scenes").glob("*.toml"))
BROKEN = """\
[run]
duration = "1 ms"
[topology.dumbbell]
remot = 2
[[flows]]
name = "f"
from = ["B1"]
to = ["Nobody"]
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from chromium()


@pytest.fixture(scope="module")
def opened(browser: Any) -> Any:  # noqa: ANN401
    complaints(browser)
    browser.get_log("performance")
    browser.get(playground.page().as_uri())
    wait(browser, READY)
    return browser


@pytest.fixture
def shown(opened: Any) -> Any:  # noqa: ANN401
    """The first scene in its initial state."""
    select_scene(opened, 0)
    return opened


def select_scene(browser: Any, number: int) -> None:  # noqa: ANN401
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    list_ = Select(browser.find_element(By.CSS_SELECTOR, ".tools select"))
    browser.execute_script("playground.set('')")
    wait(browser, "document.querySelector('.stale') !== null")
    browser.execute_script("document.querySelector('.tools select').selectedIndex = -1")
    list_.select_by_index(number)
    wait(browser, f"{READY} && document.querySelector('.stale') === null")


def native(scenario: str) -> str:
    return becalm.run(becalm.Scenario(scenario), threads=1).fingerprints[0]


def settle(browser: Any) -> list[str]:  # noqa: ANN401
    wait(browser, READY)
    found: list[str] = browser.execute_script("return playground.fingerprints()")
    return found


def test_it_simulates_what_becalm_simulates(shown: Any) -> None:  # noqa: ANN401
    scenario = shown.execute_script("return playground.text()")
    left, right = settle(shown)
    assert left == native(scenario)
    assert left != right
    assert (
        shown.execute_script("return document.getElementById('page').dataset.version") == becalm.__version__
    )


def test_without_control_it_simulates_what_becalm_simulates(shown: Any) -> None:  # noqa: ANN401
    for number in range(len(SCENES)):
        select_scene(shown, number)
        scenario = becalm.Scenario(shown.execute_script("return playground.text()"))
        with_control, without = (becalm.run(each) for each in (scenario, scenario.without_control()))
        assert settle(shown) == [with_control.fingerprint, without.fingerprint]
        verdict = versus(without, with_control, subject="Congestion control").sentence
        assert text(shown, ".verdict").startswith(verdict)


def test_eight_sliders_change_the_run_and_its_picture(shown: Any) -> None:  # noqa: ANN401
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    sliders = shown.find_elements(By.CSS_SELECTOR, ".slider input")
    assert len(sliders) == 8
    before = settle(shown)
    picture = "return document.querySelector('.fabric canvas').toDataURL()"
    first = shown.execute_script(picture)
    for slider in sliders:
        shown.execute_script("arguments[0].focus()", slider)
        slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        assert slider.get_attribute("aria-valuetext")
        after = settle(shown)
        assert after[0] != before[0]
        before = after
    assert before[0] == native(shown.execute_script("return playground.text()"))
    assert shown.execute_script(picture) != first
    assert shown.execute_script("return playground.delays.length") >= 8


def test_without_control_only_the_scene_matters(shown: Any) -> None:  # noqa: ANN401
    """Control parameters do not affect the run without control; traffic does."""
    left, right = settle(shown)
    scenario = shown.execute_script("return playground.text()")
    runs = shown.execute_script("return playground.runs.length")
    shown.execute_script(
        "playground.set(arguments[0])", re.sub(r"threshold = \d+", "threshold = 3", scenario)
    )
    changed = settle(shown)
    assert changed[0] != left
    assert changed[1] == right
    assert shown.execute_script("return playground.runs.length") == runs + 1
    shown.execute_script("playground.set(arguments[0])", scenario.replace("load = 0.4", "load = 0.3"))
    assert settle(shown)[1] != right


def expected(names: list[str], offered: list[str]) -> list[str]:
    """Return the schemes that the committed page must offer.

    Without Node, a contributor cannot rebuild the page, so it lacks a new scheme.
    """
    return offered if shutil.which("npm") else [name for name in offered if name in names]


def test_every_scheme_of_the_core_can_be_chosen(shown: Any) -> None:  # noqa: ANN401
    import json

    from becalm import _core

    offered = json.loads(_core.catalogue())
    for kind in ("marking", "echo", "response"):
        options = f"[...document.querySelector('select[data-kind={kind}]').options]"
        names = shown.execute_script(f"return {options}.map((option) => option.value)")
        assert names == expected(names, [each["name"] for each in offered[kind]])
    choose = (
        "const list = document.querySelector('select[data-kind=marking]'); list.value = 'queue_threshold';"
        "list.dispatchEvent(new Event('change'))"
    )
    shown.execute_script(choose)
    fingerprints = settle(shown)
    scenario = shown.execute_script("return playground.text()")
    assert "[marking.queue_threshold]" in scenario and "[marking.ibta]" not in scenario
    assert fingerprints[0] == native(scenario)
    assert shown.execute_script("return document.querySelectorAll('.slider').length") == 9


HEARS = {
    "dcqcn": ("ramp", "rocev2"),
    "dctcp": ("ramp", "ack"),
    "swift": ("none", "ack"),
    "nscc": ("ibta", "uet"),
    "lipd": ("ibta", "ack"),
}


def test_a_response_brings_a_marking_and_an_echo_that_it_hears(shown: Any) -> None:  # noqa: ANN401
    """The first scene runs with every response that requires no user-defined code or table."""
    lists = {
        kind: f"document.querySelector('select[data-kind={kind}]')"
        for kind in ("marking", "echo", "response")
    }
    names = shown.execute_script(f"return [...{lists['response']}.options].map((option) => option.value)")
    for name in set(names) - {"external", "table"}:
        select_scene(shown, 0)
        shown.execute_script(
            f"{lists['response']}.value = '{name}'; {lists['response']}.dispatchEvent(new Event('change'))"
        )
        settle(shown)
        notice = "const n = document.querySelector('.notice'); return n.hidden ? '' : n.textContent"
        assert shown.execute_script(notice) == "", name
        assert f"[response.{name}]" in shown.execute_script("return playground.text()")
        if name in HEARS:
            chosen = tuple(
                shown.execute_script(f"return {lists[kind]}.value") for kind in ("marking", "echo")
            )
            assert chosen == HEARS[name]
            assert HEARS[name][1] in text(shown, ".panel p")
        if name == "dcqcn":
            assert shown.execute_script("return document.querySelectorAll('.slider').length") > 8


def test_sliders_have_units_and_words(shown: Any) -> None:  # noqa: ANN401
    reported = shown.execute_script(
        "return [...document.querySelectorAll('.slider')].map((each) => each.title)"
    )
    assert all(len(each) > 10 for each in reported)
    assert "KiB" in text(shown, ".slider output")
    assert "victim" in text(shown, ".controls .key")


def test_jobs_have_their_times_in_the_figures(shown: Any) -> None:  # noqa: ANN401
    select_scene(shown, len(SCENES) - 1)
    settle(shown)
    row = (
        "[...document.querySelectorAll('.figures tr')].find((each) => each.textContent.startsWith('time of'))"
    )
    cells = shown.execute_script(f"return [...{row}.children].map((each) => each.textContent)")
    assert cells[0] == "time of training" and all(
        cell.split()[0].isdigit() or "." in cell for cell in cells[1:]
    )
    assert all(", alone " in cell for cell in cells[1:3])
    assert "job training takes" in text(shown, ".verdict")


def test_on_a_phone_sliders_and_picture_share_a_screen(shown: Any) -> None:  # noqa: ANN401
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    shown.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        shown.execute_script("document.querySelector('.fabric').scrollIntoView({ block: 'end' })")
        slider, picture = (
            shown.execute_script(
                f"const box = document.querySelector('{name}').getBoundingClientRect();"
                "return [box.top, box.bottom]"
            )
            for name in (".slider", ".fabric")
        )
        assert slider[0] >= 0 and slider[1] < picture[1] <= 801
        assert picture[1] - max(picture[0], slider[1]) > 150
    finally:
        shown.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_on_a_phone_figures_keep_their_words(shown: Any) -> None:  # noqa: ANN401
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    shown.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        heights = shown.execute_script(
            "return [...document.querySelectorAll('.figures tbody tr')].map((each) => each.offsetHeight)"
        )
    finally:
        shown.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    # Four lines, where single letters below each other would take twenty.
    assert len(heights) > 10 and max(heights) < 100


def test_mistakes_are_shown_at_their_lines(shown: Any) -> None:  # noqa: ANN401
    with pytest.raises(becalm.ScenarioError) as found:
        becalm.Scenario(BROKEN)
    lines = [each["line"] for each in found.value.mistakes]
    shown.execute_script("playground.set(arguments[0])", BROKEN)
    wait(shown, "document.querySelectorAll('#mistakes li').length > 0")
    reported = [text.split(": ", 1)[1] for text in str(found.value).splitlines()]
    listed = shown.execute_script(
        "return [...document.querySelectorAll('#mistakes li')].map((e) => e.textContent)"
    )
    assert [each.split(": ", 1)[1] for each in listed] == reported
    assert [each.split(": ")[0] for each in listed] == [f"line {line}" for line in lines]
    shown.execute_script("document.querySelector('.notice button').click()")
    wait(shown, "!document.getElementById('scenario').hidden")
    wrong = shown.execute_script(
        "return [...document.querySelectorAll('.gutter .wrong')].map((e) => e.textContent)"
    )
    assert wrong == [f"✕ {line}" for line in lines]
    shown.execute_script("document.querySelector('#mistakes button').click()")
    line = "const a = document.activeElement; return a.value.slice(0, a.selectionStart).split('\\n').length"
    assert shown.execute_script(line) == lines[0]
    assert "dumbbell" in text(shown, ".help h3")
    shown.execute_script(
        "playground.set(arguments[0])", BROKEN.replace("remot ", "remote ").replace("Nobody", "BC")
    )
    settle(shown)
    wait(shown, "document.querySelector('.stale') === null")
    assert text(shown, "#mistakes").strip() == "No mistakes."


def test_a_long_run_is_asked_about_first(shown: Any) -> None:  # noqa: ANN401
    runs = shown.execute_script("return playground.runs.length")
    scenario = shown.execute_script("return playground.text()")
    shown.execute_script("playground.set(arguments[0])", scenario.replace('"2 ms"', '"60 ms"'))
    wait(shown, "document.querySelector('.notice .go') !== null && !document.querySelector('.notice').hidden")
    assert "million packet-hops" in text(shown, ".notice")
    assert shown.execute_script("return playground.runs.length") == runs


def test_a_link_holds_the_scenario(shown: Any, browser: Any) -> None:  # noqa: ANN401
    scenario = shown.execute_script("return playground.text()").replace("load = 0.4", "load = 0.35")
    shown.execute_script("playground.set(arguments[0])", scenario)
    fingerprint = settle(shown)[0]
    wait(shown, "location.hash.length > 100")
    address = shown.current_url
    assert len(address) < 2500
    browser.get("about:blank")
    browser.get(address)
    wait(browser, f"window.playground !== undefined && {READY}")
    assert browser.execute_script("return playground.text()") == scenario
    assert settle(browser)[0] == fingerprint


BOMB = base64.urlsafe_b64encode(zlib.compress(bytes(300_000_000), wbits=-15)).decode().rstrip("=")


@pytest.mark.parametrize(
    ("fragment", "said"),
    [("#s=____", "cannot be read: the link is damaged"), (f"#s={BOMB}", "exceeds the limit of 1 MB")],
)
def test_a_bad_link_says_so_and_shows_no_other_scenario(
    shown: Any,  # noqa: ANN401
    fragment: str,
    said: str,
) -> None:
    address = shown.current_url.partition("#")[0]
    shown.get("about:blank")
    shown.get(address + fragment)
    wait(shown, "window.playground !== undefined && document.querySelector('.notice:not([hidden])')")
    assert said in text(shown, ".notice")
    assert shown.execute_script("return [playground.text(), playground.runs.length]") == ["", 0]
    select_scene(shown, 0)
    assert len(settle(shown)) == 2
    # A bad link that is followed later leaves the current scenario unchanged.
    scenario = shown.execute_script("return playground.text()")
    shown.execute_script("location.hash = arguments[0]", fragment)
    wait(shown, "document.querySelector('.notice:not([hidden])')")
    assert said in text(shown, ".notice")
    assert shown.execute_script("return playground.text()") == scenario


def test_the_newest_request_wins(shown: Any) -> None:  # noqa: ANN401
    scenario = shown.execute_script("return playground.text()")
    loads = [f"load = 0.{step}" for step in range(11, 40, 2)]
    for load in loads:
        shown.execute_script("playground.set(arguments[0])", scenario.replace("load = 0.4", load))
    last = scenario.replace("load = 0.4", loads[-1])
    assert settle(shown)[0] == native(last)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(shown: Any, scheme: str) -> None:  # noqa: ANN401
    shown.execute_script(
        "if (document.getElementById('scenario').hidden) document.querySelector('[aria-expanded]').click()"
    )
    assert violations(shown, scheme) == []


def test_no_message_and_no_request(opened: Any) -> None:  # noqa: ANN401
    """Checked after all tests above."""
    asked = requests(opened)
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:", "about:"))] == []
    assert complaints(opened) == []


def test_the_command_opens_a_page_with_a_scenario(browser: Any, tmp_path: Path) -> None:  # noqa: ANN401
    file = tmp_path / "mine.toml"
    file.write_text(
        "# </script><img src=x onerror=alert(1)>\n"
        + BROKEN.replace("remot ", "remote ").replace("Nobody", "BC")
    )
    call = [sys.executable, "-m", "becalm", "play", str(file)]
    done = subprocess.run(call, capture_output=True, text=True, check=True, env=without_screen())
    page = Path(done.stdout.strip())
    assert page.is_file() and page.parent != playground.page().parent
    browser.get(page.as_uri())
    wait(browser, f"window.playground !== undefined && {READY}")
    assert browser.execute_script("return playground.text()") == file.read_text()
    assert browser.execute_script("return document.images.length") == 0
    assert settle(browser)[0] == native(file.read_text())


def without_screen() -> dict[str, str]:
    import os

    gone = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return {key: value for key, value in os.environ.items() if key not in gone} | {
        "TMPDIR": tempfile.gettempdir()
    }


def test_values_of_a_preset_are_those_of_becalm() -> None:
    """The page sets the values of a preset itself, so they must match becalm's."""
    source = (ROOT / "web" / "src" / "schemes.ts").read_text()
    (values,) = re.findall(r"dcqcn: \{ (g: [^}]*) \}", source)
    preset = {key: _value(value) for key, value in re.findall(r'(\w+): ("[^"]+"|[\d.]+)', values)}
    two = becalm.load(ROOT / "scenarios" / "dcqcn_two.toml").replace(
        {"run.duration": "2 ms", "run.warmup": None}
    )
    published, page = ({"response": {"dcqcn": each}} for each in ({"preset": "paper"}, preset))
    assert becalm.run(two.replace(published)).fingerprint == becalm.run(two.replace(page)).fingerprint


def _value(text: str) -> str | float:
    return text.strip('"') if '"' in text else float(text) if "." in text else int(text)
