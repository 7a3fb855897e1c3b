// The page of a sweep or of a tuning: measures by key, scatter plots, tables of points.

import { chart } from "./charts";
import type { Panel, Scatter, SweepPage } from "./data";
import { el, section } from "./dom";
import { frame, verdict } from "./frame";
import { counted, table, written } from "./tables";
import { onTheme, theme } from "./theme";
import { ticks } from "./units";

export function sweepPage(page: SweepPage, root: HTMLElement): void {
  const parts: HTMLElement[] = [];
  if (page.contributors) {
    const { chart, table: all } = page.contributors;
    const note = el("p", { class: "faint" }, "Means over new cases, which the search did not use, with 95% intervals.");
    parts.push(section("contributors", "Loss by number of contributors", note, matrix(chart), el("details", {}, el("summary", {}, all.title), table(all, {}))));
  }
  if (page.comparison && page.comparison.length > 0) {
    const note = el("p", { class: "faint" }, page.compared ?? "");
    parts.push(section("comparison", "Guideline against the best parameters", note, el("div", { class: "multiples" }, ...page.comparison.map(compared))));
  }
  if (page.scatters.length > 0) parts.push(section("scatter", "Loss over the trials", el("div", { class: "multiples" }, ...page.scatters.map(scatter))));
  const banded = page.panels.some((data) => data.lines.some((line) => line.low));
  const note = banded ? [el("p", { class: "faint" }, "Means over the seeds; bands show their 95% intervals.")] : [];
  if (page.panels.length > 0) parts.push(section("panels", "Measures over the keys", ...note, el("div", { class: "multiples" }, ...page.panels.map(panel))));
  const tables = page.tables.map((data) => {
    const caption = el("p", { class: "faint" }, `${counted(data)} ${data.total === 1 ? "row" : "rows"}`);
    return section(data.name, data.title, caption, table(data, {}));
  });
  frame(root, page.about, verdict(page.about.verdict), null, ...parts, ...tables);
}

/** A measure by one key: lines for numeric keys, bars for names. */
function panel(data: Panel): HTMLElement {
  const x = data.x.values.filter((value) => typeof value === "number");
  const title = `${data.title}, over ${data.x.name}`;
  if (x.length < data.x.values.length || x.length < 2) return bars(title, data);
  const yRange: [number, number] | undefined = data.top ? [0, 1.08 * data.top] : undefined;
  const yUnit = data.kind === "share" ? "%" : data.unit;
  return chart({ title, x, xUnit: data.x.unit, yUnit, lines: data.lines, height: 200, marked: true, yRange });
}

/** A measure of the candidates, by case: one bar for each, the guideline first. A single case is named in the title. */
function compared(data: Panel): HTMLElement {
  return bars(data.x.values.length < 2 ? `${data.title}, ${data.x.values[0]}` : data.title, data);
}

