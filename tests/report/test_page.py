"""A report's page in a real browser: it draws, loads no external files, and is accessible."""

from __future__ import annotations

import base64
import html
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browsing import chromium, complaints, first_picture, opened, requests, text, violations, wait
from typer.testing import CliRunner

import becalm

NASTY = "</script><img src=x onerror=alert(1)>"
"""A name that pages must not interpret as markup."""
SCENE = {
    "run": {"duration": "2 ms", "replications": 2},
    "topology": {"tree": {"ports": 8, "levels": 2}},
    "flows": [
        {"name": NASTY, "from": ["*"], "to": ["H31"], "start": "200 us"},
        {"name": "cold", "from": ["*"], "to": ["H0..H30"], "traffic": {"poisson": {"load": 0.3}}},
    ],
    "observe": {"frames": "40 us", "spans": True, "links": []},
}


@pytest.fixture(scope="module")
def results() -> becalm.Results:
    return becalm.run(becalm.Scenario(SCENE, name="<b>scene.toml"))


@pytest.fixture(scope="module")
def page(results: becalm.Results, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(becalm.report(results), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from chromium()


@pytest.fixture
def shown(browser: Any, page: Path) -> Any:  # noqa: ANN401
    return opened(browser, page)


def picture(browser: Any) -> str:  # noqa: ANN401
    data: str = browser.execute_script("return document.querySelector('.fabric canvas').toDataURL()")
    return data


def test_no_message_and_no_request(shown: Any) -> None:  # noqa: ANN401
    asked = requests(shown)
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    assert complaints(shown) == []


def test_names_are_text_and_never_markup(shown: Any) -> None:  # noqa: ANN401
    assert shown.title == "<b>scene"
    assert NASTY in text(shown, "#groups")
    assert shown.execute_script("return document.images.length") == 0


def test_the_first_hot_link_leads_to_the_hot_host(shown: Any) -> None:  # noqa: ANN401
    assert text(shown, "#hottest tbody .link button") == "L1S7 -> H31"
    assert text(shown, ".details h3") == "L1S7 -> H31"
    assert "flows from" in text(shown, ".details")


def test_no_line_ends_within_the_arrow_of_a_link(shown: Any) -> None:  # noqa: ANN401
    assert "->" in text(shown, "#diagnosis")
    broken = """return [...document.querySelectorAll('#diagnosis li')].filter((each) =>
        each.textContent.split('->').length - 1 !== each.querySelectorAll('.whole').length).length"""
    assert shown.execute_script(broken) == 0
    style = "return getComputedStyle(document.querySelector('.whole')).whiteSpace"
    assert shown.execute_script(style) == "nowrap"


def test_keys_move_the_time_and_the_picture(shown: Any) -> None:  # noqa: ANN401
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    slider = shown.find_element(By.CSS_SELECTOR, "input[type=range]")
    slider.send_keys(Keys.HOME)
    wait(shown, "document.querySelector('.clock').textContent === '40.0 µs'")
    first = picture(shown)
    for _ in range(20):
        slider.send_keys(Keys.ARROW_RIGHT)
    wait(shown, "document.querySelector('.clock').textContent === '840 µs'")
    assert slider.get_attribute("aria-valuetext") == "840 µs"
    assert picture(shown) != first


def test_the_trees_and_the_worst_roots_are_other_pictures(shown: Any) -> None:  # noqa: ANN401
    drawn = [picture(shown)]
    for choice in (1, 2):
        shown.execute_script(
            f"const list = {DRAWN}.querySelector('select');"
            f"list.selectedIndex = {choice}; list.dispatchEvent(new Event('change'))"
        )
        shown.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        drawn.append(picture(shown))
    assert len(set(drawn)) == 3


def test_a_heading_sorts_its_table(shown: Any) -> None:  # noqa: ANN401
    shown.execute_script("document.querySelectorAll('#hottest thead button')[1].click()")
    head = "document.querySelectorAll('#hottest th[aria-sort=descending]').length"
    assert shown.execute_script(f"return {head}") == 1


def test_every_replication_can_be_chosen(shown: Any, results: becalm.Results) -> None:  # noqa: ANN401
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    options = Select(shown.find_element(By.CSS_SELECTOR, ".tools select"))
    assert [each.text.split(": ")[1] for each in options.options] == results.fingerprints
    options.select_by_index(1)
    wait(shown, "document.querySelector('#hottest tbody .link button') !== null")


def test_tiles_count_the_whole_table(shown: Any, results: becalm.Results) -> None:  # noqa: ANN401
    tree = results.tables["tree"].filter(pl.col("replication") == 0)
    values = "[...document.querySelectorAll('.tiles .value')].slice(0, 2)"
    reported = shown.execute_script(f"return {values}.map((each) => each.textContent)")
    assert reported == [f"{tree.filter(pl.col('role') == role).height:,}" for role in ("root", "branch")]


def test_cells_of_times_are_in_their_columns(shown: Any) -> None:  # noqa: ANN401
    laid = "getComputedStyle(document.querySelector('#groups td.time')).display"
    assert shown.execute_script(f"return {laid}") == "table-cell"


def test_time_ends_with_the_run(browser: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """Charts of a run that ends with its jobs end there, not at `run.duration`."""
    job = {"name": "job", "hosts": ["H0", "H1", "H4", "H8"], "repeat": 2}
    job |= {"collective": {"all_reduce": {"bytes": "1 MiB", "algorithm": "ring"}}}
    incast = {"name": "incast", "from": ["H2", "H3", "H5"], "to": ["H1"]}
    scene = becalm.Scenario(
        {
            "run": {"duration": "50 ms", "end": "jobs"},
            "topology": SCENE["topology"],
            "jobs": [job],
            "flows": [incast],
            "observe": {"spans": True, "frames": "50 us"},
        }
    )
    results = becalm.run(scene)
    end = results.tables["jobs"]["end"].max()
    assert isinstance(end, float) and end < 0.02
    (tmp_path / "jobs.html").write_text(becalm.report(results), encoding="utf-8")
    shown = opened(browser, tmp_path / "jobs.html")
    reported = "document.querySelector('.periods svg').getAttribute('aria-label')"
    # The section has a bar for each rank. The tile compares the job's time with its time alone.
    bars = shown.execute_script(
        "return [...document.querySelectorAll('#job-times li')].map((e) => e.innerText)"
    )
    assert sum(bar.startswith("rank ") for bar in bars) == 4
    [row] = results.tables["jobs"].iter_rows(named=True)
    assert text(shown, ".tiles .value") == f"{row['slowdown']:.2f} ×"
    assert "alone" in text(shown, "#job-times h3") and "alone" in text(shown, ".tiles .note")
    assert shown.execute_script("return document.querySelectorAll('.lane').length") == 0
    share = float(shown.execute_script(f"return {reported}").split(" in a role for ")[1].split(" %")[0])
    span = results.tables["spans"].with_columns(long=pl.col("end") - pl.col("begin"))
    longest = span.group_by("from", "from_port", "vl").agg(pl.col("long").sum())["long"].max()
    assert isinstance(longest, float) and 100 * longest / 0.05 < share <= 100 * longest / end + 0.1


def test_operations_are_lanes_with_the_critical_path(browser: Any, tmp_path: Path) -> None:  # noqa: ANN401
    from becalm.cli import app
    from becalm.scenario import examples

    file, page = examples.path("all_reduce_beside_incast"), tmp_path / "jobs.html"
    ran = CliRunner().invoke(app, ["run", str(file), "--out", str(tmp_path / "r"), "--report", str(page)])
    assert ran.exit_code == 0, ran.output
    shown = opened(browser, page)
    for width in (1400, 400):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        shown.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        lanes = "[...document.querySelectorAll('li:has(.lane)')]"
        rows = shown.execute_script(f"return {lanes}.map((each) => each.clientHeight)")
        assert len(rows) == 12 and max(rows) < 30
        assert shown.execute_script("return document.documentElement.scrollWidth") <= width
    shown.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    # Some ranks, but not all, wait for others, and the critical path crosses several ranks.
    waits, on = (f"li:has(.lane .{kind})" for kind in ("part3", "path"))
    for selector in (waits, on):
        assert 1 < shown.execute_script(f"return document.querySelectorAll('{selector}').length") < 12
    assert "for others to send. The critical path is" in text(shown, "#job-times p")
    assert violations(shown, "dark") == []


def test_on_a_phone_periods_have_room_and_numbers_keep_their_units(shown: Any) -> None:  # noqa: ANN401
    size = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    shown.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        assert shown.execute_script("return document.querySelector('.periods svg').clientWidth") > 80
        heights = shown.execute_script(
            "return [...document.querySelectorAll('#hottest td:not(.text)')].map((each) => each.clientHeight)"
        )
        assert heights and max(heights) < 40
        assert shown.execute_script("return document.documentElement.scrollWidth") <= 400
    finally:
        shown.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


DRAWN = "[...document.querySelectorAll('.controls label')].find((e) => e.textContent.startsWith('Draw'))"


def test_a_large_fabric_opens_with_the_tree_of_its_worst_root(browser: Any, tmp_path: Path) -> None:  # noqa: ANN401
    hot = {"name": "hot", "from": ["H4..H95"], "to": ["H0"]}
    large = {
        "run": {"duration": "200 us"},
        "topology": {"clos": {"leaves": 12, "spines": 4, "hosts_per_leaf": 8}},
    }
    (tmp_path / "large.html").write_text(
        becalm.report(becalm.run(becalm.Scenario({**large, "flows": [hot]})))
    )
    shown = opened(browser, tmp_path / "large.html")
    chosen = f"{DRAWN}.querySelector('select').selectedOptions[0].textContent"
    assert shown.execute_script(f"return {chosen}") == "the tree of the worst root"
    assert text(shown, ".details h3") == "leaf0 -> H0"


def shown_as(sentence: str) -> str:
    """Return a sentence of `becalm explain` as shown on a page."""
    return re.sub(r"(?<=\d) us\b", " µs", sentence).replace("`", "")


@pytest.mark.parametrize("size", [(6, 3), (18, 18), (36, 36)], ids=["18", "324", "1296"])
def test_the_first_screen_has_root_cause_victims_and_picture(
    browser: Any,  # noqa: ANN401
    tmp_path: Path,
    size: tuple[int, int],
) -> None:
    leaves, hosts = size
    middle = leaves // 2 * hosts
    senders = [f"H{hosts * leaf}" for leaf in range(leaves) if leaf != leaves // 2]
    flows = [
        {"name": "hot", "from": senders, "to": [f"H{middle}"]},
        {
            "name": "work",
            "from": ["*"],
            "pattern": {"permutation": {}},
            "traffic": {"poisson": {"load": 0.3}},
        },
    ]
    planted = {
        "run": {"duration": "200 us", "seed": 3},
        "topology": {"clos": {"leaves": leaves, "spines": hosts, "hosts_per_leaf": hosts}},
        "switch": {"buffer": "16 KiB"},
        "flows": flows,
    }
    results = becalm.run(becalm.Scenario(planted))
    (tmp_path / "planted.html").write_text(becalm.report(results), encoding="utf-8")
    screen = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        shown = opened(browser, tmp_path / "planted.html")
        top = shown.execute_script(
            "return document.querySelector('.fabric canvas').getBoundingClientRect().top"
        )
        read = shown.execute_script("return document.querySelector('#diagnosis').innerText")
        whole = text(shown, "#diagnosis")
        drawn = text(shown, ".details h3")
        ink, (victims, all_victims) = first_picture(shown)
        sentences = becalm.explain(results).sentences
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert top < 700
    assert ink > 0.03 and victims > all_victims / 2 > 0
    worst = next(each.place for each in sentences if each.topic == "roots")
    assert drawn == worst.replace("->", " -> ")
    for topic in ("roots", "causes", "victims"):
        first = next(each.text for each in sentences if each.topic == topic)
        assert shown_as(first) in read
    for each in sentences:
        assert shown_as(each.text) in whole
    # Who blocks whom: in every column, the widths are the bytes that victims lose.
    lost = sum(results.victims["lost"].to_list()) * 200e-6
    sums = browser.execute_script(
        "return ['victim', 'branch', 'root', 'contributor'].map((kind) => [...document.querySelectorAll("
        "`#blocking rect.${kind}`)].reduce((sum, each) => sum + Number(each.dataset.bytes), 0))"
    )
    assert lost > 0 and sums == pytest.approx([lost] * 4, rel=0.01)


def test_a_click_on_links_over_time_selects_link_and_time(shown: Any) -> None:  # noqa: ANN401
    from selenium.webdriver.common.action_chains import ActionChains

    canvas = shown.find_element("css selector", ".heat")
    assert re.fullmatch(
        r"buffers of 40 links over time, from L\d\S+ -> \S+", canvas.get_attribute("aria-label")
    )
    inks = (
        "const all = document.querySelector('.heat').getContext('2d').getImageData(150, 0, 400, 100).data;"
        "const pixels = Array.from({length: all.length / 4}, (_, i) => all.slice(4 * i, 4 * i + 3).join());"
        "return new Set(pixels).size"
    )
    assert shown.execute_script(inks) > 5
    shown.execute_script("arguments[0].scrollIntoView()", canvas)
    # The second row, at the left end of its times.
    size = canvas.rect
    ActionChains(shown).move_to_element_with_offset(
        canvas, 160 - size["width"] // 2, 19 - size["height"] // 2
    ).click().perform()
    wait(shown, "document.querySelector('.details h3').textContent !== 'L1S7 -> H31'")
    assert text(shown, ".clock") in ("40.0 µs", "80.0 µs")


def test_a_run_without_a_tree_opens_at_its_worst_moment(browser: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """With empty buffers, the picture shows loads at the time of the only traffic."""
    burst = {"name": "burst", "from": ["A1"], "to": ["BC"], "start": "300 us", "stop": "400 us"}
    calm = {"run": {"duration": "1 ms"}, "topology": {"dumbbell": {}}, "flows": [burst]}
    calm["observe"] = {"frames": "20 us", "spans": True}
    (tmp_path / "calm.html").write_text(becalm.report(becalm.run(becalm.Scenario(calm))))
    shown = opened(browser, tmp_path / "calm.html")
    mode = "document.querySelector('.controls select').selectedOptions[0].textContent"
    assert shown.execute_script(f"return {mode}") == "load at this time"
    assert 300 <= float(text(shown, ".clock").removesuffix(" µs")) <= 420
    assert len(text(shown, ".details h3").split(" -> ")) == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(shown: Any, scheme: str) -> None:  # noqa: ANN401
    assert violations(shown, scheme) == []


def test_it_says_how_to_run_it_again(shown: Any, results: becalm.Results, tmp_path: Path) -> None:  # noqa: ANN401
    from becalm.cli import app

    reported = shown.execute_script(
        "const all = document.querySelectorAll('#scenario code, #scenario pre, #scenario p');"
        "return [...all].map((each) => each.textContent)"
    )
    name, commands, note = reported[1], reported[2].splitlines(), reported[3]
    assert name == "b_scene.toml" and commands[-1] == f"becalm play {name}"
    assert all(each in note for each in results.fingerprints)
    (tmp_path / name).write_text(reported[-1], encoding="utf-8")
    call = [str(tmp_path / each) if "b_scene" in each else each for each in shlex.split(commands[0])[1:]]
    done = CliRunner().invoke(app, [*call, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert becalm.load_results(tmp_path / "out").fingerprints == results.fingerprints
    assert (tmp_path / "b_scene.html").is_file()


def test_it_prints(shown: Any) -> None:  # noqa: ANN401
    made = base64.b64decode(shown.print_page())
    assert made.startswith(b"%PDF") and len(made) > 20_000
    # The width of A4 without margins. Nothing may be wider, because it would be cut off.
    paper = {"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    shown.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", paper)
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        wait(shown, "document.documentElement.scrollWidth <= 718", 10)
    finally:
        shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        shown.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_without_javascript_it_has_the_verdict_and_the_next_step(page: Path, results: becalm.Results) -> None:
    plain = page.read_text(encoding="utf-8").split("<noscript>")[1].split("</noscript>")[0]
    assert results.verdict and html.escape(results.verdict) in plain
    assert "need JavaScript" in plain and "becalm explain" in plain


def test_charts_fit_the_paper(shown: Any) -> None:  # noqa: ANN401
    """Charts must shrink to the paper's width without being drawn again."""
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        widths = shown.execute_script(
            "const plots = [...document.querySelectorAll('.plot')].filter((each) => each.clientWidth);"
            "return plots.map((each) => {"
            "  each.style.width = '150px';"
            "  const { width, height } = each.querySelector('canvas').getBoundingClientRect();"
            "  each.style.width = '';"
            "  return [width, height]; })"
        )
    finally:
        shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(widths) > 2
    assert all(width <= 150 and height < 150 for width, height in widths)


def test_pictures_are_quick(shown: Any) -> None:  # noqa: ANN401
    took = shown.execute_script(
        "for (let i = 0; i < becalm.times; i++) becalm.go(i); return becalm.took().slice(-becalm.times)"
    )
    assert len(took) == 50
    # The limit tolerates a loaded machine, but not a tenfold slowdown.
    assert sorted(took)[len(took) // 2] < 160


def test_a_page_without_frames_says_how_to_get_them(browser: Any, tmp_path: Path) -> None:  # noqa: ANN401
    plain = becalm.run(becalm.Scenario({**SCENE, "run": {"duration": "400 us"}, "observe": {}}))
    file = tmp_path / "plain.html"
    file.write_text(becalm.report(plain), encoding="utf-8")
    shown = opened(browser, file)
    assert "observe.frames" in text(shown, ".notes")
    assert shown.execute_script("return document.querySelector('input[type=range]')") is None
    assert complaints(shown) == []


def edges(switches: int, cables: set[tuple[int, int]]) -> dict[str, Any]:
    """Return a fabric with these cables between switches and two hosts per switch."""
    hosts = [{"between": [f"h{i}", f"s{i // 2}"]} for i in range(2 * switches)]
    between = [{"between": [f"s{a}", f"s{b}"]} for a, b in sorted(cables)]
    names = {"hosts": [f"h0..h{2 * switches - 1}"], "switches": [f"s0..s{switches - 1}"]}
    return {"edges": {**names, "allow_cycles": True, "cables": [*hosts, *between]}}


def torus(width: int, height: int) -> dict[str, Any]:
    """Return a torus: rows and columns of switches, each a ring."""
    at = [(x, y) for y in range(height) for x in range(width)]
    right = {(y * width + x, y * width + (x + 1) % width) for x, y in at}
    up = {(y * width + x, (y + 1) % height * width + x) for x, y in at}
    return edges(width * height, right | up)


def dragonfly(groups: int, size: int) -> dict[str, Any]:
    """Return fully connected groups of switches, with a cable between every two groups."""
    own = {(g * size + a, g * size + b) for g in range(groups) for b in range(size) for a in range(b)}
    pairs = ((g, h) for h in range(groups) for g in range(h))
    return edges(groups * size, own | {(g * size + (h - 1) % size, h * size + g % size) for g, h in pairs})


@pytest.mark.parametrize(
    "topology",
    [
        {"dumbbell": {"remote": 3, "local": 3}},
        {"clos": {"leaves": 3, "spines": 2, "hosts_per_leaf": 3}},
        {
            "edges": {
                "hosts": ["h0..h3"],
                "switches": ["s0..s3"],
                "allow_cycles": True,
                "cables": [
                    *({"between": [f"h{i}", f"s{i}"]} for i in range(4)),
                    *({"between": [f"s{i}", f"s{(i + 1) % 4}"]} for i in range(4)),
                ],
            }
        },
        torus(4, 3),
        dragonfly(5, 4),
    ],
    ids=["dumbbell", "clos", "ring", "torus", "dragonfly"],
)
def test_every_form_of_fabric_is_drawn(browser: Any, tmp_path: Path, topology: Any) -> None:  # noqa: ANN401
    # The load is low enough to avoid deadlocks in cycles of links.
    traffic = {"poisson": {"load": 0.1}}
    flows = [{"name": "all", "from": ["*"], "pattern": {"permutation": {}}, "traffic": traffic}]
    data = {"run": {"duration": "300 us"}, "topology": topology, "flows": flows}
    scene = becalm.Scenario({**data, "observe": {"frames": "100 us", "spans": True}})
    file = tmp_path / "form.html"
    file.write_text(becalm.report(becalm.run(scene)), encoding="utf-8")
    shown = opened(browser, file)
    assert complaints(shown) == []
    assert len(picture(shown)) > 5000
