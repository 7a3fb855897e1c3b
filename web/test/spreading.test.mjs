// Which links a picture of links over time shows, and in which order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { module } from "./module.mjs";

const { spreading } = await module("src/spreading.ts");

// Three frames of five links. Link 3 is the root from the first frame, link 1 a branch from the second one; link 2 only
// fills, link 4 fills less, and link 0 stays empty.
const occupancy = [0, 0, 9, 0, 1, 0, 90, 90, 0, 1, 0, 99, 99, 0, 1];
const role = [0, 0, 0, 1, 0, 0, 2, 0, 1, 0, 0, 2, 0, 1, 0];

test("links come in the order in which congestion reaches them", () => {
  assert.deepEqual(spreading({ occupancy, role }, 5, 40), [3, 1, 2, 4]);
});

test("few rows keep the links of the tree", () => {
  assert.deepEqual(spreading({ occupancy, role }, 5, 2), [3, 1]);
  assert.deepEqual(spreading({ occupancy: new Uint8Array(5), role: new Uint8Array(5) }, 5, 2), []);
});
