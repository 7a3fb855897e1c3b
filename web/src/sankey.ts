// Who blocks whom: what victims lose, from left to right by victim, link at which it waits, root, and contributors.

import type { Run, RunPage } from "./data";
import { linkName } from "./details";
import { el } from "./dom";
import { shape } from "./gantt";
import { type Ribbon, layout } from "./losses";
import type { Store } from "./state";
import { withUnit } from "./units";

const HEADINGS = ["victims", "wait at", "root", "contributors"];
const CLASSES = ["victim", "branch", "root", "contributor"];
const [WIDTH, BAR] = [1000, 12];

/** The picture of a run's losses; null without victims. */
export function blocking(page: RunPage, store: Store, run: Run): HTMLElement | null {
  if (!run.blocking || run.blocking.length === 0) return null;
  const name = (link: number) => linkName(page, link);
  const rows = Math.max(...[0, 1, 2, 3].map((at) => new Set(run.blocking?.map((row) => row[at])).size));
  const height = 120 + rows * 26;
  const { columns, ribbons, total } = layout(run.blocking, name, height);
  const label = `victims lose ${withUnit(total, "B")}`;
  const picture = shape("svg", { viewBox: `0 0 ${WIDTH} ${height + 24}`, role: "img", "aria-label": label, class: "sankey" });
  const x = (at: number) => [0, 250, 500, 750][at];
  for (const [at, own] of ribbons.entries()) for (const ribbon of own) picture.append(band(ribbon, x(at) + BAR, x(at + 1), CLASSES[at]));
  for (const [at, nodes] of columns.entries()) {
    picture.append(text(HEADINGS[at], x(at), 14, "faint"));
    for (const node of nodes) {
      picture.append(shape("rect", { x: x(at), y: node.y + 24, width: BAR, height: Math.max(1, node.height), class: CLASSES[at], "data-bytes": node.bytes }));
      const words = text(`${node.name}: ${withUnit(node.bytes, "B")}`, x(at) + BAR + 4, node.y + 24 + Math.max(11, Math.min(node.height, 60) / 2 + 4), node.link >= 0 ? "place" : "");
      if (node.link >= 0) words.addEventListener("click", () => store.set({ chosen: node.link }));
      picture.append(words);
    }
  }
  return el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, picture);
}

function text(words: string, x: number, y: number, name: string): SVGElement {
  const made = shape("text", { x, y, class: name });
  made.textContent = words;
  return made;
}

function band({ from, to, bytes, y, height }: Ribbon, left: number, right: number, name: string): SVGElement {
  const [a, b, middle] = [y[0] + 24, y[1] + 24, (left + right) / 2];
  const curve = (y0: number, x1: number, y1: number) => `C${middle},${y0} ${middle},${y1} ${x1},${y1}`;
  const d = `M${left},${a} ${curve(a, right, b)} L${right},${b + height} ${curve(b + height, left, a + height)} Z`;
  const made = shape("path", { d, class: `ribbon ${name}` });
  const title = shape("title", {});
  title.textContent = `${from.name}, ${to.name}: ${withUnit(bytes, "B")}`;
  made.append(title);
  return made;
}
