// Two runs of one fabric side by side, at the same time and link, with lines of both in each chart.

import { aligned } from "./align";
import { type Chart, type Line, chart, ofGroup, update } from "./charts";
import type { Cell, Column, Run, RunPage, Table } from "./data";
import { Details, linkName } from "./details";
import { choice, el } from "./dom";
import { Film } from "./film";
import { periods } from "./gantt";
import { jobs, outcome } from "./jobs";
import { TITLES, start } from "./run";
import { Store } from "./state";
import { counted, table, written } from "./tables";
import { forgetThemes } from "./theme";
import { count, digits } from "./units";

export interface Side {
  title: string;
  /** The text shown while there is no run. */
  note: string;
  page: RunPage | null;
}

interface View {
  box: HTMLElement;
  heading: HTMLElement;
  note: HTMLElement;
  film: Film | null;
  details: Details | null;
}

export class Versus {
  readonly element = el("div", { class: "versus" });
  private readonly films = el("div", { class: "films" });
  private readonly controls = el("div", { class: "common" });
  private readonly figures = el("div");
  private readonly charts = el("div", { class: "multiples" });
  private readonly more = el("div");
  private store: Store | null = null;
  private views: View[] = [];
  private drawn = new Map<string, HTMLElement>();
  private sides: Side[] = [];
  private form: string[] = [];
  private chosen = 0;

  constructor() {
    const fabric = el("section", { "aria-label": "fabric over time" }, this.films, this.controls);
    const numbers = el("section", { "aria-label": "figures", class: "numbers" }, el("h2", {}, "Figures"), this.figures);
    const time = el("section", { "aria-label": "over time" }, el("h2", {}, "Over time"), this.charts);
    this.element.append(fabric, time, numbers, this.more);
  }

  /** Shows the runs; `follow` shows the last moment if the last one was shown before. */
  show(given: Side[], follow = false): void {
    const shown = this.sides.find(({ page }) => page !== null)?.page;
    const atEnd = !this.store || !shown || this.store.now.time >= times(shown) - 1;
    const first = given.find(({ page }) => page !== null)?.page ?? null;
    const form = first ? formOf(first, given.length) : [];
    // A run is shown only if its fabric matches that of the first.
    const fits = (page: RunPage | null) => page !== null && formOf(page, 0)[0] === form[0];
    const sides = together(given.map((side) => ({ ...side, page: fits(side.page) ? side.page : null })));
    this.sides = sides;
    const pages = sides.flatMap(({ page }) => page ?? []);
    if (pages.length > 0 && form.some((part, i) => part !== this.form[i])) this.begin(pages[0], form);
    if (follow && this.store && pages.length > 0) {
      const last = times(pages[0]) - 1;
      this.store.set({ time: atEnd ? last : Math.min(this.store.now.time, last) });
    }
    sides.forEach((side, i) => this.views[i] && this.side(this.views[i], side));
    if (!this.store || pages.length === 0) return;
    this.figures.replaceChildren(figures(sides));
    this.redraw(sides);
    this.rest(sides);
  }

  /** Rebuilds everything for another fabric or another number of sides. */
  private begin(page: RunPage, form: string[]): void {
    forgetThemes();
    const before = this.store?.now;
    const fresh = start(this.sides.find(({ page }) => (page?.runs[0].roles?.roots ?? 0) > 0)?.page ?? page);
    const same = before && form[0] === this.form[0];
    this.store = new Store(same ? { ...before, time: Math.min(before.time, times(page) - 1) } : fresh);
    this.form = form;
    this.drawn.clear();
    this.charts.replaceChildren();
    this.controls.replaceChildren();
    this.views = this.sides.map(() => ({ box: el("div", { class: "place" }), heading: el("h2"), note: el("p", { class: "faint" }), film: null, details: null }));
    this.films.classList.toggle("three", this.views.length > 2);
    this.films.replaceChildren(...this.views.map((view) => el("div", { class: "side" }, view.heading, view.note, view.box)));
    this.store.on((changed) => {
      if (changed.has("time")) for (const each of this.charts.querySelectorAll(".chart")) each.dispatchEvent(new Event("redraw"));
    });
  }

  private side(view: View, { title, note, page }: Side): void {
    view.heading.textContent = title;
    view.note.textContent = note;
    const store = this.store as Store;
    if (!page) return;
    if (view.film && view.details) {
      view.details.show(page);
      view.film.show(page);
      return;
    }
    view.details = new Details(page, store);
    view.details.element.setAttribute("aria-label", `link, ${title}`);
    view.film = new Film(page, store, view.details.element, `fabric: ${title}`);
    // One side's controls serve both.
    if (view === this.views[0]) this.controls.replaceChildren(view.film.controls);
    view.box.replaceChildren(view.film.stage);
  }

