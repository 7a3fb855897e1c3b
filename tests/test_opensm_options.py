"""Written OpenSM options match the scenario's congestion control parameters."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import becalm
from becalm import manager
from becalm.cli import app
from becalm.opensm import ibnetdiscover
from becalm.opensm.importing import import_fabric
from becalm.opensm.masks import mask
from becalm.opensm.options import configuration, options
from becalm.opensm.ports import script
from fabrics import DATA, Cable, discovered

KEYS = set((DATA / "opensm-cc-keys.txt").read_text().split())
"""Keys of OpenSM's default configuration."""

PER_SL = ("ccti_timer", "ccti_increase", "trigger_threshold", "ccti_min")


class Configuration:
    """A configuration in OpenSM's format: key and value per line, separate values per service level."""

    def __init__(self, text: str) -> None:
        self.values: dict[str, str] = {}
        self.levels: dict[str, dict[int, int]] = {key: {} for key in PER_SL}
        for line in text.splitlines():
            assert len(line) <= 1022, "OpenSM would cut this line"
            if not line or line.startswith("#"):
                continue
            key, value = line.split(" ", 1)
            assert key in KEYS
            own = key.removeprefix("cc_ca_cong_setting_")
            if own in PER_SL:
                level, number = value.split(" ")
                assert int(level) not in self.levels[own]
                self.levels[own][int(level)] = int(number)
            else:
                assert key not in self.values
                self.values[key] = value

    def number(self, key: str) -> int:
        return int(self.values[key], 0)

    def ports(self, mask: str) -> set[int]:
        """Return the ports in a mask of 64 digits; the last digit represents ports 0 to 3."""
        digits = self.values[f"cc_sw_cong_setting_{mask}"]
        assert re.fullmatch("0x[0-9A-F]{64}", digits)
        return {port for port in range(256) if int(digits, 16) >> port & 1}

    @property
    def delays(self) -> list[float]:
        """Return the table in packet times."""
        entries = [entry.split(":") for entry in self.values["cc_cct"].split(",")]
        assert all(0 <= int(shift) <= 3 and 0 <= int(multiplier) <= 16383 for shift, multiplier in entries)
        assert len(entries) <= 128
        return [int(multiplier) / 2 ** int(shift) for shift, multiplier in entries]


def scenario(**changes: Any) -> becalm.Scenario:  # noqa: ANN401
    made = becalm.Scenario(
        {
            "run": {"duration": "10 us"},
            "topology": {"tree": {"ports": 4, "levels": 2}},
            "marking": {"ibta": {}},
            "response": {"ibta": {}},
            "flows": [
                {"name": "all", "from": ["*"], "to": ["*"]},
                {"name": "one", "from": ["H1"], "to": ["H2"]},
            ],
        },
        name="fabric.toml",
    )
    return made.replace(changes)


def written(given_scenario: becalm.Scenario, discovered_file: Path | None = None) -> Configuration:
    none = manager.recommend(given_scenario, guideline="none")
    return Configuration(configuration(given_scenario, none, discovered_file))


def check(found: Configuration, source: becalm.Scenario) -> None:
    """Check each value of a configuration against its scenario."""
    resolved, facts = source.resolved, source.summary
    switch, adapter = resolved["marking"]["ibta"], resolved["response"]["ibta"]
    assert found.values["congestion_control"] == "TRUE"
    starves = switch["credit_mask"] != "none"
    assert found.number("cc_sw_cong_setting_control_map") == (0b11111 if starves else 0b10101)
    if starves:
        assert found.number("cc_sw_cong_setting_credit_starvation_threshold") == switch["cs_threshold"]
        shift, multiplier = switch["cs_return_delay"]
        assert found.values["cc_sw_cong_setting_credit_starvation_return_delay"] == f"{shift}:{multiplier}"
    assert ("cc_sw_cong_setting_credit_mask" in found.values) == starves
    for key in ("threshold", "packet_size", "marking_rate"):
        assert found.number(f"cc_sw_cong_setting_{key}") == switch[key]
    # Levels that no group names are unknown: all are set up.
    named = any("sl" in group for group in source.data()["flows"])
    levels = {group["sl"] for group in resolved["flows"]} if named else set(range(16))
    by_sl = resolved["adapter"]["port_control"] == "sl"
    assert found.number("cc_ca_cong_setting_port_control") == by_sl
    assert found.number("cc_ca_cong_setting_control_map") == sum(2**level for level in levels)
    for key in PER_SL:
        assert found.levels[key] == dict.fromkeys(levels, adapter[key])
    limit = adapter["ccti_limit"]
    assert found.delays == facts["cct"][: len(facts["cct"]) if limit is None else limit + 1]


