// The widths of the picture of losses are the bytes that victims lose, in every column.
import assert from "node:assert/strict";
import { test } from "node:test";
import { module } from "./module.mjs";

const { layout } = await module("src/losses.ts");
const LOSSES = [
  ["a", 3, 7, "hot", 60],
  ["b", 3, 7, "hot", 30],
  ["b", 4, 8, "other", 8],
  ["c", -1, -1, "", 2],
];

test("every column and every gap between columns has all bytes", () => {
  const { columns, ribbons, total } = layout(LOSSES, (link) => `link ${link}`, 400);
  assert.equal(total, 100);
  const sum = (parts) => parts.reduce((all, { bytes }) => all + bytes, 0);
  for (const column of columns) assert.equal(sum(column), total);
  for (const own of ribbons) assert.equal(sum(own), total);
  assert.deepEqual(columns.map((nodes) => nodes.map(({ name }) => name)), [
    ["a", "b", "c"],
    ["link 3", "link 4", "no known root"],
    ["link 7", "link 8", "no known root"],
    ["hot", "other", "unknown"],
  ]);
});

test("ribbons lie within their bars, and bars within the picture", () => {
  const { columns, ribbons } = layout(LOSSES, String, 400);
  for (const nodes of columns) {
    nodes.reduce((end, { y, height }) => {
      assert.ok(y >= end && y + height <= 400, `${y} after ${end}`);
      return y + height;
    }, 0);
  }
  for (const { from, to, y, height } of ribbons.flat()) {
    assert.ok(y[0] >= from.y - 1e-9 && y[0] + height <= from.y + from.height + 1e-9);
    assert.ok(y[1] >= to.y - 1e-9 && y[1] + height <= to.y + to.height + 1e-9);
  }
});
