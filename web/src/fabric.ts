// The fabric at one time, on a canvas: static parts below, changing parts above.

import type { Fabric, Lane, Run } from "./data";
import { type Geometry, MARGIN, type View } from "./geometry";
import type { Mode } from "./state";
import { STEPS, type Theme } from "./theme";

/** Largest number of links that are all drawn as lines; of more, only those that stand out are drawn. */
export const MOST_LINES = 4000;
/** Largest number of cables drawn below outside of rows, which have strips instead. */
const MOST_CABLES = 40_000;
/** Value from which a link stands out: a quarter. */
const STANDS_OUT = 64;
export const ROOT = 1;
export const BRANCH = 2;

export interface Scene {
  fabric: Fabric;
  run: Run;
  geometry: Geometry;
  view: View;
  theme: Theme;
  width: number;
  height: number;
}

/** The values of all links at a time, from 0 to 255. */
export function values(run: Run, lane: Lane | undefined, mode: Mode, time: number, links: number): Uint8Array {
  const at = (array: Uint8Array | undefined) => array?.subarray(time * links, (time + 1) * links);
  const whole = mode === "utilization" ? run.links?.utilization : mode === "stalledWhole" ? run.links?.stalled : undefined;
  if (whole) return whole;
  const found = mode === "occupancy" ? at(lane?.occupancy) : at(run.frames?.details[mode as "busy"]);
  return found ?? new Uint8Array(links);
}

export function roles(run: Run, lane: Lane | undefined, mode: Mode, time: number, links: number): Uint8Array {
  if (mode === "utilization" || mode === "stalledWhole" || !lane) {
    // Over the entire window, a link has the role that it had longest, if for at least a hundredth of the time.
    const { root, branch } = run.links ?? { root: new Uint8Array(links), branch: new Uint8Array(links) };
    return Uint8Array.from(root, (share, i) => (Math.max(share, branch[i]) < 3 ? 0 : share >= branch[i] ? ROOT : BRANCH));
  }
  return lane.role.subarray(time * links, (time + 1) * links);
}

/** The ends of a link in pixels, shifted to the right of its direction so that both directions are visible. */
export function ends(scene: Scene, link: number): [number, number, number, number] {
  const { fabric, geometry, view } = scene;
  const [a, b] = [fabric.from[link], fabric.to[link]];
  const place = (value: number, shift: number) => value * view.scale + shift;
  const [x0, y0] = [place(geometry.x[a], view.x), place(geometry.y[a], view.y)];
  const [x1, y1] = [place(geometry.x[b], view.x), place(geometry.y[b], view.y)];
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const apart = Math.min(2.2, 0.22 * geometry.pitch * view.scale + 0.4);
  const [dx, dy] = [(-apart * (y1 - y0)) / length, (apart * (x1 - x0)) / length];
  return [x0 + dx, y0 + dy, x1 + dx, y1 + dy];
}

export class Painter {
  private readonly base = document.createElement("canvas");
  private readonly top = document.createElement("canvas");
  private strips: Strip[] = [];
  private key = "";

  /** Draws a time; returns the links that were drawn as lines. */
  draw(context: CanvasRenderingContext2D, scene: Scene, values: Uint8Array, roles: Uint8Array, ratio: number): number[] {
    this.still(scene, ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.base, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const many = scene.geometry.links.length > MOST_LINES;
    const lines = scene.geometry.links.filter((link) => roles[link] > 0 || values[link] >= (many ? STANDS_OUT : 1));
    for (const strip of this.strips) drawStrip(context, scene, strip, values);
    this.lines(context, scene, lines, values, roles);
    return many ? lines : scene.geometry.links;
  }

  /** Draws nodes and names over all lines. */
  finish(context: CanvasRenderingContext2D): void {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.top, 0, 0);
  }

