// Charts drawn with uPlot: groups over time as small multiples, the size of the tree, latencies.

import uPlot from "uplot";
import type { Run, RunPage } from "./data";
import { el } from "./dom";
import type { Store } from "./state";
import { DASHES, onTheme, theme } from "./theme";
import { digits, scaled, withUnit } from "./units";

export interface Line {
  name: string;
  values: ArrayLike<number | null>;
  /** Smallest and largest values of the replications. */
  low?: ArrayLike<number | null>;
  high?: ArrayLike<number | null>;
}

export interface Chart {
  title: string;
  x: ArrayLike<number>;
  xUnit: string;
  yUnit: string;
  lines: Line[];
  height?: number;
  logarithmic?: boolean;
  /** Marks only at the points, which are few, without lines between them. */
  marked?: boolean;
  yRange?: [number, number];
  /** Time step of the film, shown as a vertical line. */
  cursor?: () => number | null;
}

/** A chart that fills its container, with a legend below; its description also states its values. */
export function chart(first: Chart): HTMLElement {
  let data = first;
  const caption = el("figcaption");
  const box = el("figure", { class: "chart" }, caption);
  const place = el("div", { class: "plot" });
  box.append(place);
  if (data.lines.length > 1) box.append(legend(data.lines));
  let plot: uPlot | null = null;
  const make = () => {
    plot?.destroy();
    plot = null;
    caption.textContent = titled(data);
    const width = place.clientWidth;
    if (width > 0) plot = new uPlot(options(data, width), aligned(data), place);
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", described(data));
  };
  new ResizeObserver(() => (plot ? plot.setSize({ width: place.clientWidth, height: data.height ?? 170 }) : make())).observe(place);
  onTheme(make);
  box.addEventListener("redraw", () => plot?.redraw(false, false));
  box.addEventListener("update", (event) => {
    data = (event as CustomEvent<Chart>).detail;
    make();
  });
  return box;
}

/** Shows other data in a chart with the same lines, by name. */
export function update(box: HTMLElement, data: Chart): void {
  box.dispatchEvent(new CustomEvent("update", { detail: data }));
}

function aligned(data: Chart): uPlot.AlignedData {
  const bands = data.lines.filter((line) => line.low && line.high);
  const columns = [data.x, ...data.lines.map((line) => line.values), ...bands.flatMap((line) => [line.high, line.low])];
  return columns.map((column) => Array.from(column as ArrayLike<number | null>, (value) => (Number.isNaN(value) ? null : value))) as uPlot.AlignedData;
}

function options(data: Chart, width: number): uPlot.Options {
  const colours = theme();
  const [yFactor, yUnit] = scaled(largest(data.lines.map((line) => line.values)), data.yUnit);
  const [xFactor, xUnit] = scaled(largest([data.x]), data.xUnit);
  const font = "11px system-ui, sans-serif";
  const axis = { stroke: colours.faint, font, grid: { stroke: colours.grid, width: 1 }, ticks: { stroke: colours.grid, width: 1, size: 4 } };
  const per = data.yUnit === "%" ? 0.01 : yFactor;
  const bands = data.lines.map((line, i) => ({ line, i })).filter(({ line }) => line.low && line.high);
  const first = data.lines.length + 1;
  return {
    width,
    height: data.height ?? 170,
    legend: { show: false },
    cursor: { points: { size: 5 }, drag: { x: false, y: false }, y: false },
    scales: {
      x: { time: false, distr: data.logarithmic ? 3 : 1 },
      y: { range: data.yRange ?? ((_, _low, high) => [0, high > 0 ? 1.08 * high : 1]) },
    },
    axes: [
      {
        ...axis,
        label: data.logarithmic ? "" : xUnit,
        labelSize: 14,
        labelFont: font,
        size: 26,
        values: (_, splits) => splits.map((value) => (value === null ? "" : data.logarithmic ? withUnit(value, data.xUnit) : short(value / xFactor))),
        filter: data.logarithmic ? decades : undefined,
      },
      { ...axis, size: 46, values: (_, splits) => splits.map((value) => short(value / per)) },
    ],
    series: [
      {},
      ...data.lines.map((line, i) => ({
        label: line.name,
        stroke: colours.lines[i % colours.lines.length],
        dash: data.lines.length > 1 ? DASHES[i % DASHES.length] : [],
        width: 1.6,
        spanGaps: true,
        points: { show: data.marked || data.x.length < 3, size: 6 },
      })),
      ...bands.flatMap(() => [
        { width: 0, points: { show: false } },
        { width: 0, points: { show: false } },
      ]),
    ],
    bands: bands.map(({ i }, n) => ({
      series: [first + 2 * n, first + 2 * n + 1] as [number, number],
      fill: `${colours.lines[i % colours.lines.length]}38`,
    })),
    hooks: { draw: [(plot) => mark(plot, data)], setCursor: [(plot) => caption(plot, data, yUnit, per, xUnit, xFactor)] },
  };
}

