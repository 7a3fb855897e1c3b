// The playground: a scenario with its sliders and its editor, and runs with and without congestion control.

import type { Catalogue, Checked, Facts, Mistakes, Outcome, Summary } from "./core";
import { type RunPage, parse } from "./data";
import { choice, el, saved } from "./dom";
import { Editor } from "./editor";
import { say, verdict } from "./frame";
import { Panel } from "./panel";
import { type Port, Runner, type Wish } from "./runner";
import { SCENES, story } from "./scenes";
import { bytesOf, fromFragment, type Given, inflated, toFragment } from "./share";
import { theme, toggleTheme } from "./theme";
import { count, digits } from "./units";
import { type Side, Versus } from "./versus";
import type { Reply } from "./worker";

declare global {
  interface Window {
    /** For tests and scripts. */
    playground?: Hook;
  }
}

interface Hook {
  /** Whether no run is active or waiting. */
  idle: () => boolean;
  /** The shown fingerprints, left and right. */
  fingerprints: () => string[];
  /** Milliseconds from the last changes to their pictures. */
  delays: number[];
  /** Durations of the last runs in milliseconds. */
  runs: number[];
  text: () => string;
  set: (text: string) => void;
}

type Beside = "without" | "kept" | "nothing";

interface Result {
  summary: Summary;
  page: RunPage;
}

/** Packet-hops above which the page asks before a run. */
const MOST_HOPS = 1e6;
/** Packet-hops per second, assumed before the first measurement. */
const SPEED = 1.5e6;
/** Largest memory of a page in bytes; a module can have 4 GB, and browsers allow less. */
const MOST_MEMORY = 1.5e9;

class Playground {
  readonly hook: Hook;
  private text = "";
  private facts: Facts | null = null;
  private checks = 0;
  private judged = 0;
  private changed = 0;
  private agreed = "";
  private speed = SPEED;
  private beside: Beside = "without";
  private left: Result | null = null;
  private right: Result | null = null;
  private kept: Result | null = null;
  /** Identifies runs without control: the run on the right, and the newest request. */
  private bare = "";
  private asked = { text: "", bare: "" };
  private readonly checker: Port;
  private readonly runners: Runner[];
  private readonly versus = new Versus();
  private readonly panel = new Panel((text) => this.set(text));
  private readonly editor = new Editor((text) => this.set(text));
  private readonly title = el("h1");
  private readonly about = el("p", { class: "story" });
  private readonly verdict = verdict();
  private readonly status = el("output", { class: "faint status" });
  private readonly notice = el("div", { class: "notice", role: "alert", hidden: true });
  private readonly edit = el("button", { type: "button", "aria-expanded": "false" }, "Edit the scenario");
  private readonly scenes = el("select", {}, ...SCENES.map(({ text }) => el("option", {}, story(text).title)), el("option", { hidden: true }, "your own"));

  constructor(
    private readonly root: HTMLElement,
    start: () => Port,
    catalogue: Catalogue,
  ) {
    this.checker = start();
    this.checker.onmessage = ({ data }) => this.summary(data);
    this.runners = [0, 1].map((side) => new Runner(start, this.listener(side)));
    this.hook = {
      idle: () => !this.runners.some((runner) => runner.busy) && this.changed === 0,
      fingerprints: () => [this.left, this.right].flatMap((result) => result?.summary.fingerprint ?? []),
      delays: [],
      runs: [],
      text: () => this.text,
      set: (text) => this.set(text),
    };
    this.panel.describe(catalogue);
    this.editor.describe(catalogue);
    this.build();
    this.checker.postMessage({ kind: "about", id: 0 });
  }

  private build(): void {
    const button = (label: string, work: () => void) => {
      const made = el("button", { type: "button" }, label);
      made.addEventListener("click", work);
      return made;
    };
    this.scenes.addEventListener("change", () => this.open(SCENES[this.scenes.selectedIndex].text));
    this.edit.addEventListener("click", () => this.showEditor(this.editor.element.hidden === true));
    this.editor.element.hidden = true;
    const light = button("Light or dark", () => {
      toggleTheme();
      light.setAttribute("aria-pressed", String(theme().dark));
    });
    const besides: [Beside, string][] = [["without", "without congestion control"], ["kept", "this run, kept"], ["nothing", "nothing"]];
    const beside = choice("Compare with", besides, this.beside, (value) => this.compare(value)) as HTMLElement;
    const stop = button("Stop", () => this.stop());
    const tools = [el("label", { class: "choice" }, "Scene ", this.scenes), button("Copy link", () => void this.link()), button("Save as file", () => this.save()), light];
    const heading = el("header", {}, this.title, this.about);
    const controls = el("section", { "aria-label": "sliders" }, this.panel.element, el("div", { class: "row" }, beside, this.edit, stop, this.status));
    this.root.replaceChildren(el("div", { class: "top" }, heading, el("div", { class: "tools" }, ...tools)), controls, this.notice, this.editor.element, this.verdict, this.versus.element);
  }