  /** The static parts, drawn once for a layout: cables below, nodes and names above. */
  private still(scene: Scene, ratio: number): void {
    const { width, height, view, theme, geometry, run } = scene;
    const counts = [geometry.links.length, geometry.pitch, geometry.rows[0]?.label, run.replication, run.fingerprint];
    const key = [width, height, ratio, view.scale, view.x, view.y, theme.dark, ...counts].join();
    if (key === this.key) return;
    this.key = key;
    const [context, over] = [this.base, this.top].map((canvas) => {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      const made = canvas.getContext("2d") as CanvasRenderingContext2D;
      made.setTransform(ratio, 0, 0, ratio, 0, 0);
      return made;
    });
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, width, height);
    this.cables(context, scene);
    this.strips = geometry.links.length > MOST_LINES && scene.fabric.form === "rows" ? strips(scene) : [];
    nodes(over, scene);
    names(over, scene);
    labels(over, scene, height);
  }

  private cables(context: CanvasRenderingContext2D, scene: Scene): void {
    const { theme, geometry } = scene;
    if (geometry.links.length > (scene.fabric.form === "rows" ? MOST_LINES : MOST_CABLES)) return;
    context.strokeStyle = theme.shades[0];
    context.globalAlpha = Math.min(1, 500 / geometry.links.length + 0.25);
    context.lineWidth = 1;
    context.beginPath();
    for (const link of geometry.links) trace(context, ends(scene, link));
    context.stroke();
  }

  private lines(context: CanvasRenderingContext2D, scene: Scene, lines: number[], values: Uint8Array, roles: Uint8Array): void {
    const steps: number[][] = Array.from({ length: STEPS }, () => []);
    const roots: number[] = [];
    for (const link of lines) {
      if (roles[link] === ROOT) roots.push(link);
      else steps[Math.min(STEPS - 1, Math.ceil((values[link] * (STEPS - 1)) / 255))].push(link);
    }
    const thin = lines.length > 1500 ? 0.6 : 1;
    steps.forEach((links, step) => {
      if (links.length === 0) return;
      context.strokeStyle = scene.theme.shades[step];
      context.lineWidth = thin * (0.9 + (1.7 * step) / (STEPS - 1));
      context.beginPath();
      for (const link of links) trace(context, ends(scene, link));
      context.stroke();
    });
    drawRoots(context, scene, roots);
  }
}

function trace(context: CanvasRenderingContext2D, [x0, y0, x1, y1]: [number, number, number, number]): void {
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
}

function drawRoots(context: CanvasRenderingContext2D, scene: Scene, roots: number[]): void {
  const { theme } = scene;
  const large = roots.length < 40 ? 6 : 4;
  context.strokeStyle = theme.root;
  context.lineWidth = 2.6;
  context.beginPath();
  for (const link of roots) trace(context, ends(scene, link));
  context.stroke();
  for (const link of roots) {
    const [x0, y0, x1, y1] = ends(scene, link);
    const [x, y] = [x0 + 0.42 * (x1 - x0), y0 + 0.42 * (y1 - y0)];
    context.beginPath();
    context.moveTo(x, y - large);
    context.lineTo(x + large, y);
    context.lineTo(x, y + large);
    context.lineTo(x - large, y);
    context.closePath();
    context.fillStyle = theme.root;
    context.fill();
    context.strokeStyle = theme.paper;
    context.lineWidth = 1;
    context.stroke();
  }
}

/** Links between two rows in one direction, as pixels that each represent the fullest link of their column. */
interface Strip {
  y: number;
  up: boolean;
  links: Uint32Array;
  columns: Uint16Array;
  /** The fullest link of each column, plus one; 0 without links. */
  fullest: Uint16Array;
}

