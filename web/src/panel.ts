// The panel of a scene: its sliders, and lists of all schemes in the core.

import type { Catalogue, Facts } from "./core";
import { el } from "./dom";
import { type Topic, pathAt, topicAt, topics } from "./help";
import { KINDS, type Kind } from "./kinds";
import { type Blocks, block, fitted, swapped } from "./schemes";
import { type Slider, at, moved, position, positions, sliders } from "./sliders";
import { singular } from "./units";

interface Control {
  slider: Slider;
  input: HTMLInputElement;
  output: HTMLOutputElement;
  label: HTMLElement;
  unit: string;
}

const TITLES: Record<Kind, string> = { marking: "Marking", echo: "Echo", response: "Response" };

/** Largest number of letters in a unit shown next to its number; a longer unit appears only in the slider's description. */
const LONGEST_UNIT = 8;

export class Panel {
  readonly element = el("div", { class: "panel" });
  private readonly grid = el("div", { class: "sliders" });
  private readonly lists = new Map<Kind, HTMLSelectElement>();
  private controls: Control[] = [];
  private readonly note = el("p", { class: "faint", role: "status" });
  private topics: Topic[] = [];
  private schemes: Record<Kind, string> | null = null;
  private text = "";
  private catalogue: Catalogue = {};
  /** Tables of schemes that were replaced, for when they come back. */
  private readonly known: Blocks = new Map();

  constructor(private readonly changed: (text: string) => void) {
    const row = el("div", { class: "schemes" });
    for (const kind of KINDS) {
      const list = el("select", { "data-kind": kind });
      list.addEventListener("change", () => this.swap(kind, list.value));
      this.lists.set(kind, list);
      row.append(el("label", { class: "choice" }, `${TITLES[kind]} `, list));
    }
    this.element.append(this.grid, row, this.note);
  }

  describe(catalogue: Catalogue): void {
    this.catalogue = catalogue;
    this.topics = topics(catalogue);
    for (const [kind, list] of this.lists) {
      list.replaceChildren(...(catalogue[kind] ?? []).map(({ name, doc }) => el("option", { value: name, title: doc.split("\n\n")[0] }, name)));
    }
  }

  /** Shows the sliders of a text. Controls are kept if only values differ, so that one can be dragged. */
  set(text: string): void {
    this.text = text;
    const found = sliders(text);
    const same = found.length === this.controls.length && found.every((slider, i) => alike(slider, this.controls[i].slider));
    if (!same) {
      this.controls = found.map((slider) => this.control(slider));
      this.grid.replaceChildren(...this.controls.map(({ label }) => label));
    }
    this.controls.forEach((control, i) => {
      control.slider = found[i];
      this.explain(control);
      show(control);
    });
  }

  /** Forgets the tables of schemes of another scenario. */
  forget(): void {
    this.known.clear();
  }

  /** Shows the schemes of a scenario. */
  know(facts: Facts): void {
    this.schemes = facts.schemes;
    for (const [kind, list] of this.lists) list.value = facts.schemes[kind];
  }

  private control(slider: Slider): Control {
    const input = el("input", { type: "range", min: 0, max: positions(slider), step: 1 });
    const output = el("output", {});
    const control = { slider, input, output, label: el("label", { class: "slider" }, el("span", {}, slider.name), input, output), unit: slider.unit };
    input.addEventListener("input", () => this.changed(moved(this.text, control.slider, at(control.slider, Number(input.value)))));
    return control;
  }

  /** Adds to a slider the unit and the help of its key, or of the surrounding table. */
  private explain(control: Control): void {
    const { path, key } = pathAt(this.text, control.slider.line);
    const topic = topicAt(this.topics, path, key);
    const rest = [path, key].join(".").slice((topic?.path.length ?? 0) + 1).split(".");
    const parameter = topic?.entry.parameters.find((each) => each.name === rest[0]);
    const unit = rest.length === 1 ? (parameter?.unit ?? "") : "";
    control.unit = control.slider.unit || (unit.length <= LONGEST_UNIT ? unit : "");
    const words = parameter ? [parameter.help, `${parameter.range || parameter.kind} ${unit}`.trim()] : [topic?.entry.doc.split("\n\n")[0]];
    control.label.title = words.filter(Boolean).join(" – ").replaceAll("`", "");
  }

  private swap(kind: Kind, name: string): void {
    this.note.textContent = "";
    if (this.schemes) for (const each of KINDS) this.known.set(`${each}.${this.schemes[each]}`, block(this.text, each));
    if (kind === "response" && this.schemes) {
      const { text, changed } = fitted(this.text, name, this.schemes, this.catalogue, this.known);
      if (changed.length > 0) this.note.textContent = `Also changed, because ${name} requires it: ${changed.join(", ")}.`;
      this.changed(text);
      return;
    }
    const scheme = this.catalogue[kind]?.find((entry) => entry.name === name);
    if (scheme) this.changed(swapped(this.text, kind, scheme, this.known));
  }
}

function alike(a: Slider, b: Slider): boolean {
  return a.line === b.line && a.name === b.name && a.low === b.low && a.high === b.high && a.step === b.step && a.log === b.log && a.unit === b.unit;
}

function show({ slider, input, output, unit }: Control): void {
  // A dragged control keeps its position, which may lie between two values.
  const place = position(slider);
  if (document.activeElement !== input || at(slider, Number(input.value)) !== slider.value) input.value = String(place);
  // A unit such as `1.024 us` counts steps of this length.
  const times = /^\d/.test(unit) ? "× " : "";
  const text = `${slider.value} ${times}${slider.value === 1 ? singular(unit) : unit}`.trim();
  output.textContent = text;
  input.setAttribute("aria-valuetext", text);
}