  private redraw(sides: Side[]): void {
    for (const data of charts(sides, this.store as Store)) {
      const old = this.drawn.get(data.title);
      const lines = JSON.stringify(data.lines.map(({ name }) => name));
      if (old && old.dataset.lines === lines) {
        update(old, data);
        continue;
      }
      const made = chart(data);
      made.dataset.lines = lines;
      if (old) old.replaceWith(made);
      else this.charts.append(made);
      this.drawn.set(data.title, made);
    }
  }

  /** Periods as roots and branches on both sides, and the tables of one side. */
  private rest(sides: Side[]): void {
    const store = this.store as Store;
    const rows = sides.flatMap(({ title, page }) => {
      const found = page && periods(page, store);
      return found ? [el("section", { "aria-label": `roots and branches, ${title}` }, el("h2", {}, `Roots and branches: ${title}`), found)] : [];
    });
    const open = this.more.querySelector("details")?.open ?? false;
    const fold = el("details", { open }, el("summary", {}, "Links, victims, roots and branches as tables"), el("div"));
    const fill = () => fold.lastElementChild?.replaceChildren(...(fold.open ? tables(sides, this.chosen, store, choose) : []));
    const choose = (side: number) => {
      this.chosen = side;
      fill();
    };
    fold.addEventListener("toggle", fill);
    fill();
    this.more.replaceChildren(el("div", { class: "pair" }, ...rows), fold);
  }
}

/** Equal for runs whose pictures may replace each other; the first part is equal for runs that may be side by side. */
function formOf(page: RunPage, sides: number): string[] {
  const lanes = page.runs[0].frames?.lanes.map(({ vl }) => vl) ?? [];
  return [page.fabric.names, page.groups, lanes, sides].map((part) => JSON.stringify(part));
}

/** The sides, with their runs at the same times. */
function together(sides: Side[]): Side[] {
  const runs = sides.flatMap(({ page }) => page?.runs[0] ?? []);
  const found = (runs.length > 1 ? aligned(runs) : runs).values();
  return sides.map((side) => ({ ...side, page: side.page && { ...side.page, runs: [found.next().value as Run] } }));
}

function times(page: RunPage): number {
  return page.runs[0].frames?.times.length ?? 1;
}

/** The charts of both runs, with a line for each. */
function charts(sides: Side[], store: Store): Chart[] {
  const pages = sides.flatMap(({ title, page }) => (page ? [{ title, page, run: page.runs[0] }] : []));
  const longest = pages.reduce((a, b) => (times(b.page) > times(a.page) ? b : a)).run;
  const cursor = () => longest.frames?.times[store.now.time] ?? null;
  const common = { xUnit: "s", cursor };
  const made: Chart[] = [];
  const over = (title: string, yUnit: string, group: string, pick: "rates" | "marked") => {
    const x = longest.overTime?.times ?? [];
    // A run without the group keeps its line, which is empty, so that all charts have the same colours.
    const values = (page: RunPage, run: Run) => (page.groups.includes(group) ? ofGroup(run.overTime, pick, page.groups.indexOf(group)) : null) ?? [];
    const lines: Line[] = pages.map(({ title, page, run }) => ({ name: title, values: padded(values(page, run), x.length) }));
    made.push({ ...common, title, x, yUnit, lines });
  };
  for (const name of groupsOf(pages.map(({ page }) => page))) {
    over(`Rate of ${name}`, "B/s", name, "rates");
    if (pages.some(({ run }) => run.overTime?.marked?.some((value) => value > 0))) over(`Marked packets of ${name}`, "%", name, "marked");
  }
  const grown = pages.filter(({ run }) => run.growth);
  if (grown.length > 0) {
    const { growth } = grown[0].run;
    const x = Array.from(growth?.roots ?? [], (_, i) => (i + 0.5) * (growth?.step ?? 0));
    const lines = grown.map(({ title, run }) => ({ name: title, values: run.growth?.branches ?? [] }));
    made.push({ ...common, title: "Branches of the congestion tree (outputs)", x, yUnit: "", lines });
  }
  return made;
}

function padded(values: ArrayLike<number>, length: number): (number | null)[] {
  return Array.from({ length }, (_, i) => values[i] ?? null);
}

/** The groups of flows of any of the runs. */
function groupsOf(pages: RunPage[]): string[] {
  return [...new Set(pages.flatMap((page) => page.groups))];
}

/** A figure of a run: its text, and its value if figures of two runs can be subtracted. */
interface Figure {
  text: string;
  value: Cell;
  column: Pick<Column, "kind" | "unit">;
}

