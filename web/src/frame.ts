// Parts that every page has: heading, diagnosis, parameters, provenance.

import type { About } from "./data";
import { coded, el, saved, section } from "./dom";
import { theme, toggleTheme } from "./theme";

/** The element of a page's first sentence; hidden without one. */
export function verdict(text: string | null = null): HTMLElement {
  const made = el("p", { class: "verdict" });
  say(made, text);
  return made;
}

export function say(verdict: HTMLElement, text: string | null): void {
  verdict.textContent = text;
  verdict.hidden = !text;
}

/** Places the parts of a page between its heading, which ends with the verdict, and its end. */
export function frame(root: HTMLElement, about: About, verdict: HTMLElement, selector: HTMLElement | null, ...parts: HTMLElement[]): void {
  document.title = about.title;
  const light = el("button", { type: "button", class: "light" }, "Light or dark");
  light.addEventListener("click", () => {
    toggleTheme();
    light.setAttribute("aria-pressed", String(theme().dark));
  });
  const heading = el("header", {}, el("h1", {}, about.title), verdict, el("p", { class: "faint" }, about.facts.join(" · ")));
  const tools = el("div", { class: "tools" }, ...(selector ? [selector] : []), light);
  root.replaceChildren(el("div", { class: "top" }, heading, tools), ...diagnosis(about), ...parts, ...closing(about));
  addEventListener("beforeprint", () => {
    for (const each of root.querySelectorAll("details")) each.open = true;
  });
}

function diagnosis(about: About): HTMLElement[] {
  const made: HTMLElement[] = [];
  if (about.diagnosis.length > 0) {
    const leads = about.diagnosis.filter((each) => each.lead);
    const others = about.diagnosis.filter((each) => !each.lead);
    const parts = leads.length > 0 ? [topics(leads)] : [];
    const rest = others.length > 0 ? [topics(others)] : [];
    // However many roots there are, the picture stays on the first screen.
    const more = `and ${others.length} more ${others.length === 1 ? "sentence" : "sentences"}`;
    if (parts.length > 0 && rest.length > 0) parts.push(el("details", { class: "more" }, el("summary", {}, more), ...rest));
    made.push(section("diagnosis", "Diagnosis", ...(parts.length > 0 ? parts : rest)));
  }
  if (about.notes.length > 0) made.push(el("ul", { class: "notes" }, ...about.notes.map((note) => el("li", {}, ...coded(note)))));
  return made;
}

/** Sentences by topic. */
function topics(sentences: About["diagnosis"]): HTMLElement {
  const line = ({ text, anchor }: About["diagnosis"][number]) =>
    el("li", {}, ...coded(text), ...(anchor ? [" ", el("a", { href: `#${anchor}`, "aria-label": `the rows: ${text}` }, "rows")] : []));
  const part = (topic: string) => el("div", {}, el("h3", {}, topic), el("ul", {}, ...sentences.filter((each) => each.topic === topic).map(line)));
  return el("div", { class: "topics" }, ...[...new Set(sentences.map((each) => each.topic))].map(part));
}

function closing(about: About): HTMLElement[] {
  const made: HTMLElement[] = [];
  const fold = (id: string, title: string, ...children: HTMLElement[]) => el("details", { id }, el("summary", {}, title), ...children);
  if (about.parameters.length > 0) made.push(fold("parameters", "Parameters, including defaults", pairs("parameters", about.parameters)));
  if (about.scenario) made.push(fold("scenario", about.again.file ? "Scenario: run it again" : "Scenario", ...again(about), el("pre", { tabindex: 0 }, about.scenario)));
  if (about.provenance.length > 0) made.push(fold("provenance", "Provenance", pairs("provenance", about.provenance)));
  return [el("footer", {}, ...made)];
}

/** The commands that repeat the run, and the file that they need. */
function again({ again: { file, commands, note }, scenario }: About): HTMLElement[] {
  const notes = note ? [el("p", {}, note)] : [];
  if (!file) return notes;
  const save = el("button", { type: "button" }, `Save ${file}`);
  save.addEventListener("click", () => saved(file, scenario));
  const lines = el("pre", { class: "commands", tabindex: 0 }, commands.join("\n"));
  return [el("p", {}, "Save the scenario below as ", el("code", {}, file), ", then run:"), lines, ...notes, el("p", {}, save)];
}

function pairs(label: string, rows: [string, string][]): HTMLElement {
  const lines = rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)));
  return el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `table of ${label}` }, el("table", { class: "pairs" }, el("tbody", {}, ...lines)));
}
