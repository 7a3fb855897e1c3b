"""An error in a user-defined scheme yields one message; a scenario by itself cannot run code."""

from __future__ import annotations

from pathlib import Path

import libraries
import pytest
from typer.testing import CliRunner

import becalm
from becalm.cli import app

SCENARIOS = Path(__file__).parents[2] / "scenarios"
MINE = """
import becalm

class Mine(becalm.Response):
    "A response."
    cut = becalm.Parameter(0.5, "share that remains", least=0.01, most=1.0)

    def on_ack(self, now, ack):
        {body}
"""


def written(folder: Path, body: str) -> str:
    file = folder / "mine.py"
    file.write_text(MINE.format(body=body))
    return f"{file}:Mine"


def scene() -> becalm.Scenario:
    return becalm.load(SCENARIOS / "input_triggered_lipd.toml")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("self.gap = float('nan')", "sets a gap of NaN; it must be a finite number, at least 0"),
        ("self.gap = -1", "sets a gap of -1; it must be a finite number, at least 0"),
        ("self.window = 0", "sets a window of 0; it must be at least 1"),
        ("self.timer = now", "sets its timer to"),
        ("self.gap = 'fast'", "self.gap = 'fast': must be a number, at least 0"),
        ("1 / 0", "ZeroDivisionError: division by zero in "),
    ],
)
def test_a_wrong_answer_ends_the_run_with_its_flow_and_time(tmp_path: Path, body: str, expected: str) -> None:
    with pytest.raises(becalm.SchemeError) as raised:
        becalm.run(scene(), schemes=[written(tmp_path, body)])
    message = str(raised.value)
    assert expected in message and message.startswith("mine.py:Mine: flow ") and "local: B" in message
    assert "\n" not in message
    if "Zero" in expected:
        assert "mine.py:9, called as on_ack(" in message and "Ack(covers=1" in message


def test_a_scenario_alone_runs_no_code(tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    reference = written(tmp_path, "pass").removesuffix(":Mine")
    Path(reference).write_text(Path(reference).read_text() + f"\nopen({str(proof)!r}, 'w').close()\n")
    text = (
        scene()
        .to_toml()
        .replace("[response.lipd]", f'[response.external]\nname = "mine"\nparameters.file = "{reference}"')
    )
    text = text.replace("rmin = 0.00390625", "#")
    with pytest.raises(becalm.ScenarioError, match=r"needs code, which a scenario never contains") as raised:
        becalm.Scenario(text, name="stranger.toml")
    assert "--response FILE:NAME" in str(raised.value) and not proof.exists()
    shown = becalm.Scenario(text, name="stranger.toml", schemes=None)
    with pytest.raises(becalm.SchemeError, match="was not provided"):
        becalm.run(shown)
    assert not proof.exists()


def test_parameters_are_keys_with_ranges(tmp_path: Path) -> None:
    mine = scene().using([written(tmp_path, "self.gap = self.cut")])
    key = "response.external.parameters.cut"
    assert mine.replace({key: 0.25}).resolved["response"]["external"]["parameters"] == {"cut": 0.25}
    with pytest.raises(becalm.ScenarioError, match=r"must be between 0\.01 and 1"):
        mine.replace({key: 2.0})
    with pytest.raises(becalm.ScenarioError, match=r"unknown key, did you mean `cut`\?; valid: cut"):
        mine.replace({"response.external.parameters.cutt": 0.5})


def test_a_changed_scheme_is_another_run(tmp_path: Path) -> None:
    first = scene().using([written(tmp_path, "self.gap = 1.0")])
    second = scene().using([written(tmp_path, "self.gap = 2.0")])
    assert first.hash != second.hash
    assert becalm.run(first).fingerprint != becalm.run(second).fingerprint
    named = {"response.external.sha256": first.resolved["response"]["external"]["sha256"]}
    with pytest.raises(becalm.ScenarioError, match=r"does not match mine\.py:Mine, whose hash is"):
        second.replace(named)


C = '#include "becalm.h"\n#include <stddef.h>\n'


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("int nothing(void) { return 0; }", "does not export `becalm_scheme_at`"),
        (
            "static const becalm_scheme OLD = {7};\n"
            "const becalm_scheme *becalm_scheme_at(uint32_t n) { return n ? NULL : &OLD; }",
            "was made for version 7 of becalm's C interface, but this becalm has version 1",
        ),
    ],
)
def test_libraries_that_do_not_fit_are_refused(tmp_path: Path, code: str, expected: str) -> None:
    source = tmp_path / "wrong.c"
    source.write_text(C + code + "\n")
    library = libraries.compile_c(source, tmp_path / "libwrong.so", "-Wno-missing-field-initializers")
    with pytest.raises(becalm.SchemeError, match=r"libwrong\.so") as raised:
        becalm.run(scene(), schemes=[str(library)])
    assert expected in str(raised.value)


