// Runs that recorded at different intervals are shown at the same times.
import assert from "node:assert/strict";
import { test } from "node:test";
import { module } from "./module.mjs";

const { aligned } = await module("src/align.ts");

/** A run with one link and two groups: its number of the row, and ten times it. */
function run(times) {
  const rows = Uint8Array.from(times, (_, row) => row);
  const rates = Float32Array.from([...rows, ...rows.map((row) => 10 * row)]);
  return { frames: { times, lanes: [{ vl: 0, occupancy: rows, role: rows }], details: { busy: rows } }, overTime: { times, rates, marked: null, window: 0 } };
}

test("a run with half the interval has every second row, and its last one", () => {
  const [long, short] = aligned([run([2, 4, 6, 8]), run([1, 2, 3, 4, 4.5])]);
  assert.deepEqual([long.frames.times, [...long.overTime.rates]], [[2, 4, 6, 8], [0, 1, 2, 3, 0, 10, 20, 30]]);
  assert.deepEqual([short.frames.times, [...short.frames.lanes[0].role], [...short.frames.details.busy]], [[2, 4, 4.5], [1, 3, 4], [1, 3, 4]]);
  assert.deepEqual([short.overTime.times, [...short.overTime.rates]], [[2, 4, 4.5], [1, 3, 4, 10, 30, 40]]);
});

test("a run with a longer interval repeats its rows", () => {
  const [, coarse] = aligned([run([1, 2, 3, 4, 5]), run([2, 4])]);
  assert.deepEqual(coarse.frames.times, [2, 2, 2, 4]);
});

test("runs with equal intervals, and runs without recordings, stay as they are", () => {
  const runs = [run([1, 2, 2.5]), run([1, 2, 3])];
  assert.deepEqual(aligned(runs), runs);
  const bare = [{ frames: null, overTime: null }];
  assert.deepEqual(aligned(bare), bare);
});