ENTRY = st.tuples(st.integers(0, 3), st.integers(0, 9999)).map(list)


@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_what_is_written_is_what_the_scenario_has(data: st.DataObject) -> None:
    entries = data.draw(st.lists(ENTRY, min_size=8, max_size=8)) * 16
    limit = data.draw(st.none() | st.integers(0, 127))
    last = 127 if limit is None else limit
    switch = {
        "threshold": data.draw(st.integers(0, 15)),
        "packet_size": data.draw(st.integers(0, 255)),
        "marking_rate": data.draw(st.integers(0, 65535)),
        "victim_mask": data.draw(st.sampled_from(["none", "all"])),
    }
    if data.draw(st.booleans()):
        delay = [data.draw(st.integers(0, 3)), data.draw(st.integers(1, 16383))]
        switch |= {
            "credit_mask": "all",
            "cs_threshold": data.draw(st.integers(1, 15)),
            "cs_return_delay": delay,
        }
    response: dict[str, Any] = {
        "ccti_timer": data.draw(st.integers(0, 65535)),
        "ccti_increase": data.draw(st.integers(0, 255)),
        "ccti_min": data.draw(st.integers(0, last)),
        "trigger_threshold": data.draw(st.integers(0, last)),
        "cct": {"list": {"entries": entries}},
    }
    levels = data.draw(st.lists(st.integers(0, 14), min_size=1, max_size=3))
    flows = [{"name": f"f{n}", "from": ["*"], "to": ["*"], "sl": sl} for n, sl in enumerate(levels)]
    source = scenario(
        marking={"ibta": switch},
        response={"ibta": response | ({} if limit is None else {"ccti_limit": limit})},
        adapter={"port_control": data.draw(st.sampled_from(["qp", "sl"]))},
        switch={"vls": max(levels) + 1},
        flows=flows,
    )
    found = written(source)
    check(found, source)
    for key in ("victim_mask", "credit_mask"):
        if switch.get(key, "none") == "all":
            assert found.ports(key) == set(range(1, 255))
    assert switch["victim_mask"] == "all" or found.ports("victim_mask") == set()


@given(st.sets(st.integers(0, 255)))
def test_a_mask_has_a_bit_for_each_of_its_ports(ports: set[int]) -> None:
    written_mask = mask(ports)
    assert len(written_mask) == 2 + 64
    assert {port for port in range(300) if int(written_mask, 16) >> port & 1} == ports


@pytest.mark.parametrize("guideline", list(manager.GUIDELINES))
def test_each_option_tells_what_it_is_and_why(guideline: str) -> None:
    source = scenario()
    recommendation = manager.recommend(source, hot_spot_degree=4, guideline=guideline)
    text = configuration(recommendation.apply(source), recommendation)
    Configuration(text)
    for block in text.strip().split("\n\n")[1:]:
        lines = block.splitlines()
        comments = [line for line in lines if line.startswith("# ")]
        values = lines[len(comments) :]
        assert len(comments) in (1, 2), values
        assert not any(line.startswith("#") for line in values)
        # The lines of all service levels share the comments.
        assert len({line.split()[0] for line in values}) == 1
    whys = {setting.key: setting.why for setting in recommendation.settings}
    assert f"# {whys['response.ibta.ccti_timer']}\ncc_ca_cong_setting_ccti_timer 0 " in text
    assert f"by the guideline of {guideline}" in text


