// Help from the core's catalogue: the possible contents of a scenario's tables.

import type { Catalogue, Entry } from "./core";
import { el } from "./dom";

/** Paths of the options of some lists in a scenario; other lists use their own name. */
const PLACES: Record<string, string[]> = {
  topologies: ["topology"],
  traffic: ["flows.traffic"],
  patterns: ["flows.pattern"],
  collectives: ["jobs.collective"],
  arbiters: ["switch.arbiter"],
  response: ["response", "flows.response", "jobs.response"],
  sections: [""],
};

export interface Topic {
  path: string;
  list: string;
  entry: Entry;
}

/** All entries of a catalogue, each with the path of its table. */
export function topics(catalogue: Catalogue): Topic[] {
  return Object.entries(catalogue).flatMap(([list, entries]) =>
    (PLACES[list] ?? [list]).flatMap((place) => entries.map((entry) => ({ path: [place, entry.name].filter(Boolean).join("."), list, entry }))),
  );
}

/** The path of the table at a line of a text, and the key on that line; lines count from 0. */
export function pathAt(text: string, line: number): { path: string; key: string } {
  const lines = text.split("\n").slice(0, line + 1);
  const key = /^\s*([\w.-]+)\s*=/.exec(lines[line] ?? "")?.[1] ?? "";
  for (const each of lines.reverse()) {
    const heading = /^\s*\[{1,2}\s*([^\]]+?)\s*\]/.exec(each);
    if (heading) return { path: heading[1].replace(/\s/g, ""), key };
  }
  return { path: "", key };
}

/** The topic that fits a position best: its own, or the topic of the innermost table around it. */
export function topicAt(all: Topic[], path: string, key: string): Topic | null {
  const parts = [path, key].filter(Boolean).join(".").split(".");
  for (let length = parts.length; length > 0; length--) {
    const wanted = parts.slice(0, length).join(".");
    const found = all.find((topic) => topic.path === wanted);
    if (found) return found;
  }
  return null;
}

/** A topic as text, with its keys in a table; clicking a key inserts it. */
export function shown(topic: Topic, key: string, insert: (line: string) => void): HTMLElement[] {
  const rows = topic.entry.parameters.map((parameter) => {
    const preset = parameter.default === null ? "" : JSON.stringify(parameter.default);
    const button = el("button", { type: "button", class: "link", title: "insert this key" }, parameter.name);
    button.addEventListener("click", () => insert(`${parameter.name} = ${preset || '""'}`));
    const help = [parameter.help, [parameter.range || parameter.kind, parameter.unit].filter(Boolean).join(" ")].filter(Boolean).join(" – ");
    const current = parameter.name === key.split(".").at(-1);
    return el("tr", current ? { class: "current" } : {}, el("th", { scope: "row" }, button), el("td", {}, preset || (parameter.required ? "required" : "–")), el("td", {}, help));
  });
  const head = ["key", "default", "meaning"].map((name) => el("th", { scope: "col" }, name));
  const table = el("table", { class: "keys" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
  return [el("h3", {}, topic.path), ...prose(topic.entry.doc), ...(rows.length > 0 ? [table] : [])];
}

/** Converts the few constructs in doc comments: headings, lists, paragraphs, code. */
function prose(doc: string): HTMLElement[] {
  const made: HTMLElement[] = [];
  // The table already contains the parameters.
  const text = doc.replace(/# Parameters\n[\s\S]*?(?=\n# |$)/, "");
  for (const part of text.split(/\n{2,}|\n(?=# )|(?<=^# .*)\n/m)) {
    const [first, ...more] = part.trim().split(/\n(?=- )/);
    if (first.startsWith("# ")) made.push(el("h4", {}, first.slice(2)));
    else if (first.startsWith("- ")) made.push(el("ul", {}, ...[first, ...more].map((item) => el("li", {}, ...code(item.slice(2))))));
    else if (first) made.push(el("p", {}, ...code([first, ...more].join("\n"))));
  }
  return made;
}

function code(text: string): (Node | string)[] {
  return text.split("`").map((part, i) => (i % 2 === 1 ? el("code", {}, part) : part));
}
