// Periods in which outputs were roots and branches: one row per output.

import type { RunPage } from "./data";
import { el } from "./dom";
import { linkName } from "./details";
import { ROOT } from "./fabric";
import type { Store } from "./state";
import { percent, withUnit } from "./units";

const SVG = "http://www.w3.org/2000/svg";

export function shape(tag: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** The rows of a replication; null without spans. */
export function periods(page: RunPage, store: Store): HTMLElement | null {
  const growth = page.runs[store.now.run].growth;
  if (!growth || growth.rows.of.length === 0) return null;
  const { steps, roles, of } = growth.rows;
  const list = el("ol", { class: "periods" });
  of.forEach((row, i) => {
    const picture = shape("svg", { viewBox: `0 0 ${steps} 10`, preserveAspectRatio: "none", role: "img" });
    const kind = row.root > row.branch ? "root" : "branch";
    picture.setAttribute("aria-label", `${kind}; in a role for ${percent((row.root + row.branch) / page.runs[store.now.run].end)} of the run`);
    boxes(picture, roles.subarray(i * steps, (i + 1) * steps));
    const button = el("button", { type: "button", class: "link" }, linkName(page, row.link));
    button.addEventListener("click", () => store.set({ chosen: row.link }));
    list.append(el("li", {}, button, picture, el("span", { class: "faint" }, `since ${withUnit(row.since, "s")}`)));
  });
  return list;
}

/** A box for every stretch of equal roles; roots are taller, so that they are visible without colour. */
function boxes(picture: SVGElement, roles: Uint8Array): void {
  stretches(roles, (role, x, width) => {
    const root = role === ROOT;
    if (role > 0) picture.append(shape("rect", { x, width, y: root ? 0 : 2, height: root ? 10 : 6, class: root ? "root" : "branch" }));
  });
}

/** Calls `then` for every stretch of equal values, with its start and length. */
export function stretches<T>(values: ArrayLike<T>, then: (value: T, begin: number, length: number) => void): void {
  let begin = 0;
  for (let at = 1; at <= values.length; at++) {
    if (values[at] === values[begin]) continue;
    then(values[begin], begin, at - begin);
    begin = at;
  }
}
