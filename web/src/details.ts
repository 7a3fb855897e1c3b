// The link under the pointer or the chosen link: its numbers and the flows that cross it.

import type { Run, RunPage } from "./data";
import { el } from "./dom";
import { BRANCH, ROOT } from "./fabric";
import type { Store } from "./state";
import { STEPS, onTheme, theme } from "./theme";
import { percent, share, withUnit } from "./units";

/** A link's name, with its port if several links join the same nodes. */
export function linkName(page: RunPage, link: number): string {
  const { names, from, to, port } = page.fabric;
  const several = (other: number) => other >= 0 && other < from.length && from[other] === from[link] && to[other] === to[link];
  const ports = several(link - 1) || several(link + 1) ? ` [port ${port[link]}]` : "";
  return `${names[from[link]]}${ports} -> ${names[to[link]]}`;
}

export class Details {
  readonly element = el("aside", { class: "details", "aria-label": "link", "aria-live": "off" });

  constructor(
    private page: RunPage,
    private readonly store: Store,
  ) {
    store.on(() => this.draw());
    onTheme(() => this.draw());
    this.draw();
  }

  /** Shows another run of the same fabric. */
  show(page: RunPage): void {
    this.page = page;
    this.draw();
  }

  private draw(): void {
    const { now } = this.store;
    const link = now.hovered >= 0 ? now.hovered : now.chosen;
    if (link < 0) {
      this.element.replaceChildren(
        el("h3", {}, "A link"),
        el("p", { class: "faint" }, "Point at a link, or choose one in a table below, to see its numbers and the flows that cross it."),
        el("p", { class: "faint" }, "Keys while the fabric has the focus: ← → move in time, space plays, + − 0 zoom. Ctrl with the wheel also zooms."),
      );
      return;
    }
    const run = this.page.runs[now.run];
    const { fabric } = this.page;
    const rate = fabric.rates[fabric.rate[link]];
    this.element.replaceChildren(
      el("h3", {}, linkName(this.page, link)),
      el("p", { class: "faint" }, `${withUnit(rate, "B/s")}, ${withUnit(fabric.delays[fabric.delay[link]], "s")} delay`),
      ...this.numbers(run, link),
      ...this.crossing(run, link, rate),
    );
  }

  private numbers(run: Run, link: number): Node[] {
    const { now } = this.store;
    const { frames, links } = run;
    const count = this.page.fabric.from.length;
    const rows: [string, string, string][] = [];
    const lane = frames?.lanes[now.lane];
    const at = (array: Uint8Array | undefined) => (array ? percent(share(array[now.time * count + link])) : "");
    const whole = (array: Uint8Array | undefined) => (array ? percent(share(array[link])) : "");
    const role = lane ? ["calm", "root", "branch"][lane.role[now.time * count + link]] : "";
    if (lane) rows.push(["role", role, ""], ["buffer at its end", at(lane.occupancy), ""]);
    rows.push(["load", at(frames?.details.busy), whole(links?.utilization)]);
    rows.push(["waits for credit", at(frames?.details.stalled), whole(links?.stalled)]);
    rows.push(["marked packets", at(frames?.details.marked), whole(links?.marked)]);
    rows.push(["time as root", "", whole(links?.root)], ["time as branch", "", whole(links?.branch)]);
    const shown = rows.filter(([, now, window]) => now !== "" || window !== "");
    const table = el("table", {}, el("thead", {}, el("tr", {}, el("td", {}), el("th", { scope: "col" }, "now"), el("th", { scope: "col" }, "window"))));
    table.append(...shown.map(([name, now, window]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, now), el("td", {}, window))));
    return lane && frames ? [this.history(lane.occupancy, lane.role, count, link), table] : [table];
  }

  /** The buffer over time, coloured by role. */
  private history(occupancy: Uint8Array, roles: Uint8Array, count: number, link: number): Node {
    const [width, height] = [252, 44];
    const canvas = el("canvas", { width: 2 * width, height: 2 * height, class: "history", role: "img", "aria-label": "buffer over time" });
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    const colours = theme();
    context.scale(2, 2);
    const times = occupancy.length / count;
    for (let time = 0; time < times; time++) {
      const role = roles[time * count + link];
      const value = occupancy[time * count + link];
      const tall = Math.max(role === ROOT ? 6 : 1, (value / 255) * (height - 4));
      context.fillStyle = role === ROOT ? colours.root : role === BRANCH ? colours.shades[STEPS - 4] : colours.shades[4];
      context.fillRect((time * width) / times, height - tall, Math.max(1, width / times - 0.5), tall);
    }
    context.fillStyle = colours.text;
    context.fillRect(((this.store.now.time + 0.5) * width) / times - 0.5, 0, 1, height);
    return canvas;
  }

  private crossing(run: Run, link: number, rate: number): Node[] {
    const { crossing } = run;
    if (!crossing) return [];
    const { names } = this.page.fabric;
    const groups: HTMLElement[] = [];
    for (let i = crossing.starts[link]; i < crossing.starts[link + 1]; i++) {
      const [flows, sources] = [crossing.flows[i], crossing.sources[i]];
      const what = `${flows.toLocaleString("en")} ${flows === 1 ? "flow" : "flows"} from ${sources.toLocaleString("en")} ${sources === 1 ? "host" : "hosts"}`;
      const part = crossing.share[i] / 65535;
      groups.push(el("li", {}, el("b", {}, this.page.groups[crossing.group[i]]), `: ${what}, ${percent(part).replace(" ", "\u00a0")} of the link`));
    }
    if (groups.length === 0) return [el("p", { class: "faint" }, "No flow crosses this link.")];
    const top: HTMLElement[] = [];
    for (let i = crossing.topStarts[link]; i < crossing.topStarts[link + 1]; i++) {
      const way = `${names[crossing.from[i]]} -> ${names[crossing.to[i]]}`;
      top.push(el("li", {}, `${way}: ${withUnit((crossing.topShare[i] / 65535) * rate, "B/s")}`));
    }
    const fastest = top.length > 0 ? [el("h4", {}, "Fastest flows"), el("ul", {}, ...top)] : [];
    return [el("h4", {}, "Flows that cross it"), el("ul", {}, ...groups), ...fastest];
  }
}
