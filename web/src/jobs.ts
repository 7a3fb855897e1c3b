// Jobs: how long each took, alone and now, and what its ranks did meanwhile.

import type { Cell, Run, Table } from "./data";
import { el, section } from "./dom";
import { percent, withUnit } from "./units";

export interface Job {
  name: string;
  ranks: number;
  /** Seconds; null for a job that has not ended. */
  time: number | null;
  /** Seconds without other traffic, where that was measured. */
  alone: number | null;
  slowdown: number | null;
}

interface Rank {
  rank: number;
  host: string;
  /** Seconds that it computed, worked on messages, waited. */
  parts: [number, number, number];
}

const PARTS = ["computes", "works on messages", "waits"] as const;

/** The jobs of a run, the most slowed first. */
export function jobs(run: Run): Job[] {
  return rows(run, "jobs").map((row) => ({
    name: String(row("job")),
    ranks: Number(row("ranks")),
    time: number(row("time")),
    alone: number(row("time_alone")),
    slowdown: number(row("slowdown")),
  }));
}

/** What became of a job, in words. */
export function outcome(job: Job): string {
  if (job.time === null) return "has not ended";
  const now = withUnit(job.time, "s");
  return job.alone === null ? now : `${now}, alone ${withUnit(job.alone, "s")}`;
}

/** The tile of the job that other traffic slows most, or that has not ended. */
export function jobTile(run: Run): [string, string, string] | null {
  const all = jobs(run);
  const open = all.find((job) => job.time === null);
  const worst = open ?? all.reduce<Job | null>((a, b) => (a && (a.slowdown ?? 0) >= (b.slowdown ?? 0) ? a : b), null);
  if (!worst) return null;
  if (worst.time === null) return ["job", "no end", `${worst.name} has not ended`];
  if (worst.slowdown === null) return ["job time", withUnit(worst.time, "s"), worst.name];
  return ["job slowed by", `${worst.slowdown.toFixed(2)} ×`, `${worst.name}: ${outcome(worst)}`];
}

/** A bar for each job and for each of its ranks; nothing without jobs. */
export function jobSection(run: Run): HTMLElement | null {
  const all = jobs(run);
  if (all.length === 0) return null;
  const ranks = rows(run, "ranks").map((row): Rank & { job: string } => ({
    job: String(row("job")),
    rank: Number(row("rank")),
    host: String(row("host")),
    parts: [number(row("compute")) ?? 0, number(row("overhead")) ?? 0, number(row("wait")) ?? 0],
  }));
  const total = run.tables.find((each) => each.name === "ranks")?.total ?? 0;
  const longest = Math.max(...all.map((job) => Math.max(job.time ?? run.end, job.alone ?? 0)));
  const more = total > ranks.length ? [el("p", { class: "faint" }, `The ${ranks.length} ranks that wait longest, of ${total.toLocaleString("en")}.`)] : [];
  const each = all.map((job) => drawn(job, ranks.filter((rank) => rank.job === job.name), longest, run.end));
  return section("job-times", "Jobs: time alone and now", legend(), ...each, ...more);
}

function drawn(job: Job, ranks: Rank[], longest: number, end: number): HTMLElement {
  const slower = job.slowdown === null ? "" : `, ${job.slowdown.toFixed(2)} times as long`;
  const heading = el("h3", {}, `${job.name}: ${outcome(job)}${slower}`);
  const list = el("ul", { class: "bars" });
  if (job.alone !== null) list.append(bar("alone", [[job.alone, "alone"]], longest, withUnit(job.alone, "s")));
  list.append(bar("now", [[job.time ?? end, "now"]], longest, job.time === null ? "no end" : withUnit(job.time, "s")));
  for (const { rank, host, parts } of [...ranks].sort((a, b) => a.rank - b.rank)) {
    const whole = parts.reduce((sum, part) => sum + part, 0);
    const pieces = parts.map((part, i): [number, string] => [part, `part${i}`]);
    list.append(bar(`rank ${rank}, ${host}`, pieces, longest, `waits ${percent(whole > 0 ? parts[2] / whole : 0)}`));
  }
  return el("div", { class: "job" }, heading, list);
}

function bar(name: string, pieces: [number, string][], longest: number, told: string): HTMLElement {
  const line = el("span", { class: "line", "aria-hidden": "true" });
  for (const [value, kind] of pieces) {
    const piece = el("span", { class: kind });
    piece.style.width = `${longest > 0 ? (100 * value) / longest : 0}%`;
    line.append(piece);
  }
  return el("li", {}, el("span", {}, name), line, el("span", { class: "faint" }, told));
}

function legend(): HTMLElement {
  const items = PARTS.map((part, i) => el("li", {}, el("span", { class: `swatch part${i}`, "aria-hidden": "true" }), ` ${part}`));
  return el("ul", { class: "legend" }, ...items);
}

function rows(run: Run, name: string): ((column: string) => Cell)[] {
  const data: Table | undefined = run.tables.find((each) => each.name === name);
  if (!data) return [];
  const places = new Map(data.columns.map((column, i) => [column.name, i]));
  return data.rows.map((row) => (column: string) => row[places.get(column) ?? -1] ?? null);
}

function number(cell: Cell): number | null {
  return typeof cell === "number" ? cell : null;
}
