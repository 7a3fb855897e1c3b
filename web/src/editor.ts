// The editor of a scenario: numbered and coloured lines, mistakes at their lines, help for the cursor's line.

import type { Catalogue, Mistake, Mistakes } from "./core";
import { el, section } from "./dom";
import { type Topic, pathAt, shown, topicAt, topics } from "./help";

const COLOURS = /(#.*$)|("""[\s\S]*?"""|"(?:[^"\\]|\\.)*"?|'[^']*'?)|^(\s*\[.*?\]+)|^(\s*[\w.-]+)(?=\s*=)|\b(true|false|\d[\d._]*(?:e[+-]?\d+)?)\b/gm;
const CLASSES = ["comment", "string", "heading", "key", "number"];

export class Editor {
  readonly element: HTMLElement;
  private readonly area = el("textarea", { spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "scenario, in TOML", "aria-describedby": "mistakes" });
  private readonly colours = el("pre", { class: "colours", "aria-hidden": "true" });
  private readonly gutter = el("div", { class: "gutter", "aria-hidden": "true" });
  private readonly mistakes = el("div", { id: "mistakes", "aria-live": "polite" });
  private readonly help = el("div", { class: "help", tabindex: 0, role: "region", "aria-label": "help for the cursor's line" });
  private readonly list = el("select", { "aria-label": "help on" });
  private all: Topic[] = [];
  private wrong = new Map<number, string>();
  private explained = "";

  constructor(private readonly changed: (text: string) => void) {
    const box = el("div", { class: "box" }, this.gutter, el("div", { class: "text" }, this.colours, this.area));
    const left = el("div", { class: "writing" }, box, this.mistakes);
    const right = el("div", { class: "reading" }, el("label", { class: "choice" }, "Help on ", this.list), this.help);
    this.element = section("scenario", "Scenario", el("div", { class: "editor" }, left, right));
    this.area.addEventListener("input", () => {
      this.draw();
      this.changed(this.area.value);
    });
    this.area.addEventListener("scroll", () => this.follow());
    for (const event of ["keyup", "click"] as const) this.area.addEventListener(event, () => this.explain());
    this.list.addEventListener("change", () => {
      const topic = this.all[this.list.selectedIndex];
      if (topic) this.show(topic, "");
    });
  }

  /** Shows another text; the cursor stays at its position if possible. */
  set(text: string): void {
    if (text === this.area.value) return;
    const { selectionStart } = this.area;
    this.area.value = text;
    this.area.setSelectionRange(selectionStart, selectionStart);
    this.draw();
  }

  /** Called when the editor becomes visible. */
  shown(): void {
    this.draw();
    this.area.focus();
  }

  describe(catalogue: Catalogue): void {
    this.all = topics(catalogue);
    const groups = new Map<string, HTMLElement>();
    for (const topic of this.all) {
      const group = groups.get(topic.list) ?? el("optgroup", { label: topic.list });
      groups.set(topic.list, group);
      group.append(el("option", {}, topic.path));
    }
    this.list.replaceChildren(...groups.values());
    this.explain();
  }

  /** Marks the lines with mistakes and lists them; `null` means that there are none. */
  mark(found: Mistakes | null): void {
    this.wrong = new Map(found?.mistakes.flatMap(({ line, text }) => (line === null ? [] : [[line - 1, text] as [number, string]])) ?? []);
    this.area.setAttribute("aria-invalid", String(found !== null));
    const rest = found && found.more > 0 ? [el("p", { class: "faint" }, `and ${found.more} more`)] : [];
    const heading = found ? [el("h3", {}, found.mistakes.length === 1 ? "One mistake" : `${found.mistakes.length + found.more} mistakes`)] : [];
    const list = el("ul", {}, ...(found?.mistakes ?? []).map((mistake) => this.mistake(mistake)));
    this.mistakes.replaceChildren(...heading, ...(found ? [list] : [el("p", { class: "faint" }, "No mistakes.")]), ...rest);
    this.draw();
  }

  private mistake({ line, text }: Mistake): HTMLElement {
    if (line === null) return el("li", {}, text);
    const button = el("button", { type: "button", class: "link" }, `line ${line}`);
    button.addEventListener("click", () => this.go(line - 1));
    return el("li", {}, button, `: ${text}`);
  }

  /** Puts the cursor at the end of a line. */
  private go(line: number): void {
    const lines = this.area.value.split("\n");
    const end = lines.slice(0, line + 1).join("\n").length;
    this.area.focus();
    this.area.setSelectionRange(end, end);
    this.area.scrollTop = Math.max(0, (line - 6) * lineHeight(this.area));
    this.explain();
  }

  private line(): number {
    return this.area.value.slice(0, this.area.selectionStart).split("\n").length - 1;
  }

  /** Inserts a line below the cursor's line. */
  private insert(line: string): void {
    const at = this.line();
    const lines = this.area.value.split("\n");
    lines.splice(at + 1, 0, line);
    this.area.value = lines.join("\n");
    this.draw();
    this.go(at + 1);
    this.changed(this.area.value);
  }

  private explain(): void {
    const { path, key } = pathAt(this.area.value, this.line());
    const topic = topicAt(this.all, path, key) ?? this.all.find(({ path }) => path === "run");
    if (topic) this.show(topic, key);
  }

  private show(topic: Topic, key: string): void {
    if (this.explained === `${topic.path} ${key}`) return;
    this.explained = `${topic.path} ${key}`;
    this.list.selectedIndex = this.all.indexOf(topic);
    this.help.replaceChildren(...shown(topic, key, (line) => this.insert(line)));
    this.help.querySelector(".current")?.scrollIntoView({ block: "nearest" });
  }

  private follow(): void {
    const { scrollTop, scrollLeft } = this.area;
    this.colours.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    this.gutter.scrollTop = scrollTop;
  }

  private draw(): void {
    const lines = this.area.value.split("\n");
    this.gutter.replaceChildren(
      ...lines.map((_, i) => (this.wrong.has(i) ? el("div", { class: "wrong", title: this.wrong.get(i) as string }, `✕ ${i + 1}`) : el("div", {}, String(i + 1)))),
    );
    this.colours.replaceChildren(...coloured(this.area.value), "\n");
    this.follow();
  }
}

function lineHeight(area: HTMLElement): number {
  return Number.parseFloat(getComputedStyle(area).lineHeight);
}

function coloured(text: string): (Node | string)[] {
  const made: (Node | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(COLOURS)) {
    const kind = CLASSES.find((_, i) => match[i + 1] !== undefined);
    made.push(text.slice(end, match.index), el("span", { class: kind ?? "" }, match[0]));
    end = match.index + match[0].length;
  }
  made.push(text.slice(end));
  return made;
}