/** On a logarithmic axis, labels only the ticks for which there is space: decades, their thirds and halves. */
function decades(_: uPlot, splits: number[]): (number | null)[] {
  return splits.map((value) => {
    const lead = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    return Math.abs(lead - 1) < 0.01 ? value : null;
  });
}

function mark(plot: uPlot, data: Chart): void {
  const at = data.cursor?.();
  if (at === null || at === undefined) return;
  const x = Math.round(plot.valToPos(at, "x", true));
  const { top, height } = plot.bbox;
  plot.ctx.fillStyle = theme().faint;
  plot.ctx.fillRect(x, top, Math.max(1, window.devicePixelRatio), height);
}

/** The values under the pointer, shown instead of the unit in the title. */
function caption(plot: uPlot, data: Chart, unit: string, factor: number, xUnit: string, xFactor: number): void {
  const title = plot.root.closest("figure")?.querySelector("figcaption");
  if (!title) return;
  const at = plot.cursor.idx;
  if (at === null || at === undefined || plot.cursor.left === undefined || plot.cursor.left < 0) {
    title.textContent = titled(data);
    return;
  }
  const values = data.lines.map((line) => {
    const value = line.values[at];
    const text = value === null || Number.isNaN(value) ? "–" : `${digits(value / factor)} ${unit}`.trim();
    return data.lines.length > 1 ? `${line.name} ${text}` : text;
  });
  const where = data.logarithmic ? withUnit(data.x[at], data.xUnit) : `${digits(data.x[at] / xFactor)} ${xUnit}`;
  title.textContent = `${where}: ${values.join(", ")}`;
}

/** The title with the unit of the vertical axis. */
function titled(data: Chart): string {
  const unit = data.yUnit === "%" ? "%" : scaled(largest(data.lines.map((line) => line.values)), data.yUnit)[1];
  return unit ? `${data.title} (${unit})` : data.title;
}

function legend(lines: Line[]): HTMLElement {
  const items = lines.map((line, i) => {
    const swatch = el("canvas", { width: 44, height: 8, "aria-hidden": "true" });
    const paint = () => {
      const context = swatch.getContext("2d") as CanvasRenderingContext2D;
      context.clearRect(0, 0, 44, 8);
      context.setLineDash(DASHES[i % DASHES.length].map((length) => 2 * length));
      context.strokeStyle = theme().lines[i % theme().lines.length];
      context.lineWidth = 4;
      context.beginPath();
      context.moveTo(0, 4);
      context.lineTo(44, 4);
      context.stroke();
    };
    paint();
    onTheme(paint);
    return el("li", {}, swatch, ` ${line.name}`);
  });
  return el("ul", { class: "legend" }, ...items);
}

function described(data: Chart): string {
  const ends = data.lines.slice(0, 8).map((line) => {
    const known = Array.from(line.values).filter((value): value is number => value !== null && Number.isFinite(value));
    if (known.length === 0) return `${line.name}: no data`;
    const write = (value: number) => (data.yUnit === "%" ? `${digits(100 * value)} %` : withUnit(value, data.yUnit));
    const extremes = known.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
    return `${line.name}: ${extremes.map(write).join(" to ")}`;
  });
  return `${data.title}. ${ends.join("; ")}`;
}

