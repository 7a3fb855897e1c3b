// From a layout's positions to pixels: all nodes, or those of the congestion tree spread over the full width.

import type { Fabric, Run } from "./data";

export interface View {
  /** Scale and horizontal and vertical shift from zooming. */
  scale: number;
  x: number;
  y: number;
}

export interface Geometry {
  /** Positions of nodes in pixels; NaN for hidden nodes. */
  x: Float32Array;
  y: Float32Array;
  nodes: number[];
  links: number[];
  /** Labelled rows: level and height in pixels. */
  rows: { label: string; level: number; y: number; count: number; shown: number }[];
  /** Distance between neighbours in the row of hosts. */
  pitch: number;
}

export const MARGIN = { left: 104, right: 28, top: 34, bottom: 34 };

/** The links that were root or branch at some time of the run, including links that share a cable with another one. */
export function treeLinks(run: Run): number[] {
  const known = trees.get(run);
  if (known) return known;
  const { frames, links } = run;
  const count = links?.root.length ?? (frames?.lanes[0] ? frames.lanes[0].role.length / frames.times.length : 0);
  const seen = new Uint8Array(count);
  for (const { role } of frames?.lanes ?? []) {
    for (let start = 0; start < role.length; start += count) {
      for (let link = 0; link < count; link++) seen[link] |= role[start + link];
    }
  }
  if (links) for (let link = 0; link < count; link++) if (links.root[link] > 2 || links.branch[link] > 2) seen[link] = 1;
  const found: number[] = [];
  for (let link = 0; link < count; link++) if (seen[link] > 0) found.push(link);
  trees.set(run, found);
  return found;
}

const trees = new WeakMap<Run, number[]>();

/** The links of one root's tree, and each node's distance from the root; empty without the root. */
export interface Tree {
  links: number[];
  depth: Map<number, number>;
}

/** Byte of the smallest share of the window for which a link counts as a branch, 5%. */
const LEAST_BRANCH = 13;

/** The tree of a run's worst root: all links upstream of it that were branches. A link that was a root for longer, such
 * as one that feeds the root from a switch above, belongs to the tree if it was also a branch. In fabrics with levels, packets go up and then down, so packets going up from a switch have come to it from below. */
export function rootTree(fabric: Fabric, run: Run): Tree | null {
  const root = run.roles?.first?.link;
  if (root === undefined) return null;
  const into = new Map<number, number[]>();
  for (const link of treeLinks(run)) {
    if (run.links && run.links.root[link] > run.links.branch[link] && run.links.branch[link] < LEAST_BRANCH) continue;
    into.set(fabric.to[link], [...(into.get(fabric.to[link]) ?? []), link]);
  }
  const up = (link: number) => fabric.form === "rows" && fabric.level[fabric.to[link]] > fabric.level[fabric.from[link]];
  const depth = new Map([[fabric.to[root], 0], [fabric.from[root], 1]]);
  const links = [root];
  const rising = new Set(up(root) ? [fabric.from[root]] : []);
  // A map also iterates over entries added during the iteration; nearest nodes come first.
  for (const [node, steps] of depth) {
    if (steps === 0) continue;
    for (const link of into.get(node) ?? []) {
      const source = fabric.from[link];
      if (rising.has(node) && !up(link)) continue;
      if (!depth.has(source)) {
        depth.set(source, steps + 1);
        if (up(link)) rising.add(source);
      }
      if (depth.get(source) === steps + 1) links.push(link);
    }
  }
  return { links, depth };
}

/** One root's tree: the root at the top, waiting outputs below by distance, hosts at the bottom next to their leaf. */
export function treeGeometry(fabric: Fabric, { links, depth }: Tree, width: number, height: number): Geometry {
  const count = fabric.names.length;
  const blank = () => new Float32Array(count).fill(Number.NaN);
  const made: Geometry = { x: blank(), y: blank(), nodes: [...depth.keys()], links, rows: [], pitch: 20 };
  const across = width - MARGIN.left - MARGIN.right;
  const down = height - MARGIN.top - MARGIN.bottom;
  const isHost = (node: number) => fabric.level[node] === 0 && (depth.get(node) ?? 0) > 0;
  const last = Math.max(1, ...made.nodes.filter((node) => !isHost(node)).map((node) => depth.get(node) as number));
  const hosts = made.nodes.filter(isHost);
  const bottom = hosts.length > 0 ? last + 1 : last;
  const row = (node: number) => (isHost(node) ? bottom : (depth.get(node) as number));
  const leaf = new Map(links.map((link) => [fabric.from[link], fabric.to[link]]));
  for (let at = 0; at <= bottom; at++) {
    const nodes = made.nodes.filter((node) => row(node) === at);
    if (nodes.length === 0) continue;
    const order = (node: number) => (isHost(node) ? fabric.x[leaf.get(node) as number] : fabric.x[node]);
    nodes.sort((a, b) => order(a) - order(b) || fabric.x[a] - fabric.x[b] || a - b);
    const y = MARGIN.top + (down * at) / bottom;
    nodes.forEach((node, i) => {
      made.x[node] = MARGIN.left + (across * (i + 0.5)) / nodes.length;
      made.y[node] = y;
    });
    const label = at === 0 ? "root" : at === bottom && hosts.length > 0 ? "hosts" : `${at} ${at === 1 ? "hop" : "hops"} away`;
    const all = label === "hosts" ? fabric.hosts : nodes.length;
    made.rows.push({ label, level: at, y, count: all, shown: nodes.length });
  }
  made.pitch = across / Math.max(1, hosts.length);
  return made;
}