@pytest.mark.parametrize(
    ("high", "threshold"), [(0.9, 2), (1.0, 1), (0.5, 8), (0.0625, 15), (0.0, 15), (100.0, 1), (0.84, 3)]
)
def test_a_queue_threshold_becomes_the_nearest_that_there_is(high: float, threshold: int) -> None:
    for root_only, victims in ((True, set()), (False, set(range(1, 255)))):
        marking = {"high": high, "low": min(high, 0.1), "root_only": root_only, "marking_rate": 3}
        found = written(scenario(marking={"queue_threshold": marking}))
        assert found.number("cc_sw_cong_setting_threshold") == threshold
        assert found.number("cc_sw_cong_setting_marking_rate") == 3
        assert found.number("cc_sw_cong_setting_packet_size") == 0
        assert found.ports("victim_mask") == victims


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"marking": {"naive": {}}},
            "fabric.toml: marking naive: OpenSM's options cannot express this; valid: ibta",
        ),
        (
            {"response": {"lipd": {}}},
            "response lipd: is not a scheme of IBTA congestion control; valid: ibta",
        ),
        (
            {"marking.ibta.overrides": [{"threshold": 3, "switches": ["L1S0"]}]},
            'marking.ibta.overrides[0].switches L1S0: cannot be exported; valid: all: ["*"]',
        ),
        (
            {"marking.ibta.overrides": [{"threshold": 3, "ports": [1, 2]}]},
            "marking.ibta.overrides[0].ports [1, 2]: cannot be exported; valid: hosts, switches, all",
        ),
        (
            {"marking.ibta.overrides": [{"victim": True}]},
            "marking.ibta.overrides[0].victim True: cannot be exported: OpenSM has one mask for all switches",
        ),
        ({"response.ibta.ccti_decrease": 2}, "response.ibta.ccti_decrease 2: adapters support only 1"),
        ({"flows.one.response": {"lipd": {}}}, "flows.one.response: OpenSM sets up all adapters alike"),
        (
            {"response.ibta.cct": {"linear": {"entries": 129}}},
            "response.ibta.cct 129 entries: OpenSM reads 128 and ignores the rest; "
            "valid: ccti_limit at most 127, or fewer entries, say for a smaller degree",
        ),
        (
            {"response.ibta.cct": {"list": {"entries": [[3, 16383]] * 128}}},
            "response.ibta.cct: is a line of 1030 characters, of which OpenSM reads 1022",
        ),
        (
            {"marking.ibta.victim_mask": "host_ports"},
            "marking.ibta.victim_mask host_ports: needs the numbers of the ports, which a scenario does not "
            "have; valid: with --fabric and the output of ibnetdiscover",
        ),
    ],
)
def test_what_opensm_cannot_say_is_reported(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(becalm.ScenarioError) as caught:
        options(scenario(**{}).replace(changes))
    assert expected in str(caught.value)
    assert len(caught.value.mistakes) == 1


def test_all_of_it_is_reported_at_once() -> None:
    with pytest.raises(becalm.ScenarioError) as caught:
        options(scenario(marking={"naive": {}}, response={"lipd": {}}))
    assert len(caught.value.mistakes) == 2


def of(cables: list[Cable], folder: Path) -> Path:
    file = folder / "fabric.txt"
    file.write_text(discovered(cables))
    return file


def test_host_ports_are_those_of_the_fabric(tmp_path: Path) -> None:
    masked = scenario(**{"topology": {"clos": {"leaves": 2, "spines": 1, "hosts_per_leaf": 2}}}).replace(
        {"marking.ibta.victim_mask": "host_ports"}
    )
    cables: list[Cable] = [
        ("H1", 1, "S1", 36),
        ("H2", 1, "S1", 2),
        ("H3", 1, "S2", 2),
        ("H4", 1, "S2", 36),
        ("S1", 5, "S3", 1),
        ("S2", 6, "S3", 2),
    ]
    file = of(cables, tmp_path)
    assert written(masked, file).ports("victim_mask") == {2, 36}
    cables[3] = ("H4", 1, "S2", 35)
    with pytest.raises(
        becalm.ScenarioError, match="hosts are at ports 2, 36 of S1 and 2, 35 of S2; valid: none"
    ):
        options(masked, ibnetdiscover.read(of(cables, tmp_path)))
    fabric = ibnetdiscover.read(of(cables[1:], tmp_path))
    with pytest.raises(becalm.ScenarioError, match="has 3 hosts and 3 switches, the scenario 4 and 3"):
        options(masked, fabric)


def exported() -> str:
    """Return a configuration with a value for every option, for a fabric from the data."""
    discovered_file = DATA / "ft2_18" / "ibnetdiscover.txt"
    imported = becalm.Scenario(import_fabric(discovered_file).text)
    recommendation = manager.recommend(imported, hot_spot_degree=8, guideline="gran2010")
    changes = {
        "marking.ibta.victim_mask": "host_ports",
        "marking.ibta.credit_mask": "host_ports",
        "marking.ibta.cs_threshold": 9,
        "marking.ibta.cs_return_delay": [2, 77],
        "response.ibta.ccti_min": 2,
        "response.ibta.trigger_threshold": 100,
        "adapter.port_control": "sl",
        "switch.vls": 2,
        "flows.hot_spot.sl": 1,
    }
    return configuration(recommendation.apply(imported).replace(changes), recommendation, discovered_file)


def test_opensm_itself_reads_what_is_written() -> None:
    """The data are the lines with cc_ or congestion from `opensm -F ours -c theirs`, OpenSM 3.3.23."""
    theirs = (DATA / "opensm-loaded.conf").read_text().splitlines()
    ours = [line for line in exported().splitlines() if line and not line.startswith("#")]
    assert [line for line in ours if line not in theirs] == []
    own = {line.split()[0] for line in ours}
    assert KEYS - own == {"cc_key", "cc_max_outstanding_mads"}


def test_ports_between_switches_get_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fabric = DATA / "ft2_18" / "ibnetdiscover.txt"
    made = becalm.Scenario(import_fabric(fabric).text).with_guideline("becalm2", hot_spot_degree=8)
    (own,) = made.resolved["marking"]["ibta"]["overrides"]
    lines = script(made, fabric).splitlines()
    ports = [line.split()[1:] for line in lines if line.startswith("port 0x")]
    # Two leaves with nine cables to the top each, and three switches there with six.
    assert len(ports) == 2 * 9 + 3 * 6
    assert {tuple(map(int, port[2:])) for port in ports} == {(own["threshold"], 0, own["marking_rate"])}
    leaves = [port for port in ports if int(port[1]) > 9]
    assert len(leaves) == 2 * 9, "hosts are at ports 1 to 9 of the leaves"
    assert len({port[0] for port in ports}) == 5
    # The settings of all ports alone are those of OpenSM's options.
    alone = made.replace({"marking.ibta.overrides": None})
    found = written(made)
    check(found, made)
    assert found.values == written(alone).values
    Path("fabric.toml").write_text(import_fabric(fabric).text)
    guided = ("manage", "fabric.toml", "--guideline", "becalm2", "--contributors", "8", "--opensm", "cc.conf")
    done = CliRunner().invoke(app, guided)
    assert done.exit_code == 2
    assert "overrides 1 of them: need the numbers of the ports" in done.output
    assert not list(tmp_path.glob("cc.conf*"))
    done = CliRunner().invoke(app, [*guided, "--fabric", str(fabric)])
    assert done.exit_code == 0, done.output
    assert {path.name for path in tmp_path.glob("cc.conf*")} == {
        "cc.conf",
        "cc.conf.ports",
        "cc.conf.rollback",
    }
    assert "the script next to this file sets (.ports)" in Path("cc.conf").read_text()
    assert subprocess.run(["sh", "cc.conf.ports", "no"], capture_output=True, check=False).returncode == 2


def test_the_command_writes_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fabric = str(DATA / "ft2_18" / "ibnetdiscover.txt")

    def command(*arguments: str, status: int = 0) -> str:
        done = CliRunner().invoke(app, list(arguments))
        assert done.exit_code == status, done.output
        return done.output

    command("import", fabric)
    given = ("manage", "fabric.toml", "--guideline", "gran2010", "--contributors", "18")
    command(*given, "--out", "managed.toml", "--opensm", "cc.conf")
    made = becalm.load("managed.toml")
    check(Configuration(Path("cc.conf").read_text()), made)
    # Manually tuned options are written unchanged.
    masked = made.replace({"marking.ibta.victim_mask": "host_ports", "response.ibta.ccti_timer": 77})
    Path("tuned.toml").write_text(masked.to_toml())
    message = command(
        "manage", "tuned.toml", "--guideline", "none", "--opensm", "tuned.conf", "--fabric", fabric
    )
    assert "tuned.toml as given: response.ibta.ccti_timer = 77: 8 contributors get only" in message
    found = Configuration(Path("tuned.conf").read_text())
    check(found, masked)
    assert found.ports("victim_mask") == set(range(1, 10))
    assert "cc.conf: already exists" in command("manage", "fabric.toml", "--opensm", "cc.conf", status=2)
    for arguments, problem in (
        (("--fabric", fabric), "--fabric: has no effect without --opensm"),
        (
            ("--out", "no.toml", "--opensm", "no.toml"),
            "no.toml: given for two outputs; each needs its own file",
        ),
        (("--guideline", "none", "--degree", "19"), "contributors 19: must be between 2 and the 18 hosts"),
    ):
        assert command("manage", "fabric.toml", *arguments, status=2) == f"{problem}\n"
    unsaid = ("--guideline", "none", "--opensm", "no.conf", "--out", "no.toml")
    assert "response none: is not a scheme of IBTA" in command("manage", "fabric.toml", *unsaid, status=2)
    assert not Path("no.conf").exists() and not Path("no.toml").exists()
