"""Pages of sweeps and tunings in a real browser."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from browsing import chromium, complaints, opened, text, violations, wait
from test_page import NASTY, SCENE
from typer.testing import CliRunner

import becalm
from becalm.base import jsons
from becalm.reports.source import page_of


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from chromium()


def test_a_sweep_draws_its_measures_and_links_to_its_runs(browser: Any, tmp_path: Path) -> None:  # noqa: ANN401
    from becalm.cli import app

    marking: Any = {"marking": {"input_triggered": {}}, "echo": {"ack": {}}}
    scene = becalm.Scenario({**SCENE, **marking, "run": {"duration": "400 us"}, "observe": {}})
    (tmp_path / "scene.toml").write_text(scene.to_toml())
    (tmp_path / "sweep.toml").write_text(
        'scenario = "scene.toml"\nstore = "store"\n[seeds]\ncount = 3\n'
        '[grid]\n"response" = [{ lipd = {} }, { fimd = {} }]\n"switch.buffer" = ["64 KiB", "32768 B"]\n'
    )
    for arguments in (["sweep", "sweep.toml"], ["report", "sweep.toml", "--out", "page.html", "--runs"]):
        named = [str(tmp_path / each) if each.endswith((".toml", ".html")) else each for each in arguments]
        done = CliRunner().invoke(app, named)
        assert done.exit_code == 0, done.output
    shown = opened(browser, tmp_path / "page.html")
    assert complaints(shown) == []
    links = shown.execute_script(
        "return [...document.querySelectorAll('#runs a')].map((each) => each.getAttribute('href'))"
    )
    assert len(links) == 12 and all((tmp_path / link).is_file() for link in links)
    titles = shown.execute_script(
        "return [...document.querySelectorAll('#panels figcaption')].map((each) => each.textContent)"
    )
    rates = [f"rate: response = {each}, over switch.buffer (GB/s)" for each in ("lipd", "fimd")]
    assert titles[:2] == rates
    assert len(shown.find_elements("css selector", "#panels .uplot")) == len(titles)
    assert "95% intervals" in text(shown, "#panels p")
    assert violations(shown, "light") == violations(shown, "dark") == []
    assert "cold: no significant difference in rate" in text(shown, ".notes")
    shown.execute_script("document.querySelector('#runs a').click()")
    wait(shown, "document.querySelector('.fabric canvas') !== null")


def test_runs_side_by_side_share_one_clock_and_differ_with_a_sign(browser: Any, tmp_path: Path) -> None:  # noqa: ANN401
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    from becalm.cli import app

    scene = becalm.Scenario({**SCENE, "run": {"duration": "300 us"}, "observe": {}})
    (tmp_path / "scene.toml").write_text(scene.to_toml())
    command = ["whatif", str(tmp_path / "scene.toml"), "--hot", "H31", "--out", str(tmp_path / "kept")]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    runs = {name: tmp_path / "kept" / name for name in ("calm", "without", "managed")}
    three, two = tmp_path / "three.html", tmp_path / "two.html"
    for arguments in ([tmp_path / "kept", "--out", three], [runs["without"], runs["managed"], "--out", two]):
        assert CliRunner().invoke(app, ["report", *map(str, arguments)]).exit_code == 0
    rates = {name: becalm.load_results(folder).groups for name, folder in runs.items()}
    for page, names in ((three, list(runs)), (two, list(runs)[1:])):
        shown = opened(browser, page)
        assert complaints(shown) == []
        canvases = "[...document.querySelectorAll('.fabric > canvas')].map((each) => each.toDataURL())"
        (slider,) = shown.find_elements(By.CSS_SELECTOR, "input[type=range]")
        slider.send_keys(Keys.HOME)
        before = shown.execute_script(f"return {canvases}")
        slider.send_keys(Keys.END)
        wait(shown, f"{canvases}.every((each, i) => each !== {json.dumps(before)}[i])")
        assert len(before) == len(names)
        cells = shown.execute_script(
            "return [...document.querySelectorAll('.figures tr')]"
            ".map((row) => [...row.children].map((each) => each.textContent))"
        )
        assert len(cells[0]) == 2 * len(names)
        row = next(each for each in cells if each[0] == f"rate of {NASTY}")
        own = [rates[name].filter(pl.col("group") == NASTY)["rate"].to_list() for name in names]
        for place, (value,) in enumerate(own[1:]):
            gain = value - own[0][0]
            assert row[len(names) + 1 + place][0] == ("+" if gain > 0 else "−")
        assert crossing(shown) == []
    assert text(shown, ".verdict") == versus_sentence(runs["without"], runs["managed"])
    assert violations(shown, "light") == violations(shown, "dark") == []
    assert printed(shown) == {"columns": "block", "side": "block", "cut": 0}


def printed(shown: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return how two runs are laid out on paper, where a grid would overlap, and the number of cut parts."""
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        found: dict[str, Any] = shown.execute_script(
            "const display = (name) => getComputedStyle(document.querySelector(name)).display;"
            "const wide = [...document.querySelectorAll('.wide')];"
            "const cut = wide.filter((each) => each.scrollWidth > each.clientWidth);"
            "return { columns: display('.films'), side: display('.side'), cut: cut.length }"
        )
    finally:
        shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    return found