def test_a_library_for_another_machine_is_refused(tmp_path: Path) -> None:
    content = bytearray(64)
    content[:6], content[18] = b"\x7fELF\x02\x01", 243
    (tmp_path / "libother.so").write_bytes(content)
    with pytest.raises(becalm.SchemeError, match="is built for riscv64, but this machine is"):
        becalm.run(scene(), schemes=[str(tmp_path / "libother.so")])


WRONG = {
    "no number": ("mine.py", MINE.format(body="self.gap = float('nan')"), "sets a gap of NaN"),
    "negative": ("mine.py", MINE.format(body="self.gap = -1"), "sets a gap of -1"),
    "exception": ("mine.py", MINE.format(body="1 / 0"), "ZeroDivisionError"),
    "at its start": (
        "mine.py",
        MINE.format(body="pass\n    def start(self, flow): raise KeyError(3)"),
        "KeyError: 3",
    ),
    "no such class": ("mine.py", "x = 1\n", "has no scheme `Mine`"),
    "no syntax": ("mine.py", "class Mine(\n", "mine.py:1: SyntaxError"),
    "no symbol": ("mine.c", "int nothing;", "does not export `becalm_scheme_at`"),
    "old": (
        "mine.c",
        "static const becalm_scheme OLD = {7, 0, 0, 0, 0, 0, 0};\n"
        "const becalm_scheme *becalm_scheme_at(uint32_t n) { return n ? NULL : &OLD; }",
        "version 7 of becalm's C interface, but this becalm has version 1",
    ),
    "compiled": (
        "mine.c",
        "static void begin(void *s, const becalm_context *c, const becalm_flow *f, becalm_pace *p) "
        "{ (void)s, (void)c, (void)f, (void)p; }\n"
        "static void ack(void *s, const becalm_context *c, uint64_t now, const becalm_ack *a, "
        "becalm_pace *p) "
        "{ (void)s, (void)c, (void)now, (void)a; p->gap = 0.0 / (p->gap * 0.0); }\n"
        "static const becalm_response R = {0, 0, 0, begin, ack, NULL, NULL, NULL, NULL};\n"
        'static const becalm_scheme S = {BECALM_ABI, BECALM_RESPONSE, "mine", "", NULL, 0, &R};\n'
        "const becalm_scheme *becalm_scheme_at(uint32_t n) { return n ? NULL : &S; }",
        "sets a gap of NaN",
    ),
    "lacks a function": (
        "mine.c",
        "static const becalm_response R = {0};\n"
        'static const becalm_scheme S = {BECALM_ABI, BECALM_RESPONSE, "mine", "", NULL, 0, &R};\n'
        "const becalm_scheme *becalm_scheme_at(uint32_t n) { return n ? NULL : &S; }",
        "lacks the required function `start`",
    ),
    "another machine": (
        "libmine.so",
        "\x7fELF\x02\x01" + 12 * "\0" + "\x12\x34" + 44 * "\0",
        "this machine is",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_a_user_does_wrong_ends_with_exit_code_2_and_writes_nothing(tmp_path: Path, case: str) -> None:
    file, content, expected = WRONG[case]
    path = tmp_path / file
    path.write_text((C if path.suffix == ".c" else "") + content + "\n", encoding="latin-1")
    if path.suffix == ".c":
        path = libraries.compile_c(path, tmp_path / "libmine.so", "-Wno-missing-field-initializers")
    name = ":Mine" if path.suffix == ".py" else ""
    out = tmp_path / "results"
    command = ["run", "--example", "input_triggered_lipd", "--out", str(out), "--quiet"]
    done = CliRunner().invoke(app, [*command, "--response", f"{path}{name}"])
    assert done.exit_code == 2 and expected in done.output.replace("\n", " "), done.output
    assert not out.exists() and "Traceback" not in done.output


def test_a_marker_that_asks_for_a_port_that_is_not_there_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import becalm\n\nclass Mine(becalm.Marker):\n    def departing(self, packet, switch):\n"
        "        return switch.waiting(99, 0) > 0\n"
    )
    with pytest.raises(becalm.SchemeError, match="reads port 99, lane 0 of a switch with"):
        becalm.run(scene(), schemes=[f"{file}:Mine"])
