// When outputs were roots and branches: one row per output, exact to the picosecond of the model, drawn as boxes.

import type { RunPage } from "./data";
import { el } from "./dom";
import { linkName } from "./details";
import type { Store } from "./state";
import { percent, withUnit } from "./units";

const SVG = "http://www.w3.org/2000/svg";

function shape(tag: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** The rows of a replication; nothing without spans. */
export function periods(page: RunPage, store: Store): HTMLElement | null {
  const growth = page.runs[store.now.run].growth;
  if (!growth || growth.rows.length === 0) return null;
  const list = el("ol", { class: "periods" });
  for (const row of growth.rows) {
    const picture = shape("svg", { viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img" });
    const kind = row.root >= row.branch ? "root" : "branch";
    const total = percent((row.root + row.branch) / page.duration);
    picture.setAttribute("aria-label", `${kind}; in a role for ${total} of the run`);
    for (const [begin, end, root] of row.periods) {
      const [x, width] = [(1000 * begin) / page.duration, (1000 * (end - begin)) / page.duration];
      const box = { x: x.toFixed(1), width: Math.max(1, width).toFixed(1), y: root ? 0 : 2, height: root ? 10 : 6 };
      picture.append(shape("rect", { ...box, class: root ? "root" : "branch" }));
    }
    const button = el("button", { type: "button", class: "link" }, linkName(page, row.link));
    button.addEventListener("click", () => store.set({ chosen: row.link }));
    const since = row.periods[0] ? `since ${withUnit(row.periods[0][0], "s")}` : "";
    list.append(el("li", {}, button, picture, el("span", { class: "faint" }, since)));
  }
  return list;
}