export function geometry(fabric: Fabric, focus: number[] | null, width: number, height: number): Geometry {
  const count = fabric.names.length;
  const shown = new Uint8Array(count).fill(focus ? 0 : 1);
  for (const link of focus ?? []) shown[fabric.from[link]] = shown[fabric.to[link]] = 1;
  const made: Geometry = {
    x: new Float32Array(count).fill(Number.NaN),
    y: new Float32Array(count).fill(Number.NaN),
    nodes: [],
    links: [],
    rows: [],
    pitch: 20,
  };
  for (let node = 0; node < count; node++) if (shown[node]) made.nodes.push(node);
  for (let link = 0; link < fabric.from.length; link++) {
    if (shown[fabric.from[link]] && shown[fabric.to[link]]) made.links.push(link);
  }
  if (fabric.form === "rows") inRows(fabric, made, focus !== null, width, height);
  else inPlane(fabric, made, width, height);
  return made;
}

function inRows(fabric: Fabric, made: Geometry, focus: boolean, width: number, height: number): void {
  const levels = [...new Set(made.nodes.map((node) => fabric.level[node]))].sort((a, b) => a - b);
  const across = width - MARGIN.left - MARGIN.right;
  const down = height - MARGIN.top - MARGIN.bottom;
  levels.forEach((level, row) => {
    const y = MARGIN.top + down * (1 - (levels.length > 1 ? row / (levels.length - 1) : 0.5));
    const nodes = made.nodes.filter((node) => fabric.level[node] === level);
    nodes.sort((a, b) => fabric.x[a] - fabric.x[b]);
    nodes.forEach((node, i) => {
      const place = focus ? (i + 0.5) / nodes.length : fabric.x[node];
      made.x[node] = MARGIN.left + across * place;
      made.y[node] = y;
    });
    const all = fabric.level.reduce((sum, other) => sum + (other === level ? 1 : 0), 0);
    made.rows.push({ label: level === 0 ? "hosts" : `level ${level}`, level, y, count: all, shown: nodes.length });
  });
  if (focus) overTheirHosts(fabric, made);
  made.pitch = across / Math.max(1, made.rows[0]?.shown ?? 1);
}

/** In a focused tree, places switches above their hosts shown there, if there is space. */
function overTheirHosts(fabric: Fabric, made: Geometry): void {
  for (const row of made.rows.slice(1)) {
    const nodes = made.nodes.filter((node) => fabric.level[node] === row.level);
    const sums = new Map<number, [number, number]>();
    for (const link of made.links) {
      const [from, to] = [fabric.from[link], fabric.to[link]];
      if (fabric.level[to] !== row.level || fabric.level[from] !== row.level - 1) continue;
      const [sum, count] = sums.get(to) ?? [0, 0];
      sums.set(to, [sum + made.x[from], count + 1]);
    }
    if (!nodes.every((node) => sums.has(node))) continue;
    const wanted = nodes.map((node) => (sums.get(node) as [number, number])[0] / (sums.get(node) as [number, number])[1]);
    const order = nodes.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
    const apart = order.every((at, i) => i === 0 || wanted[at] - wanted[order[i - 1]] >= 14);
    if (apart) nodes.forEach((node, i) => (made.x[node] = wanted[i]));
  }
}

function inPlane(fabric: Fabric, made: Geometry, width: number, height: number): void {
  const across = width - MARGIN.left - MARGIN.right;
  const down = height - MARGIN.top - MARGIN.bottom;
  const round = fabric.form === "circle" || fabric.form === "groups";
  // Wider than high, since there is more space horizontally.
  const size = round ? Math.min(across, 1.7 * down) : across;
  const left = MARGIN.left + (across - size) / 2;
  for (const node of made.nodes) {
    made.x[node] = left + size * fabric.x[node];
    made.y[node] = MARGIN.top + down * (1 - fabric.y[node]);
  }
  made.pitch = fabric.form === "dumbbell" ? down / Math.max(1, fabric.hosts / 2) : apart(fabric, made);
}

/** The distance between most hosts and their next neighbour; for single hosts, half the distance to their switch. */
function apart(fabric: Fabric, made: Geometry): number {
  const hosts = made.nodes.filter((node) => fabric.level[node] === 0);
  const distances = hosts.slice(1).map((node, i) => Math.hypot(made.x[node] - made.x[hosts[i]], made.y[node] - made.y[hosts[i]]));
  distances.sort((a, b) => a - b);
  return Math.min(24, distances[distances.length >> 1] ?? 24);
}
