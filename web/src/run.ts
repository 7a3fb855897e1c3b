// The page of a run.

import { aligned } from "./align";
import { runCharts } from "./charts";
import type { Cell, Run, RunPage, Table } from "./data";
import { Details, linkName } from "./details";
import { choice, el, section } from "./dom";
import { Film } from "./film";
import { treeLinks } from "./geometry";
import { periods } from "./gantt";
import { heat } from "./heat";
import { frame, say, verdict } from "./frame";
import { jobSection, jobTile } from "./jobs";
import { blocking } from "./sankey";
import { type State, Store } from "./state";
import { counted, table, title, written } from "./tables";
import { percent, withUnit } from "./units";

/** Above this many hosts, only the tree of the worst root is shown at first. */
const MANY = 64;
/** Above this many hosts, only congestion trees are shown at first, if there is no lasting root. */
const HUGE = 1000;
/** Titles of tables, and what their rows are. */
export const TITLES: Record<string, [string, string]> = {
  groups: ["Groups of flows", ""],
  hottest: ["Hottest links", "by load over the measured window"],
  blocked: ["Most blocked links", "by time without credit"],
  victims: ["Victims", "hosts and groups with flows that wait behind a branch, cross no root, and lose throughput"],
  tree: ["Roots and branches", "ordered by first appearance"],
};

/** Draws the page of a run into an element. */
export function runPage(page: RunPage, root: HTMLElement): { store: Store; film: Film } {
  page.runs = aligned(page.runs);
  const store = new Store(start(page));
  const details = new Details(page, store);
  const film = new Film(page, store, details.element);
  const changing = el("div");
  const tiles = el("dl", { class: "tiles" });
  const first = verdict();
  const fill = () => {
    const run = page.runs[store.now.run];
    say(first, run.verdict);
    tiles.replaceChildren(...keyFigures(page, run));
    changing.replaceChildren(...below(page, store, run));
  };
  fill();
  store.on((changed) => {
    if (changed.has("run")) fill();
    if (changed.has("time")) for (const each of changing.querySelectorAll(".chart")) each.dispatchEvent(new Event("redraw"));
    if (changed.has("chosen") && store.now.chosen >= 0) film.element.scrollIntoView({ block: "nearest" });
  });
  page.about.notes.push(...leftOut(page));
  const runs = page.runs.map((run, i): [number, string] => [i, `${run.replication}: ${run.fingerprint}`]);
  const selector = choice("Replication", runs, 0, (run) => store.set({ run, time: Math.min(store.now.time, last(page.runs[run])) }));
  frame(root, page.about, first, selector, tiles, film.element, changing);
  return { store, film };
}

function last(run: Run): number {
  return (run.frames?.times.length ?? 1) - 1;
}

/** The initial state of a page. */
export function start(page: RunPage): State {
  const run = page.runs[0];
  const { frames } = run;
  // If no buffer ever holds packets back, the picture of buffers would be empty.
  const calm = frames?.lanes.every(({ role }) => role.every((each) => each === 0)) && frames.details.busy;
  return {
    run: 0,
    time: worstMoment(run, page.fabric.from.length),
    lane: 0,
    mode: calm ? "busy" : frames ? "occupancy" : "utilization",
    focus: page.fabric.hosts <= MANY ? "all" : run.roles?.first ? "root" : page.fabric.hosts > HUGE && treeLinks(run).length > 0 ? "trees" : "all",
    chosen: foremost(run),
    hovered: -1,
  };
}

/** Parts omitted to keep the page small. */
function leftOut(page: RunPage): string[] {
  const names: Record<string, string> = { stalled: "waits for credit", marked: "marks", busy: "load" };
  const made: string[] = [];
  if (page.every > 1) made.push(`Only one of ${page.every} frames is shown, to keep the page small. Set the limit with becalm report --max-size.`);
  if (page.omitted.length > 0) made.push(`Links over time are shown without ${page.omitted.map((name) => names[name]).join(" and ")}; becalm report --full keeps everything.`);
  return made;
}

/** The frame in which the tree has most outputs; among several, the one with the fullest buffers. If the tree comes and
 * goes between two frames, it is in none of them, and the frame after its largest growth is returned. */
function worstMoment(run: Run, links: number): number {
  let [best, most] = [0, [0, 0]];
  for (let time = 0; time <= last(run); time++) {
    const now = [0, 0];
    for (const { role, occupancy } of run.frames?.lanes ?? []) {
      for (let at = time * links; at < (time + 1) * links; at++) {
        if (role[at] > 0) now[0]++;
        now[1] += occupancy[at];
      }
    }
    if (now[0] > most[0] || (now[0] === most[0] && now[1] > most[1])) [best, most] = [time, now];
  }
  return most[0] > 0 ? best : (afterGrowth(run) ?? best);
}

