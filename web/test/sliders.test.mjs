// Sliders and schemes are changes of a scenario's text, and nothing else of it changes.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { here } from "../bundle.mjs";
import { module } from "./module.mjs";

const { at, moved, position, positions, sliders } = await module("src/sliders.ts");
const { block, swapped } = await module("src/schemes.ts");

const TEXT = `[response.ibta]
ccti_timer = 10          # slider "timer" 0..1000 log
from = ["H1..H20"]  # slider "sources" 1..31
load = 0.2 # slider "load" 0.05..1 step 0.05
max = "21 us"            # slider "delay" 1..400 log
name = "x"               # slider "no number" 1..2
note = 3                 # slider "upside down" 5..1
`;

test("a slider is the last number of a value, with its unit", () => {
  const found = sliders(TEXT);
  assert.deepEqual(found.map(({ name, value, unit, step }) => [name, value, unit, step]), [
    ["timer", 10, "", 0],
    ["sources", 20, "", 1],
    ["load", 0.2, "", 0.05],
    ["delay", 21, "us", 0],
  ]);
});

test("moving a slider changes its number alone, and comments keep their column where there is room", () => {
  const [timer, sources, load, delay] = sliders(TEXT);
  const line = (text, slider) => text.split("\n")[slider.line];
  assert.equal(line(moved(TEXT, timer, 500), timer), 'ccti_timer = 500         # slider "timer" 0..1000 log');
  assert.equal(line(moved(TEXT, sources, 3), sources), 'from = ["H1..H3"]   # slider "sources" 1..31');
  assert.equal(line(moved(TEXT, load, 0.35), load), 'load = 0.35 # slider "load" 0.05..1 step 0.05');
  assert.equal(line(moved(TEXT, delay, 1.5), delay), 'max = "1.5 us"           # slider "delay" 1..400 log');
  assert.equal(moved(moved(TEXT, timer, 500), timer, 10), TEXT);
});

test("a scheme that comes back has its own lines again", () => {
  const known = new Map([["response.ibta", block(TEXT, "response")]]);
  const away = swapped(TEXT, "response", { name: "none", doc: "", parameters: [] });
  assert.equal(sliders(away).length, 0);
  assert.equal(swapped(away, "response", { name: "ibta", doc: "", parameters: [] }, known), TEXT);
  assert.notEqual(swapped(away, "response", { name: "ibta", doc: "", parameters: [] }), TEXT);
});

test("every value of a slider has a position that leads back to it", () => {
  for (const slider of sliders(TEXT)) {
    for (let place = 0; place <= positions(slider); place++) {
      const value = at(slider, place);
      assert.ok(value >= slider.low && value <= slider.high, `${slider.name} ${place}: ${value}`);
      const again = at(slider, position({ ...slider, value }));
      assert.ok(Math.abs(again - value) <= 0.05 * Math.abs(value) + 1e-9, `${slider.name} ${place}: ${value}, ${again}`);
    }
    assert.equal(at(slider, 0), slider.low);
    assert.equal(at(slider, positions(slider)), slider.high);
  }
});

test("every scene has a slider on every line that says so", () => {
  for (const name of readdirSync(here("scenes"))) {
    const text = readFileSync(here(`scenes/${name}`), "utf8");
    const said = text.split("\n").filter((line) => line.includes("# slider")).length;
    assert.equal(sliders(text).length, said, name);
    assert.ok(said >= 4, name);
  }
});

test("another scheme takes the place of the old one and keeps what both have", () => {
  const number = (name, preset, minimum, maximum) => ({ name, kind: "a finite number", default: preset, range: "", minimum, maximum, required: false, unit: "", help: "" });
  const aimd = { name: "aimd", doc: "", parameters: [number("rmin", 0.004, 1e-6, 1), number("m", 2, 1.01, 256)] };
  const text = "[run]\nduration = \"1 ms\"\n\n[response.lipd]\nrmin = 0.5\nwindow = 3\n\n# Flows.\n[[flows]]\nname = \"f\"\n";
  const swap = swapped(text, "response", aimd);
  assert.match(swap, /\[response\.aimd\]\nrmin = 0\.5\nm = 2 +# slider "m" 1\.01\.\.32 log\n\n# Flows\.\n\[\[flows\]\]/);
  assert.ok(!swap.includes("lipd") && !swap.includes("window"));
  const tables = "[response.ibta]\na = 1\n[response.ibta.cct.linear]\nmax = 2\n[[flows]]\nresponse.lipd = {}\n";
  assert.equal(swapped(tables, "response", { name: "none", doc: "", parameters: [] }), "[response.none]\n[[flows]]\nresponse.lipd = {}\n");
  assert.equal(swapped("[[flows]]\n", "marking", { name: "naive", doc: "", parameters: [] }), "[marking.naive]\n\n[[flows]]\n");
  assert.equal(swapped("marking.none = {}\n[[flows]]\n", "marking", { name: "naive", doc: "", parameters: [] }), "[marking.naive]\n[[flows]]\n");
});