  /** Shows a scenario from a scene, a link, or a file. */
  open(text: string): void {
    const scene = SCENES.findIndex((each) => each.text === text);
    this.scenes.selectedIndex = scene < 0 ? SCENES.length : scene;
    [this.left, this.right, this.bare] = [null, null, ""];
    this.panel.forget();
    this.set(text);
  }

  /** Opens a link's contents. If a link cannot be read, no other scenario is shown instead. */
  follow(given: Given): void {
    if ("problem" in given) {
      if (this.checks === 0) {
        this.scenes.selectedIndex = -1;
        this.title.textContent = "No scenario";
      }
      this.checks += 1;
      this.refuse(given.problem);
    } else if (given.text !== this.text || this.checks === 0) {
      this.open(given.text);
    }
  }

  private set(text: string): void {
    this.text = text;
    this.changed = performance.now();
    this.editor.set(text);
    this.panel.set(text);
    const { title, more } = story(text);
    this.title.textContent = title;
    this.about.textContent = more;
    document.title = `${title} – becalm`;
    this.checks += 1;
    this.checker.postMessage({ kind: "check", id: this.checks, text });
  }

  private summary(reply: Reply): void {
    if (reply.kind === "about") {
      this.root.dataset.version = reply.version;
    } else if (reply.kind === "checked" && reply.id === this.checks) {
      this.know(reply.checked);
    } else if (reply.kind === "compared" && reply.id === this.judged) {
      say(this.verdict, `${reply.sentence} ${this.left?.page.runs[0].verdict ?? ""}`);
    } else if (reply.kind === "broke") {
      this.say(`The core stopped: ${reply.problem}`);
    }
  }

  private know(checked: Checked): void {
    if ("mistakes" in checked) {
      this.mistaken(checked);
      return;
    }
    this.facts = checked;
    this.editor.mark(null);
    this.panel.know(checked);
    this.root.classList.remove("stale");
    this.notice.hidden = true;
    this.versus.element.dataset.note = checked.replications > 1 ? `The first of ${checked.replications} replications.` : "";
    if (checked.memory > MOST_MEMORY) {
      this.refuse(`This scenario needs at least ${digits(checked.memory / 1e9)} GB of memory, more than a page may use. Run it with becalm run.`);
    } else if (checked.packet_hops > MOST_HOPS && this.agreed !== this.text) {
      this.ask(checked.packet_hops);
    } else {
      this.run(checked);
    }
  }

  private mistaken(found: Mistakes): void {
    this.editor.mark(found);
    this.stale();
    const first = found.mistakes[0];
    const where = first.line === null ? "" : `line ${first.line}: `;
    const more = found.mistakes.length + found.more - 1;
    const open = el("button", { type: "button" }, "Show in the editor");
    open.addEventListener("click", () => this.showEditor(true));
    this.say(`${where}${first.text}${more > 0 ? `, and ${more} more` : ""}`, ...(this.editor.element.hidden ? [open] : []));
  }