/** Assigns links to pixels. This is the same at all times, and most of the work. */
function strips(scene: Scene): Strip[] {
  const { fabric, geometry, view, width } = scene;
  const found = new Map<number, { strip: Omit<Strip, "links" | "columns">; links: number[]; columns: number[] }>();
  for (const link of geometry.links) {
    const [a, b] = [fabric.from[link], fabric.to[link]];
    const up = fabric.level[b] > fabric.level[a];
    const low = up ? a : b;
    const key = 2 * fabric.level[low] + Number(up);
    let row = found.get(key);
    if (!row) {
      const y = geometry.y[low] * view.scale + view.y - (up ? 14 : 24);
      row = { strip: { y, up, fullest: new Uint16Array(Math.ceil(width)) }, links: [], columns: [] };
      found.set(key, row);
    }
    const column = Math.round(geometry.x[low] * view.scale + view.x);
    if (column < 0 || column >= row.strip.fullest.length) continue;
    row.links.push(link);
    row.columns.push(column);
  }
  return [...found.values()].map((row) => ({ ...row.strip, links: Uint32Array.from(row.links), columns: Uint16Array.from(row.columns) }));
}

function drawStrip(context: CanvasRenderingContext2D, scene: Scene, strip: Strip, values: Uint8Array): void {
  const { theme, width } = scene;
  const { links, columns, fullest, y } = strip;
  fullest.fill(0);
  for (let i = 0; i < links.length; i++) {
    const value = values[links[i]] + 1;
    if (value > fullest[columns[i]]) fullest[columns[i]] = value;
  }
  // Neighbours of the same shade become one box.
  const shade = (column: number) => (column < fullest.length && fullest[column] > 0 ? Math.ceil(((fullest[column] - 1) * (STEPS - 1)) / 255) : -1);
  for (let begin = 0; begin < fullest.length; ) {
    const step = shade(begin);
    let end = begin + 1;
    while (end < fullest.length && shade(end) === step) end++;
    if (step >= 0) {
      context.fillStyle = theme.shades[step];
      context.fillRect(begin, y, end - begin, 8);
    }
    begin = end;
  }
  context.fillStyle = theme.faint;
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "left";
  context.fillText(strip.up ? "up" : "down", width - MARGIN.right + 4, y + 8);
}

/** Half the size of a host in pixels. */
function hostSize({ geometry, view }: Scene): number {
  return Math.max(1.2, Math.min(5, 0.32 * geometry.pitch * view.scale));
}

/** Half the width and height of a switch in pixels: smaller in large fabrics without rows, where switches are close. */
function switchSize(scene: Scene): [number, number] {
  const part = ["rows", "dumbbell"].includes(scene.fabric.form) ? 1 : Math.max(0.3, hostSize(scene) / 5);
  return [9 * part, 4 * part];
}

