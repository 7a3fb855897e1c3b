// The tree of the worst root has what waits for it, and nothing of others.
import assert from "node:assert/strict";
import { test } from "node:test";
import { module } from "./module.mjs";

const { rootTree, treeGeometry } = await module("src/geometry.ts");

// Hosts 0 to 5, two to a leaf 6, 7, 8; spines 9 and 10.
const NODES = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2];
const LINKS = [
  [6, 0, "root"],
  [1, 6, "branch"],
  [9, 6, "branch"],
  [7, 9, "branch"],
  [2, 7, "branch"],
  [3, 7, "branch"],
  [8, 9, "calm"],
  [10, 7, "branch"], // down to leaf 7: what it holds did not go up from there to the root
  [8, 10, "branch"],
  [4, 8, "branch"],
  [6, 9, "root"],
];
const fabric = {
  form: "rows",
  hosts: 6,
  names: NODES.map((_, i) => `n${i}`),
  level: Uint8Array.from(NODES),
  x: Float32Array.from(NODES, (_, i) => i / 11),
  from: Uint32Array.from(LINKS, ([from]) => from),
  to: Uint32Array.from(LINKS, ([, to]) => to),
};
const share = (role) => Uint8Array.from(LINKS, ([, , own]) => (own === role ? 200 : 0));
const run = { frames: null, links: { root: share("root"), branch: share("branch") }, roles: { first: { link: 0 } } };

test("a tree is what waits upstream of its root, up and then down", () => {
  const tree = rootTree(fabric, run);
  assert.deepEqual([...tree.links].sort((a, b) => a - b), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([...tree.depth.keys()].sort((a, b) => a - b), [0, 1, 2, 3, 6, 7, 9]);
  assert.equal(rootTree(fabric, { ...run, roles: { first: null } }), null);
});

test("the root is at the top, hosts at the bottom by their leaf, and every node has a place of its own", () => {
  const made = treeGeometry(fabric, rootTree(fabric, run), 800, 400);
  assert.deepEqual(made.rows.map(({ label }) => label), ["root", "1 hop away", "2 hops away", "3 hops away", "hosts"]);
  const height = (node) => made.y[node];
  assert.ok(height(0) < height(6) && height(6) < height(9) && height(9) < height(7) && height(7) < height(2));
  assert.equal(new Set([1, 2, 3].map(height)).size, 1);
  const places = made.nodes.map((node) => `${made.x[node]} ${made.y[node]}`);
  assert.equal(new Set(places).size, places.length);
  assert.ok(Number.isNaN(made.x[8]));
});