  private ask(hops: number): void {
    this.stale();
    const go = el("button", { type: "button", class: "go" }, "Run it");
    go.addEventListener("click", () => {
      this.agreed = this.text;
      this.notice.hidden = true;
      this.root.classList.remove("stale");
      if (this.facts) this.run(this.facts);
    });
    const seconds = hops / this.speed;
    this.say(`About ${digits(hops / 1e6)} million packet-hops, which will take about ${seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`}.`, go);
  }

  private refuse(why: string): void {
    this.stale();
    this.say(why);
  }

  /** Marks the shown results as outdated. */
  private stale(): void {
    this.changed = 0;
    this.facts = null;
    for (const runner of this.runners) runner.stop();
    this.root.classList.add("stale");
  }

  private say(text: string, ...more: HTMLElement[]): void {
    this.notice.replaceChildren(el("p", {}, text), ...more);
    this.notice.hidden = false;
  }

  private run(facts: Facts): void {
    this.runners[0].request({ text: this.text, control: true });
    if (this.beside !== "without" || !facts.controlled) return;
    // If only parameters of control change, the run without control is unaffected.
    if (facts.bare === this.bare && this.right) {
      this.runners[1].stop();
      return;
    }
    if (facts.bare === this.asked.bare && this.runners[1].busy) return;
    this.asked = { text: this.text, bare: facts.bare };
    this.runners[1].request({ text: this.text, control: false });
  }

  private listener(side: number) {
    return {
      progress: (share: number) => {
        // Only the left run reports progress: the other one may end later and would leave its share on screen.
        if (side === 0) this.status.textContent = `running: ${Math.round(100 * share)} %`;
      },
      done: (wish: Wish, outcome: Outcome, milliseconds: number) => this.done(side, wish, outcome, milliseconds),
      broke: (_: Wish, problem: string) => this.failed(`The run stopped: ${problem}`),
    };
  }

  private done(side: number, wish: Wish, outcome: Outcome, milliseconds: number): void {
    if (!("summary" in outcome)) {
      if ("failed" in outcome) this.failed(outcome.failed);
      return;
    }
    const result = { summary: outcome.summary, page: parse(outcome.payload) as RunPage };
    this.hook.runs.push(milliseconds);
    if (milliseconds > 50) this.speed = (1000 * result.summary.packet_hops) / milliseconds;
    if (side === 1) {
      this.right = result;
      if (wish.text === this.asked.text) this.bare = this.asked.bare;
      this.draw();
      return;
    }
    this.left = result;
    this.draw();
    void this.remember();
    if (wish.text !== this.text) return;
    const since = this.changed;
    this.changed = 0;
    requestAnimationFrame(() => {
      if (since > 0) this.hook.delays.push(performance.now() - since);
      const delay = this.hook.delays.at(-1) ?? 0;
      this.status.textContent = `${count(result.summary.packet_hops)} packet-hops · simulated in ${Math.round(milliseconds)} ms · shown ${Math.round(delay)} ms after the change`;
      this.root.dataset.ready = "true";
    });
  }

  private failed(why: string): void {
    this.changed = 0;
    this.say(why);
  }

  private draw(): void {
    const controlled = this.facts?.controlled ?? true;
    const note = this.versus.element.dataset.note ?? "";
    const title = controlled ? "With congestion control" : "Without congestion control";
    const sides: Side[] = [{ title: this.beside === "kept" ? "Now" : title, note, page: this.left?.page ?? null }];
    if (this.beside === "without" && controlled) sides.push({ title: "Without congestion control", note, page: this.right?.page ?? null });
    if (this.beside === "kept" && this.kept) sides.push({ title: "Kept", note, page: this.kept.page });
    this.versus.show(sides);
    this.judge();
  }

  /** The verdict on the left run or, beside another run, on the difference between both. */
  private judge(): void {
    const [now, other] = [this.left, this.beside === "kept" ? this.kept : this.beside === "without" ? this.right : null].map((result) => result?.page.runs[0]);
    say(this.verdict, now?.verdict ?? null);
    if (!now || !other || now === other) return;
    this.judged += 1;
    const subject = this.beside === "kept" ? "The change" : "Congestion control";
    this.checker.postMessage({ kind: "versus", id: this.judged, before: other.outcome, after: now.outcome, subject });
  }

  private compare(beside: Beside): void {
    this.beside = beside;
    this.kept = beside === "kept" ? this.left : null;
    this.draw();
    if (this.facts) this.run(this.facts);
  }

  private stop(): void {
    this.changed = 0;
    for (const runner of this.runners) runner.stop();
    this.status.textContent = "stopped";
  }

  private showEditor(on: boolean): void {
    this.editor.element.hidden = !on;
    this.edit.setAttribute("aria-expanded", String(on));
    this.edit.textContent = on ? "Close the editor" : "Edit the scenario";
    if (on) this.editor.shown();
  }

  private async remember(): Promise<void> {
    const fragment = await toFragment(this.text);
    history.replaceState(null, "", fragment);
  }

  private async link(): Promise<void> {
    await this.remember();
    try {
      await navigator.clipboard.writeText(location.href);
      this.status.textContent = "The link has been copied to the clipboard.";
    } catch {
      this.status.textContent = "The link is in the address bar.";
    }
  }

  private save(): void {
    saved("scenario.toml", this.text);
  }
}

function content(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

/** A text that `becalm play` has put into the page. */
function given(): string | null {
  const data = content("given");
  return data ? new TextDecoder().decode(bytesOf(data)) : null;
}

async function main(): Promise<void> {
  const root = document.getElementById("page") as HTMLElement;
  try {
    const wasm = await inflated(content("core"));
    const address = URL.createObjectURL(new Blob([content("worker")], { type: "text/javascript" }));
    const start = (): Port => {
      const worker = new Worker(address);
      worker.postMessage({ kind: "load", wasm });
      return worker as Port;
    };
    const catalogue: Catalogue = JSON.parse(new TextDecoder().decode(await inflated(content("catalogue"))));
    const page = new Playground(root, start, catalogue);
    window.playground = page.hook;
    page.follow((await fromFragment(location.hash)) ?? { text: given() ?? SCENES[0].text });
    addEventListener("hashchange", async () => {
      const given = await fromFragment(location.hash);
      if (given) page.follow(given);
    });
  } catch (error) {
    root.replaceChildren(el("p", { role: "alert" }, error instanceof Error ? error.message : String(error)));
  }
}

void main();