function nodes(context: CanvasRenderingContext2D, scene: Scene): void {
  const { fabric, geometry, view, theme, run } = scene;
  const victims = new Set(run.victims);
  const host = hostSize(scene);
  const [wide, high] = switchSize(scene);
  context.lineWidth = 1;
  for (const node of geometry.nodes) {
    const [x, y] = [geometry.x[node] * view.scale + view.x, geometry.y[node] * view.scale + view.y];
    if (x < -20 || x > scene.width + 20) continue;
    context.strokeStyle = theme.faint;
    context.fillStyle = theme.paper;
    if (fabric.level[node] > 0) {
      context.fillRect(x - wide, y - high, 2 * wide, 2 * high);
      context.strokeRect(x - wide, y - high, 2 * wide, 2 * high);
      continue;
    }
    const hurt = victims.has(node);
    if (hurt) context.fillStyle = context.strokeStyle = theme.victim;
    context.beginPath();
    // Victims differ in shape as well as in colour.
    if (hurt) context.rect(x - host, y - host, 2 * host, 2 * host);
    else context.arc(x, y, host, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}

/** Minimum width of a name in pixels: with less space, it is not measured. */
const LEAST_NAME = 8;

/** Draws the names of nodes for which there is space. */
function names(context: CanvasRenderingContext2D, scene: Scene): void {
  const { fabric, geometry, view, theme } = scene;
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  const used = new Map<number, [number, number][]>();
  const dumbbell = fabric.form === "dumbbell";
  const covered = nodesInPlane(scene);
  for (const node of [...geometry.nodes].sort((a, b) => fabric.level[b] - fabric.level[a] || geometry.x[a] - geometry.x[b])) {
    const [x, y] = [geometry.x[node] * view.scale + view.x, geometry.y[node] * view.scale + view.y];
    if (x < MARGIN.left - 10 || x > scene.width || y < -20 || y > scene.height + 20) continue;
    const host = fabric.level[node] === 0;
    const head = geometry.rows[0]?.label === "root" && geometry.y[node] === geometry.rows[0].y;
    const top = dumbbell && host ? y + 4 : host && !head ? y + 18 : y - 9;
    const beside = (width: number) => (!dumbbell || !host ? x : fabric.x[node] < 0.5 ? x - 10 - width / 2 : x + 10 + width / 2);
    const taken = used.get(Math.round(top / LINE)) ?? [];
    const free = (width: number) => {
      const [low, high] = [beside(width) - width / 2 - 6, beside(width) + width / 2 + 6];
      return taken.every(([begin, end]) => high <= begin || low >= end);
    };
    if (!free(LEAST_NAME)) continue;
    const text = shortened(fabric.names[node]);
    const width = context.measureText(text).width;
    if (!free(width)) continue;
    // A name that the edge would cut stands above its node.
    const most = scene.width - width / 2 - 2;
    const left = Math.min(Math.max(beside(width), width / 2 + 2), most);
    const base = dumbbell && host && left !== beside(width) ? y - 9 : top;
    if (covered(left - width / 2 - 2, left + width / 2 + 2, base)) continue;
    // A name may extend into the lines above and below its own.
    for (const line of new Set([-1, 0, 1].map((shift) => Math.round((base + shift * 7) / LINE)))) {
      used.set(line, [...(used.get(line) ?? []), [left - width / 2, left + width / 2]]);
    }
    context.fillStyle = theme.paper;
    context.globalAlpha = 0.85;
    context.fillRect(left - width / 2 - 2, base - 10, width + 4, 13);
    context.globalAlpha = 1;
    context.fillStyle = theme.faint;
    context.fillText(text, left, base);
  }
}

const LINE = 13;

/** Whether a name from `left` to `right` covers a node of a fabric without rows; looks nodes up by their line. */
function nodesInPlane(scene: Scene): (left: number, right: number, top: number) => boolean {
  const { fabric, geometry, view } = scene;
  if (fabric.form === "rows" || fabric.form === "dumbbell" || geometry.rows[0]?.label === "root") return () => false;
  const [host, size] = [hostSize(scene), switchSize(scene)];
  const lines = new Map<number, number[]>();
  for (const node of geometry.nodes) {
    const line = Math.floor((geometry.y[node] * view.scale + view.y) / LINE);
    lines.set(line, [...(lines.get(line) ?? []), node]);
  }
  return (left, right, top) =>
    [-2, -1, 0, 1].some((shift) =>
      (lines.get(Math.floor(top / LINE) + shift) ?? []).some((node) => {
        const [x, y] = [geometry.x[node] * view.scale + view.x, geometry.y[node] * view.scale + view.y];
        const [wide, high] = fabric.level[node] > 0 ? size : [host, host];
        return x + wide > left && x - wide < right && y + high > top - 10 && y - high < top + 3;
      }),
    );
}

export function shortened(name: string): string {
  return name.length > 18 ? `${name.slice(0, 8)}…${name.slice(-8)}` : name;
}

/** Labels rows in the margin. */
function labels(context: CanvasRenderingContext2D, scene: Scene, height: number): void {
  const { geometry, view, theme } = scene;
  context.textAlign = "left";
  for (const row of geometry.rows) {
    const y = row.y * view.scale + view.y;
    if (y < 0 || y > height) continue;
    context.fillStyle = theme.paper;
    context.fillRect(0, y - 16, MARGIN.left - 14, 32);
    context.fillStyle = theme.text;
    context.font = "600 12px system-ui, sans-serif";
    context.fillText(row.label, 12, y - 1);
    context.fillStyle = theme.faint;
    context.font = "11px system-ui, sans-serif";
    const all = row.count.toLocaleString("en");
    context.fillText(row.shown < row.count ? `${row.shown.toLocaleString("en")} of ${all}` : all, 12, y + 13);
  }
}