def crossing(shown: Any) -> list[str]:  # noqa: ANN401
    """Return what leaves its section, and charts of links that cross a text, on a phone."""
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    shown.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        found: list[str] = shown.execute_script(
            "const box = (each) => each.getBoundingClientRect();"
            "const right = box(document.querySelector('.controls').closest('section')).right;"
            "const beyond = [...document.querySelectorAll('.controls, .controls *')]"
            ".filter((each) => box(each).right > right).map((each) => each.className);"
            "const crossed = [...document.querySelectorAll('.details')].flatMap((details) =>"
            "  [...details.querySelectorAll('ul, h4')].filter((each) => {"
            "    const [chart, words] = [box(details.querySelector('.history')), box(each)];"
            "    return words.left < chart.right && words.right > chart.left"
            "      && words.top < chart.bottom && words.bottom > chart.top; }));"
            "return [...beyond, ...crossed.map((each) => each.textContent)]"
        )
    finally:
        shown.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return found


def versus_sentence(*folders: Path) -> str:
    from becalm.results.verdicts import versus

    return versus(*map(becalm.load_results, folders), subject="Congestion control").sentence


def test_a_tuning_compares_guideline_and_best(browser: Any, tmp_path: Path) -> None:  # noqa: ANN401
    gain = {"guideline": 2.0, "tuned": 1.0, "low": 0.5, "high": math.inf, "seeds": 2, "ratio": 0.5}
    reported = {
        **{"becalm": "1", "model": "m", "recommended": "tuned", "guideline": "pfister2005", "gain": gain},
        **{"parameters": {"a": 1.0}, "trials": 2, "runs": 8, "importance": {"a": 1.0}, "note": "set `a`"},
        **{"broken": [], "at_end": [], "answer": "recommended: tuned"},
        "rows": [
            {"row": "tuned", "contributors": "2-4", "loss": 0.125, "loss_low": 0.1, "loss_high": 0.15},
            {
                "row": "tuned",
                "contributors": "all",
                "loss": 0.125,
                "loss_low": -math.inf,
                "loss_high": math.inf,
            },
        ],
    }
    (tmp_path / "tune.json").write_text(jsons.dumps(reported))
    trials = {
        "number": [0, 1],
        "a": [1.0, 2.0],
        "marking.ibta.marking_rate": [0, 1],
        "loss": [2.0, 1.0],
        "kept": [True, False],
    }
    pl.DataFrame(trials).write_parquet(tmp_path / "trials.parquet")
    measures = {"delivered": [3e9, 4e9], "background": [0.5, 0.9], "latency_p99": [1e-3, 2e-4]}
    candidates = {"candidate": ["tuned", "pfister2005"], "case": ["all hot"] * 2}
    pl.DataFrame({**candidates, **measures}).write_parquet(tmp_path / "validation.parquet")
    page = tmp_path / "page.html"
    page.write_text(page_of(tmp_path), encoding="utf-8")
    shown = opened(browser, page)
    assert complaints(shown) == []
    rows = shown.execute_script(
        "return [...document.querySelectorAll('#comparison figure:first-of-type tr')].map((e) => e.innerText)"
    )
    assert [row.split("\t") for row in rows] == [
        ["pfister2005", "4.00 GB/s"],
        ["tuned", "3.00 GB/s"],
    ]
    assert [text(shown, f"#contributors {tag}") for tag in ("thead", "tbody")] == [
        "settings2-4all",
        "tuned0.125 0.100 to 0.1500.125",
    ]
    assert violations(shown, "light") == violations(shown, "dark") == []
    assert text(shown, ".notes code") == "a"
    assert "no" in text(shown, "#trials tbody")
    assert "marking.ibta.marking_rate" in text(shown, "#trials thead")
    titles = shown.execute_script(
        "return [...document.querySelectorAll('#comparison figcaption')].map((each) => each.textContent)"
    )
    assert "background: delivered over offered, all hot" in titles