function short(value: number): string {
  return value === 0 ? "0" : Number(value.toPrecision(3)).toLocaleString("en");
}

function largest(columns: ArrayLike<number | null>[]): number {
  let found = 0;
  for (const column of columns) {
    for (let i = 0; i < column.length; i++) {
      const value = column[i];
      if (value !== null && Number.isFinite(value)) found = Math.max(found, Math.abs(value));
    }
  }
  return found;
}

/** Charts of a run over time, and of its latencies. */
export function runCharts(page: RunPage, store: Store): { time: HTMLElement[]; latency: HTMLElement[] } {
  const now = () => page.runs[store.now.run].frames?.times[store.now.time] ?? null;
  const made: HTMLElement[] = [];
  const over = page.runs[0].overTime;
  page.groups.forEach((name, group) => {
    if (!over) return;
    const of = (pick: "rates" | "marked") => replicated(page, group, over.times.length, pick);
    const rates = of("rates");
    made.push(chart({ title: `Rate of ${name}`, x: over.times, xUnit: "s", yUnit: "B/s", lines: [{ name, ...rates }], cursor: now }));
    const marked = of("marked");
    if (Array.from(marked.values).some((value) => value !== null && value > 0)) {
      const title = `Marked packets of ${name}`;
      made.push(chart({ title, x: over.times, xUnit: "s", yUnit: "%", lines: [{ name, ...marked }], cursor: now }));
    }
  });
  const growth = page.runs[store.now.run].growth;
  if (growth) {
    const x = Array.from(growth.roots, (_, i) => (i + 0.5) * growth.step);
    const lines = [
      { name: "branches", values: growth.branches },
      { name: "roots", values: growth.roots },
    ];
    made.push(chart({ title: "Size of the congestion tree (outputs)", x, xUnit: "s", yUnit: "", lines, cursor: now }));
  }
  return { time: made, latency: latencies(page, store) };
}

/** The values of one group. */
export function ofGroup(overTime: Run["overTime"], pick: "rates" | "marked", group: number): Float32Array | undefined {
  const length = overTime?.times.length ?? 0;
  return overTime?.[pick]?.subarray(group * length, (group + 1) * length);
}

/** The median over the replications, with their range if there are several. */
function replicated(page: RunPage, group: number, length: number, pick: "rates" | "marked"): Omit<Line, "name"> {
  const runs = page.runs.map(({ overTime }) => ofGroup(overTime, pick, group)).filter((each) => each !== undefined);
  if (runs.length < 2) return { values: runs[0] ?? [] };
  const sorted = Array.from({ length }, (_, i) => runs.map((values) => values[i]).filter(Number.isFinite).sort((a, b) => a - b));
  const middle = (values: number[]) => (values.length === 0 ? null : (values[(values.length - 1) >> 1] + values[values.length >> 1]) / 2);
  return { values: sorted.map(middle), low: sorted.map((values) => values[0] ?? null), high: sorted.map((values) => values[values.length - 1] ?? null) };
}

function latencies(page: RunPage, store: Store): HTMLElement[] {
  const curves = page.runs[store.now.run].latencies;
  const x = [...new Set(curves.flatMap((curve) => Array.from(curve.times)))].filter((time) => time > 0).sort((a, b) => a - b);
  if (x.length === 0) return [];
  const at = (curve: (typeof curves)[number]): (number | null)[] => {
    let next = 0;
    return x.map((time) => {
      while (next < curve.times.length && curve.times[next] <= time) next++;
      if (next === 0) return 0;
      if (next === curve.times.length) return 1;
      const [t0, t1, s0, s1] = [curve.times[next - 1], curve.times[next], curve.shares[next - 1], curve.shares[next]];
      return s0 + ((s1 - s0) * (time - t0)) / (t1 - t0);
    });
  };
  const lines = page.groups.map((name, group) => ({ name, values: curves[group]?.packets ? at(curves[group]) : [] })).filter((line) => line.values.length > 0);
  const common = { x, xUnit: "s", yUnit: "%", lines, logarithmic: true, height: 230 };
  return [chart({ ...common, title: "Packets that arrived within a given time", yRange: [0, 1.02] })];
}
