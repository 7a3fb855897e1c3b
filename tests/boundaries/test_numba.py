"""Numba: an exception in a compiled method ends the run, wherever it is raised. Numba only prints it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import becalm
from becalm import contract
from becalm.cli import app
from becalm.schemes.loading import load

pytest.importorskip("numba")

CLASSES = """\
import becalm

@becalm.native
class Raises(becalm.Response):
    def on_ack(self, now, ack):
        raise ValueError("no")

@becalm.native
class AtStart(becalm.Response):
    def start(self, flow):
        raise ValueError("no")
    def on_ack(self, now, ack):
        self.gap = 1.0

@becalm.native
class Divides(becalm.Response):
    n: int
    def shares(self, number):
        return 7 // number
    def on_ack(self, now, ack):
        self.n += 1
        self.gap = abs(self.shares(self.n - 50) + 1.0 / self.n)

@becalm.native
class DividesNumbers(becalm.Response):
    n: int
    def on_ack(self, now, ack):
        self.n += 1
        self.gap = abs(1.0 / (self.n - 50))

@becalm.native
class Rarely(becalm.Response):
    n: int
    def on_ack(self, now, ack):
        self.n += ack.marked == 0
        self.gap = 9.0 if ack.marked > 0 else 0.0
        if self.n == 900:
            raise RuntimeError("rare")

@becalm.native
class OnRestart(becalm.Response):
    def on_ack(self, now, ack):
        self.gap = 9.0 if ack.marked > 0 else 0.0
    def on_restart(self, now):
        self.gap = 1.0 / (self.gap - self.gap)

@becalm.native
class Marks(becalm.Marker):
    def departing(self, packet, switch):
        return 1 // (packet.input - packet.input) > 0

@becalm.native
class MarksAtStart(becalm.Marker):
    def start(self, shape):
        raise KeyError("no")
    def departing(self, packet, switch):
        return False

@becalm.native
class MarksNowhere(becalm.Marker):
    count: becalm.Lanes[int]
    def departing(self, packet, switch):
        self.count[packet.output + 1000, 0] += 1
        return False

@becalm.native
class Answers(becalm.Echo):
    def answer(self, packet):
        if packet.sequence == 20:
            raise RuntimeError("no")
        return becalm.Answer(0, False)

@becalm.native
class Sets(becalm.Response):
    rate: float
    def start(self, flow):
        self.bdp = 1.0
    def on_ack(self, now, ack):
        self.gap = 1.0

@becalm.native
class Reads(becalm.Response):
    def on_ack(self, now, ack):
        self.gap = 1.0 + self.bdp

@becalm.native
class Ticks(becalm.Response):
    def on_ack(self, now, ack):
        self.timer = now + 1
    def on_timer(self, now):
        self.timer = now + 1
"""


def scene() -> becalm.Scenario:
    return becalm.load(Path(__file__).parents[2] / "scenarios" / "input_triggered_lipd.toml")


def line_of(text: str) -> int:
    return CLASSES[: CLASSES.index(text)].count("\n") + 1


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("classes") / "mine.py"
    path.write_text(CLASSES)
    return path


FAILS = {
    "Raises": ("response", "ValueError: no", 'raise ValueError("no")'),
    "AtStart": ("response", "ValueError: no", 'raise ValueError("no")\n    def on_ack'),
    "Divides": ("response", "ZeroDivisionError: integer division by zero", "return 7 // number"),
    "DividesNumbers": (
        "response",
        "ZeroDivisionError: division by zero",
        "self.gap = abs(1.0 / (self.n - 50))",
    ),
    "Marks": ("marking", "ZeroDivisionError", "return 1 // (packet.input"),
    "MarksAtStart": ("marking", "KeyError: 'no'", 'raise KeyError("no")'),
    "MarksNowhere": ("marking", "IndexError: index is out of bounds", "self.count[packet.output + 1000"),
    "Answers": ("echo", "RuntimeError: no", 'raise RuntimeError("no")\n        return'),
}


@pytest.mark.parametrize("name", FAILS)
def test_an_exception_ends_the_run_with_its_line_and_leaves_nothing(
    tmp_path: Path, file: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    seam, problem, line = FAILS[name]
    out = tmp_path / "results"
    command = ["run", "--example", "input_triggered_lipd", "--out", str(out), "--quiet"]
    done = CliRunner().invoke(app, [*command, f"--{seam}", f"{file}:{name}"])
    assert done.exit_code == 2, done.output
    message = done.output.replace("\n", " ")
    assert problem in message and f"mine.py:{line_of(line)}" in message
    assert not out.exists() and "Exception ignored" not in capfd.readouterr().err


def test_an_exception_is_noticed_even_if_its_text_is_lost(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = load(f"{file}:Raises")
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    with pytest.raises(becalm.SchemeError, match="its function `ack` reports a failure"):
        becalm.run(scene(), schemes=[scheme])


def test_other_exceptions_still_reach_their_own_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    from becalm.schemes import raising

    raising.marked(lambda function: function, print)
    stranger = SimpleNamespace(object="someone else's", exc_value=ValueError())
    sys.unraisablehook(stranger)
    assert seen == [stranger]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_on_several_threads_ends_too(file: Path, threads: int) -> None:
    with pytest.raises(
        becalm.SchemeError, match=r"ZeroDivisionError: integer division by zero in .*mine\.py:"
    ):
        becalm.run(scene(), schemes=[f"{file}:Divides"], threads=threads)


def test_in_a_sweep_the_run_counts_as_failed(tmp_path: Path, file: Path) -> None:
    scenario = scene().using([f"{file}:Divides"])
    with pytest.raises(becalm.SweepError) as raised:
        becalm.sweep(scenario, {"run.seed": [1, 2]}, folder=tmp_path / "store")
    assert len(raised.value.failed) == 2 and raised.value.results is not None
    assert all("ZeroDivisionError" in each.error for each in raised.value.failed)
    assert not list((tmp_path / "store").glob("runs/*/*.zip"))


@pytest.mark.parametrize("name", ["Raises", "Rarely", "OnRestart"])
def test_check_scheme_fails_where_only_a_rare_branch_raises(file: Path, name: str) -> None:
    found = contract.check_scheme(load(f"{file}:{name}"))
    assert any(not each.holds and "mine.py:" in each.detail for each in found)


@pytest.mark.parametrize(
    ("name", "what", "line"),
    [
        ("Sets", "`Sets.start` sets `self.bdp`", "self.bdp = 1.0"),
        ("Reads", "`Reads.on_ack` reads `self.bdp`", "self.gap = 1.0 + self.bdp"),
    ],
)
def test_an_undeclared_attribute_is_named(file: Path, name: str, what: str, line: str) -> None:
    with pytest.raises(becalm.SchemeError) as raised:
        load(f"{file}:{name}")
    assert str(raised.value) == (
        f"{file}:{line_of(line)}: {what}, which is not declared; annotate its state in the class, "
        "as in `bdp: float`"
    )


def test_a_timer_that_expires_all_the_time_ends_the_run(file: Path) -> None:
    with pytest.raises(becalm.SchemeError, match="its timer expires more than 1000 times within 1 us"):
        becalm.run(scene(), schemes=[f"{file}:Ticks"])
