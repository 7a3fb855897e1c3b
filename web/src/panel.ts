// The panel of a scene: its sliders, and its schemes as lists of all that the core has.

import type { Catalogue, Facts } from "./core";
import { el } from "./dom";
import { KINDS, type Kind, swapped } from "./schemes";
import { type Slider, at, moved, position, positions, sliders } from "./sliders";

interface Control {
  slider: Slider;
  input: HTMLInputElement;
  output: HTMLOutputElement;
}

const TITLES: Record<Kind, string> = { marking: "Marking", echo: "Echo", response: "Response" };

export class Panel {
  readonly element = el("div", { class: "panel" });
  private readonly grid = el("div", { class: "sliders" });
  private readonly lists = new Map<Kind, HTMLSelectElement>();
  private controls: Control[] = [];
  private text = "";
  private catalogue: Catalogue = {};

  constructor(private readonly changed: (text: string) => void) {
    const row = el("div", { class: "schemes" });
    for (const kind of KINDS) {
      const list = el("select", { "data-kind": kind });
      list.addEventListener("change", () => this.swap(kind, list.value));
      this.lists.set(kind, list);
      row.append(el("label", { class: "choice" }, `${TITLES[kind]} `, list));
    }
    this.element.append(this.grid, row);
  }

  describe(catalogue: Catalogue): void {
    this.catalogue = catalogue;
    for (const [kind, list] of this.lists) {
      list.replaceChildren(...(catalogue[kind] ?? []).map(({ name, doc }) => el("option", { value: name, title: doc.split("\n\n")[0] }, name)));
    }
  }

  /** Shows the sliders of a text; controls stay as they are where only values differ, so that one can be dragged. */
  set(text: string): void {
    this.text = text;
    const found = sliders(text);
    const same = found.length === this.controls.length && found.every((slider, i) => alike(slider, this.controls[i].slider));
    if (!same) {
      this.controls = found.map((slider) => this.control(slider));
      this.grid.replaceChildren(...this.controls.map(({ slider, input, output }) => el("label", { class: "slider" }, el("span", {}, slider.name), input, output)));
    }
    this.controls.forEach((control, i) => {
      control.slider = found[i];
      show(control);
    });
  }

  /** Shows the schemes that a scenario has. */
  know(facts: Facts): void {
    for (const [kind, list] of this.lists) list.value = facts.schemes[kind];
  }

  private control(slider: Slider): Control {
    const input = el("input", { type: "range", min: 0, max: positions(slider), step: 1 });
    const control = { slider, input, output: el("output", {}) };
    input.addEventListener("input", () => this.changed(moved(this.text, control.slider, at(control.slider, Number(input.value)))));
    return control;
  }

  private swap(kind: Kind, name: string): void {
    const scheme = this.catalogue[kind]?.find((entry) => entry.name === name);
    if (scheme) this.changed(swapped(this.text, kind, scheme));
  }
}

function alike(a: Slider, b: Slider): boolean {
  return a.line === b.line && a.name === b.name && a.low === b.low && a.high === b.high && a.step === b.step && a.log === b.log && a.unit === b.unit;
}

function show({ slider, input, output }: Control): void {
  // A control that is dragged already has its place, which may lie between two values.
  const place = position(slider);
  if (document.activeElement !== input || at(slider, Number(input.value)) !== slider.value) input.value = String(place);
  const text = `${slider.value} ${slider.unit}`.trim();
  output.textContent = text;
  input.setAttribute("aria-valuetext", text);
}
