// Jobs: the time of each, alone and in this run, and the activity of its ranks.

import type { Cell, Operations, Run, Table } from "./data";
import { el, section } from "./dom";
import { shape, stretches } from "./gantt";
import { percent, withUnit } from "./units";

export interface Job {
  name: string;
  ranks: number;
  /** Seconds; null for a job that has not ended. */
  time: number | null;
  /** Seconds without other traffic, if that was measured. */
  alone: number | null;
  slowdown: number | null;
}

interface Rank {
  rank: number;
  host: string;
  /** Seconds spent computing, working on messages, and waiting. */
  parts: [number, number, number];
}

const PARTS: [string, string][] = [["part0", "computes"], ["part1", "works on messages"], ["part2", "waits"]];
/** Activities in lanes, by digit; each box is lower than the previous one, to distinguish them without colour. */
const DOES: [string, string][] = [["part0", "computes"], ["part2", "messages in flight"], ["part3", "waits for others to send"]];
const HEIGHTS = [10, 7, 4];

/** The jobs of a run, largest slowdown first. */
export function jobs(run: Run): Job[] {
  return rows(run, "jobs").map((row) => ({
    name: String(row("job")),
    ranks: Number(row("ranks")),
    time: number(row("time")),
    alone: number(row("time_alone")),
    slowdown: number(row("slowdown")),
  }));
}

/** The outcome of a job in words. */
export function outcome(job: Job): string {
  if (job.time === null) return "has not ended";
  const now = withUnit(job.time, "s");
  return job.alone === null ? now : `${now}, alone ${withUnit(job.alone, "s")}`;
}

/** The tile of the job with the largest slowdown, or of one that has not ended. */
export function jobTile(run: Run): [string, string, string] | null {
  const all = jobs(run);
  const open = all.find((job) => job.time === null);
  const worst = open ?? all.reduce<Job | null>((a, b) => (a && (a.slowdown ?? 0) >= (b.slowdown ?? 0) ? a : b), null);
  if (!worst) return null;
  if (worst.time === null) return ["job", "no end", `${worst.name} has not ended`];
  if (worst.slowdown === null) return ["job time", withUnit(worst.time, "s"), worst.name];
  return ["job slowed by", `${worst.slowdown.toFixed(2)} ×`, `${worst.name}: ${outcome(worst)}`];
}

/** A bar for each job, and a bar or lane for each of its ranks; null without jobs. */
export function jobSection(run: Run, operations: Operations[]): HTMLElement | null {
  const all = jobs(run);
  if (all.length === 0) return null;
  const ranks = rows(run, "ranks").map((row): Rank & { job: string } => ({
    job: String(row("job")),
    rank: Number(row("rank")),
    host: String(row("host")),
    parts: [number(row("compute")) ?? 0, number(row("overhead")) ?? 0, number(row("wait")) ?? 0],
  }));
  const lanes = (job: Job) => operations.find((each) => each.job === job.name);
  const total = run.tables.find((each) => each.name === "ranks")?.total ?? 0;
  const longest = Math.max(...all.map((job) => Math.max(job.time ?? run.end, job.alone ?? 0)));
  const without = all.some((job) => !lanes(job));
  const more = without && total > ranks.length ? [el("p", { class: "faint" }, `Shown: the ${ranks.length} of ${total.toLocaleString("en")} ranks that wait longest.`)] : [];
  const each = all.map((job) => drawn(job, lanes(job) ?? ranks.filter((rank) => rank.job === job.name), longest, run.end));
  const kinds = [...(operations.length > 0 ? [...DOES, ["path", "critical path"] as [string, string]] : []), ...(without ? PARTS : [])];
  return section("job-times", "Jobs: time alone and now", legend([...new Map(kinds.map((kind) => [kind.join(), kind])).values()]), ...each, ...more);
}

function drawn(job: Job, ranks: Rank[] | Operations, longest: number, end: number): HTMLElement {
  const slower = job.slowdown === null ? "" : `, ${job.slowdown.toFixed(2)} times as long`;
  const heading = el("h3", {}, `${job.name}: ${outcome(job)}${slower}`);
  const list = el("ul", { class: "bars" });
  if (job.alone !== null) list.append(bar("alone", [[job.alone, "alone"]], longest, withUnit(job.alone, "s")));
  list.append(bar("now", [[job.time ?? end, "now"]], longest, job.time === null ? "no end" : withUnit(job.time, "s")));
  if (!Array.isArray(ranks)) {
    for (const lane of ranks.lanes) list.append(laneOf(lane, ranks.path, (job.time ?? end) / longest));
    const cut = ranks.lanes.length < job.ranks ? ` Shown: the ${ranks.lanes.length} of ${job.ranks.toLocaleString("en")} ranks with the longest time on it.` : "";
    return el("div", { class: "job" }, heading, el("p", {}, ranks.summary + cut), list);
  }
  for (const { rank, host, parts } of [...ranks].sort((a, b) => a.rank - b.rank)) {
    const whole = parts.reduce((sum, part) => sum + part, 0);
    const pieces = parts.map((part, i): [number, string] => [part, `part${i}`]);
    list.append(bar(`rank ${rank}, ${host}`, pieces, longest, `waits ${percent(whole > 0 ? parts[2] / whole : 0)}`));
  }
  return el("div", { class: "job" }, heading, list);
}

function laneOf({ rank, host, steps, times }: Operations["lanes"][number], path: number[], width: number): HTMLElement {
  const picture = shape("svg", { viewBox: `0 0 ${steps.length} 10`, preserveAspectRatio: "none", role: "img" });
  picture.style.width = `${100 * width}%`;
  picture.setAttribute("aria-label", DOES.map(([, does], i) => `${does} ${withUnit(times[i], "s")}`).join(", "));
  stretches(steps, (step, x, length) => {
    const place = Number(step) - 1;
    if (place >= 0) picture.append(shape("rect", { x, width: length, y: 10 - HEIGHTS[place], height: HEIGHTS[place], class: DOES[place][0] }));
  });
  stretches(path, (on, x, length) => {
    if (on === rank) picture.append(shape("rect", { x, width: length, y: 8, height: 2, class: "path" }));
  });
  const note = times[2] > 0 ? `others ${percent(times[2] / (times[0] + times[1] + times[2]))}` : "";
  return el("li", {}, el("span", {}, `rank ${rank}, ${host}`), el("span", { class: "line lane" }, picture), el("span", { class: "faint" }, note));
}

function bar(name: string, pieces: [number, string][], longest: number, note: string): HTMLElement {
  const line = el("span", { class: "line", "aria-hidden": "true" });
  for (const [value, kind] of pieces) {
    const piece = el("span", { class: kind });
    piece.style.width = `${longest > 0 ? (100 * value) / longest : 0}%`;
    line.append(piece);
  }
  return el("li", {}, el("span", {}, name), line, el("span", { class: "faint" }, note));
}

function legend(kinds: [string, string][]): HTMLElement {
  const items = kinds.map(([kind, text]) => el("li", {}, el("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), ` ${text}`));
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
