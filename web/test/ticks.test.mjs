// Texts and ticks of numbers. Trials are counted: their axis has whole numbers.
import assert from "node:assert/strict";
import { test } from "node:test";
import { module } from "./module.mjs";

const { singular, ticks } = await module("src/units.ts");

test("trials have whole ticks inside of the axis", () => assert.deepEqual(ticks([0, 40.26], true), [0, 20, 40]));
test("one trial has one tick", () => assert.deepEqual(ticks([0.9, 1.1], true), [1]));
test("other axes have their ends and the middle", () => assert.deepEqual(ticks([0.5, 1.5], false), [0.5, 1, 1.5]));
test("one packet is one packet; units that are symbols stay", () => {
  assert.deepEqual(["packets", "stages", "us", "kB", ""].map(singular), ["packet", "stage", "us", "kB", ""]);
});