function afterGrowth({ growth, frames }: Run): number | null {
  if (!growth || !frames) return null;
  const sizes = Array.from(growth.roots, (roots, step) => roots + growth.branches[step]);
  const largest = Math.max(...sizes);
  const found = frames.times.findIndex((time) => time >= (sizes.indexOf(largest) + 0.5) * growth.step);
  return largest > 0 && found >= 0 ? found : null;
}

/** The link chosen at first: the worst root, or else the link with the highest load. */
function foremost(run: Run): number {
  const hottest = run.tables.find((each) => each.name === "hottest")?.rows[0]?.[0];
  return run.roles?.first?.link ?? (typeof hottest === "number" ? hottest : -1);
}

function keyFigures(page: RunPage, run: Run): HTMLElement[] {
  const find = (name: string) => run.tables.find((each) => each.name === name);
  const job = jobTile(run);
  const tiles: [string, string, string][] = job ? [job] : [];
  const at = (data: Table, row: number, name: string): Cell => data.rows[row]?.[data.columns.findIndex((column) => column.name === name)] ?? null;
  if (run.roles) {
    const { roots, branches, first } = run.roles;
    const longest = first && roots > 0 ? `${roots > 1 ? "worst: " : ""}${linkName(page, first.link)}${first.since === null ? "" : `, since ${withUnit(first.since, "s")}`}` : null;
    const main = longest ?? (first ? "no link is oversubscribed by its flows" : "no link was congested for 1% of the time");
    tiles.push([roots === 1 ? "root" : "roots", roots.toLocaleString("en"), main]);
    tiles.push(["branches", branches.toLocaleString("en"), "outputs that wait for credit"]);
  }
  const victims = find("victims");
  if (victims) {
    const worst = victims.total > 0 ? `${at(victims, 0, "host")} loses ${withUnit(at(victims, 0, "lost") as number, "B/s")}` : "no flow loses to congestion that it does not cause";
    tiles.push(["victims", run.victims.length.toLocaleString("en"), worst]);
  }
  const hottest = find("hottest");
  if (hottest?.rows.length) tiles.push(["hottest link", percent(at(hottest, 0, "utilization") as number), linkName(page, at(hottest, 0, "link") as number)]);
  const groups = find("groups");
  if (groups) {
    const column = groups.columns.findIndex((each) => each.name === "latency_p99");
    const worst = [...groups.rows].sort((a, b) => Number(b[column] ?? 0) - Number(a[column] ?? 0))[0];
    if (worst) tiles.push(["longest p99 latency", written(groups.columns[column], worst[column]), String(worst[0])]);
  }
  return tiles.map(([name, value, note]) => el("div", {}, el("dt", {}, name), el("dd", { class: "value" }, value), el("dd", { class: "note" }, note.replace(/(?<=\d) (?=\S{1,4}$)/, "\u00a0"))));
}

/** The heading of a table for which the page has no words. */
function heading(name: string): string {
  return title(name).replace(/^./, (first) => first.toUpperCase());
}

function below(page: RunPage, store: Store, run: Run): HTMLElement[] {
  const { time, latency } = runCharts(page, store);
  const rows = periods(page, store);
  const made: HTMLElement[] = [];
  const jobs = jobSection(run, page.about.operations?.[run.replication] ?? []);
  if (jobs) made.push(jobs);
  const blocked = blocking(page, store, run);
  if (blocked) made.push(section("blocking", "Who blocks whom", el("p", { class: "faint" }, "Bytes that victims lose in the measured window, by the link at which they wait, the root behind it, and the traffic that crosses the root."), blocked));
  const picture = heat(page, store);
  if (picture) made.push(section("heat", "Links over time", el("p", { class: "faint" }, "How full the buffers of the fullest links are, from the first link that congestion reaches to the last. A taller box is a root. A click selects link and time."), picture));
  const note = page.runs.length > 1 ? `Lines are medians of ${page.runs.length} replications; bands show their range.` : "";
  if (time.length > 0) made.push(section("time", "Over time", ...(note ? [el("p", { class: "faint" }, note)] : []), el("div", { class: "multiples" }, ...time)));
  const pair: HTMLElement[] = [];
  if (rows) pair.push(section("periods", "When outputs were roots and branches", rows));
  if (latency.length > 0) pair.push(section("latency", "Latencies", ...latency));
  if (pair.length > 0) made.push(el("div", { class: "pair" }, ...pair));
  const names = {
    link: (link: number) => linkName(page, link),
    choose: (link: number) => store.set({ chosen: link }),
  };
  const shown = run.tables.map((data) => {
    const [name, what] = TITLES[data.name] ?? [heading(data.name), data.about?.replaceAll("`", "") ?? ""];
    const caption = el("p", { class: "faint" }, [data.name === "groups" ? "" : counted(data), what].filter(Boolean).join(": "));
    const found = data.rows.length > 0 ? table(data, names) : el("p", {}, "None.");
    return section(data.name, name, caption, found);
  });
  const [groups, others] = [shown.filter((each) => each.id === "groups"), shown.filter((each) => each.id !== "groups")];
  made.push(...groups, el("div", { class: "pair" }, ...others));
  return made;
}