/** The main numbers of all runs in one table, and their differences from the first run. */
function figures(sides: Side[]): HTMLElement {
  const pages = sides.map(({ page }) => page);
  const known = pages.filter((page) => page !== null);
  const rows: [string, (Figure | null)[]][] = [];
  const row = (name: string, of: (page: RunPage, run: Run) => Figure) => rows.push([name, pages.map((page) => page && of(page, page.runs[0]))]);
  const text = (text: string): Figure => ({ text, value: null, column: { kind: "text", unit: "" } });
  const whole = (value: number | undefined): Figure => ({ text: value === undefined ? "–" : count(value), value: value ?? null, column: { kind: "count", unit: "" } });
  for (const group of groupsOf(known)) {
    const value = (name: string) => (page: RunPage, run: Run) => figure(run, "groups", page.groups.indexOf(group), name);
    row(`rate of ${group}`, value("rate"));
    row("    delivered share of offered traffic", value("delivered_of_offered"));
    row("    median latency", value("latency_p50"));
    row("    99th percentile of latency", value("latency_p99"));
    row("    marked packets", value("marked_share"));
  }
  for (const name of new Set(known.flatMap((page) => jobs(page.runs[0]).map((job) => job.name)))) {
    row(`time of ${name}`, (_, run) => {
      const job = jobs(run).find((each) => each.name === name);
      return job ? { text: outcome(job), value: job.time, column: { kind: "time", unit: "s" } } : text("–");
    });
  }
  row("roots of congestion", (_, run) => whole(run.roles?.roots));
  row("branches", (_, run) => whole(run.roles?.branches));
  row("hosts that are victims", (_, run) => whole(run.victims.length));
  row("busiest link", (page, run) => {
    const link = find(run, "hottest")?.rows[0]?.[0];
    return text(typeof link === "number" ? `${linkName(page, link)}, ${figure(run, "hottest", 0, "utilization").text}` : "–");
  });
  row("packet-hops", (_, run) => whole(run.packetHops));
  row("fingerprint", (_, run) => text(run.fingerprint));
  const others = sides.slice(1);
  const differences = others.map(({ title }) => (others.length > 1 ? `${title}: difference` : "difference"));
  const head = el("tr", {}, el("td"), ...[...sides.map(({ title }) => title), ...differences].map((title) => el("th", { scope: "col" }, title)));
  const body = rows.map(([name, values]) => {
    const cells = [...values.map((each) => each?.text ?? "…"), ...values.slice(1).map((each) => difference(values[0], each))];
    return el("tr", {}, el("th", { scope: "row", class: name.startsWith(" ") ? "inner" : "" }, name.trim()), ...cells.map((value) => el("td", {}, value)));
  });
  const scroll = el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "table of figures" });
  scroll.append(el("table", { class: "data figures" }, el("thead", {}, head), el("tbody", {}, ...body)));
  return scroll;
}

/** How much a figure is above (+) or below (-) the first run's: shares in percentage points, others also relatively. */
export function difference(first: Figure | null, other: Figure | null): string {
  if (typeof first?.value !== "number" || typeof other?.value !== "number") return "";
  const by = other.value - first.value;
  if (by === 0) return "±0";
  const sign = by > 0 ? "+" : "−";
  if (first.column.kind === "share") return `${Math.abs(by) < 0.0005 ? "±" : sign}${(100 * Math.abs(by)).toFixed(1)} points`;
  const relative = first.value === 0 ? "" : ` (${sign}${digits((100 * Math.abs(by)) / Math.abs(first.value))} %)`;
  return `${sign}${written(first.column, Math.abs(by))}${relative}`;
}

function find(run: Run, name: string): Table | undefined {
  return run.tables.find((each) => each.name === name);
}

function figure(run: Run, name: string, row: number, column: string): Figure {
  const data = find(run, name);
  const at = data?.columns.findIndex((each) => each.name === column) ?? -1;
  const value = data?.rows[row]?.[at] ?? null;
  const shown = data?.columns[at] ?? { kind: "text", unit: "" };
  return { text: written(shown, value), value, column: shown };
}

function tables(sides: Side[], chosen: number, store: Store, choose: (side: number) => void): HTMLElement[] {
  const known = sides.flatMap(({ title, page }, i): [number, string][] => (page ? [[i, title]] : []));
  const side = known.find(([i]) => i === chosen)?.[0] ?? known[0][0];
  const page = sides[side].page as RunPage;
  const list = choice("Tables of", known, side, choose);
  const names = { link: (link: number) => linkName(page, link), choose: (link: number) => store.set({ chosen: link }) };
  const shown = page.runs[0].tables.map((data) => {
    const [title, what] = TITLES[data.name] ?? [data.name, ""];
    const rows = data.rows.length > 0 ? table(data, names) : el("p", {}, "None.");
    return el("div", {}, el("h3", {}, title), el("p", { class: "faint" }, [counted(data), what].filter(Boolean).join(": ")), rows);
  });
  return [...(list ? [list] : []), ...shown];
}