/** A measure with its intervals: a row for each line, a column for each value of the key; the best of a column is bold. */
function matrix(data: Panel): HTMLElement {
  const column = { name: "", kind: data.kind, unit: data.unit };
  const best = data.x.values.map((_, i) => Math.min(...data.lines.map((line) => line.values[i] ?? Number.POSITIVE_INFINITY)));
  const text = (value: number | null | undefined) => written(column, value ?? null);
  const cell = ({ values, low, high }: Panel["lines"][number], i: number) => {
    const mean = el(values[i] === best[i] ? "b" : "span", {}, text(values[i]));
    const known = low?.[i] != null && high?.[i] != null;
    return el("td", {}, mean, el("span", { class: "faint" }, known ? ` ${text(low?.[i])} to ${text(high?.[i])}` : ""));
  };
  const head = el("tr", {}, el("th", { scope: "col", class: "text" }, "settings"), ...data.x.values.map((value) => el("th", { scope: "col" }, String(value))));
  const body = data.lines.map((line) => el("tr", {}, el("th", { scope: "row" }, line.name), ...data.x.values.map((_, i) => cell(line, i))));
  const scroll = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${data.title} by ${data.x.name}` });
  scroll.append(el("table", { class: "data" }, el("thead", {}, head), el("tbody", {}, ...body)));
  return scroll;
}

function bars(title: string, data: Panel): HTMLElement {
  const largest = Math.max(...data.lines.flatMap((line) => line.values.map((value) => value ?? 0)), Number.MIN_VALUE);
  const column = { name: "", kind: data.kind, unit: data.unit };
  const rows = data.x.values.flatMap((x, i) =>
    data.lines.map((line) => {
      const value = line.values[i];
      const cell = el("td", { class: "share bar" }, written(column, value));
      cell.style.setProperty("--share", `${(100 * (value ?? 0)) / largest}%`);
      return el("tr", {}, el("th", { scope: "row" }, data.lines.length < 2 ? String(x) : data.x.values.length < 2 ? line.name : `${x}, ${line.name}`), cell);
    }),
  );
  const scroll = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, el("table", { class: "data" }, el("tbody", {}, ...rows)));
  return el("figure", { class: "chart" }, el("figcaption", {}, title), scroll);
}

/** Points by two measures; kinds differ in shape as well as in colour. */
function scatter(data: Scatter): HTMLElement {
  const canvas = el("canvas", { class: "scatter", role: "img", "aria-label": data.title });
  const caption = el("figcaption", {}, data.title);
  const box = el("figure", { class: "chart" }, caption, canvas);
  const kinds = [...new Set(data.points.map((point) => point.kind))];
  box.append(el("ul", { class: "legend" }, ...kinds.map((kind, i) => el("li", {}, `${MARKS[i % MARKS.length]} ${kind}`))));
  let places: [number, number][] = [];
  const draw = () => {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    context.scale(ratio, ratio);
    const colours = theme();
    const x = range(data.points.map((point) => point.x));
    const y = range(data.points.map((point) => point.y));
    const to = (value: number, [low, high]: [number, number], from: number, until: number) => from + ((value - low) / (high - low)) * (until - from);
    context.strokeStyle = colours.grid;
    context.fillStyle = colours.faint;
    context.font = "11px system-ui, sans-serif";
    for (const share of [0, 0.5, 1]) {
      const down = height - 34 - share * (height - 48);
      context.strokeRect(64, down, width - 84, 0);
      context.textAlign = "right";
      context.fillText(written(data.y, y[0] + share * (y[1] - y[0])), 58, down + 4);
    }
    for (const value of ticks(x, data.x.kind === "count")) {
      context.textAlign = value === x[0] ? "left" : value === x[1] ? "right" : "center";
      context.fillText(written(data.x, value), to(value, x, 64, width - 20), height - 18);
    }
    context.textAlign = "center";
    context.fillText(data.x.name, 64 + (width - 84) / 2, height - 4);
    places = data.points.map((point) => [to(point.x, x, 64, width - 20), to(point.y, y, height - 34, 14)]);
    data.points.forEach((point, i) => {
      const kind = kinds.indexOf(point.kind);
      context.fillStyle = colours.lines[kind % colours.lines.length];
      context.font = kind === 0 ? "12px system-ui, sans-serif" : "17px system-ui, sans-serif";
      context.fillText(MARKS[kind % MARKS.length], places[i][0], places[i][1] + (kind === 0 ? 4 : 6));
    });
  };
  canvas.addEventListener("pointermove", (event) => {
    const distance = ([x, y]: [number, number]) => Math.hypot(x - event.offsetX, y - event.offsetY);
    const near = places.map(distance).reduce((best, value, i, all) => (value < all[best] ? i : best), 0);
    const point = data.points[near];
    caption.textContent = point && distance(places[near]) < 14 ? `${point.name}: ${written(data.x, point.x)}, ${written(data.y, point.y)}` : data.title;
  });
  new ResizeObserver(draw).observe(canvas);
  onTheme(draw);
  return box;
}

const MARKS = ["●", "◆", "▲", "■", "✚"];

function range(values: number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  // Values that are never negative get no negative ticks.
  return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
}
