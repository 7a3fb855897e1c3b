// The layout of losses: columns of names, and ribbons between them whose heights are bytes.

import type { Run } from "./data";

/** A name in a column: its place, its bytes, and the link that it stands for, if it does. */
export interface Node {
  name: string;
  link: number;
  bytes: number;
  y: number;
  height: number;
}

export interface Ribbon {
  from: Node;
  to: Node;
  bytes: number;
  /** Upper ends on both sides. */
  y: [number, number];
  height: number;
}

export interface Layout {
  columns: Node[][];
  ribbons: Ribbon[][];
  total: number;
}

/** Distance between names, and their least height, so that they can be read. */
const [GAP, LEAST] = [8, 15];

/** The columns and ribbons of losses, in a box of a height in pixels. */
export function layout(losses: NonNullable<Run["blocking"]>, name: (link: number) => string, height: number): Layout {
  const label = (value: string | number) => (typeof value === "string" ? value || "unknown" : value === -1 ? "no known root" : value === -2 ? "other links" : name(value));
  const total = losses.reduce((sum, row) => sum + row[4], 0);
  const columns = [0, 1, 2, 3].map((at) => {
    const nodes = new Map<string, Node>();
    for (const row of losses) {
      const value = row[at] as string | number;
      const key = String(value);
      const node = nodes.get(key) ?? { name: label(value), link: typeof value === "number" && value >= 0 ? value : -1, bytes: 0, y: 0, height: 0 };
      node.bytes += row[4];
      nodes.set(key, node);
    }
    return nodes;
  });
  const most = Math.max(...columns.map((nodes) => nodes.size));
  const scale = (height - most * (GAP + LEAST)) / total;
  const placed = columns.map((nodes) => {
    let y = 0;
    return [...nodes.values()].sort((a, b) => b.bytes - a.bytes).map((node) => {
      Object.assign(node, { y, height: node.bytes * scale });
      y += Math.max(node.height, LEAST) + GAP;
      return node;
    });
  });
  const ribbons = [0, 1, 2].map((at) => between(losses, columns[at], columns[at + 1], at, scale));
  return { columns: placed, ribbons, total };
}

/** The ribbons from one column to the next, from top to bottom on both sides. */
function between(losses: NonNullable<Run["blocking"]>, left: Map<string, Node>, right: Map<string, Node>, at: number, scale: number): Ribbon[] {
  const sums = new Map<string, Ribbon>();
  for (const row of losses) {
    const [from, to] = [left.get(String(row[at])) as Node, right.get(String(row[at + 1])) as Node];
    const key = `${row[at]}\n${row[at + 1]}`;
    const ribbon = sums.get(key) ?? { from, to, bytes: 0, y: [0, 0], height: 0 };
    ribbon.bytes += row[4];
    sums.set(key, ribbon);
  }
  const all = [...sums.values()].sort((a, b) => a.from.y - b.from.y || a.to.y - b.to.y);
  const used = new Map<Node, [number, number]>();
  const next = (node: Node, side: 0 | 1, height: number) => {
    const own = used.get(node) ?? [0, 0];
    const y = node.y + own[side];
    own[side] += height;
    used.set(node, own);
    return y;
  };
  for (const ribbon of all) {
    ribbon.height = ribbon.bytes * scale;
    ribbon.y = [next(ribbon.from, 1, ribbon.height), next(ribbon.to, 0, ribbon.height)];
  }
  return all;
}
