// What every page has: heading, diagnosis, parameters, provenance.

import type { About } from "./data";
import { el, section } from "./dom";
import { theme, toggleTheme } from "./theme";

/** Puts the parts of a page between its heading and its end. */
export function frame(root: HTMLElement, about: About, selector: HTMLElement | null, ...parts: HTMLElement[]): void {
  document.title = about.title;
  const light = el("button", { type: "button", class: "light" }, "Light or dark");
  light.addEventListener("click", () => {
    toggleTheme();
    light.setAttribute("aria-pressed", String(theme().dark));
  });
  const heading = el("header", {}, el("h1", {}, about.title), el("p", { class: "faint" }, about.facts.join(" · ")));
  const tools = el("div", { class: "tools" }, ...(selector ? [selector] : []), light);
  root.replaceChildren(el("div", { class: "top" }, heading, tools), ...diagnosis(about), ...parts, ...closing(about));
  addEventListener("beforeprint", () => {
    for (const each of root.querySelectorAll("details")) each.open = true;
  });
}

function diagnosis(about: About): HTMLElement[] {
  const made: HTMLElement[] = [];
  if (about.diagnosis.length > 0) {
    const line = ({ text, anchor }: { text: string; anchor?: string }) => el("li", {}, anchor ? el("a", { href: `#${anchor}` }, text) : text);
    made.push(section("diagnosis", "Diagnosis", el("ul", {}, ...about.diagnosis.map(line))));
  }
  if (about.notes.length > 0) made.push(el("ul", { class: "notes" }, ...about.notes.map((note) => el("li", {}, note))));
  return made;
}

function closing(about: About): HTMLElement[] {
  const made: HTMLElement[] = [];
  const fold = (id: string, title: string, ...children: HTMLElement[]) => el("details", { id }, el("summary", {}, title), ...children);
  if (about.parameters.length > 0) made.push(fold("parameters", "Parameters, defaults included", pairs(about.parameters)));
  if (about.scenario) made.push(fold("scenario", "Scenario", el("pre", { tabindex: 0 }, about.scenario)));
  if (about.provenance.length > 0) made.push(fold("provenance", "Provenance", pairs(about.provenance)));
  return [el("footer", {}, ...made)];
}

function pairs(rows: [string, string][]): HTMLElement {
  const lines = rows.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)));
  return el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "values" }, el("table", { class: "pairs" }, el("tbody", {}, ...lines)));
}
