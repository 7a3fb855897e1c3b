// The panel of the fabric over time: canvas, time slider, choices of what is shown, zoom.

import type { RunPage } from "./data";
import { choice, el, section, throttled } from "./dom";
import { Painter, type Scene, ends, roles, values } from "./fabric";
import { type Geometry, type View, geometry, rootTree, treeGeometry, treeLinks } from "./geometry";
import type { Focus, Mode, Store } from "./state";
import { STEPS, onTheme, theme } from "./theme";
import { withUnit } from "./units";

const MODES: Record<Mode, string> = {
  occupancy: "buffers at this time",
  stalled: "waits for credit at this time",
  marked: "marked packets at this time",
  busy: "load at this time",
  utilization: "load over the entire window",
  stalledWhole: "waits for credit over the entire window",
};
/** Milliseconds between two played frames. */
const PACE = 90;
/** Distance in pixels within which the pointer selects a link or node. */
const NEAR = 7;

export class Film {
  readonly element: HTMLElement;
  /** Durations of the last pictures in milliseconds. */
  readonly took: number[] = [];
  private readonly canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": "fabric" });
  private readonly slider = el("input", { type: "range", min: 0, step: 1, "aria-label": "time" });
  private readonly clock = el("output", { class: "clock" });
  private readonly button = el("button", { type: "button", class: "play" }, "▶ Play");
  private readonly painter = new Painter();
  /** Canvas and details, above the controls for time, modes and zoom. */
  readonly stage: HTMLElement;
  readonly controls: HTMLElement;
  private readonly legend = el("canvas", { width: 140, height: 10, "aria-hidden": "true" });
  private view: View = { scale: 1, x: 0, y: 0 };
  private placed: Geometry | null = null;
  private lines: number[] = [];
  private playing = 0;

  constructor(
    private page: RunPage,
    private readonly store: Store,
    details: HTMLElement,
    private readonly name = "the fabric",
  ) {
    const box = el("div", { class: "fabric" }, this.canvas);
    this.stage = el("div", { class: "stage" }, box, details);
    this.controls = this.row();
    this.element = section("fabric", "Fabric over time", this.stage, this.controls);
    this.listen();
    new ResizeObserver(() => this.place()).observe(this.canvas);
    onTheme(() => this.draw());
    store.on((changed) => {
      if (changed.has("run") || changed.has("focus")) this.place();
      else this.draw();
    });
  }

  /** Shows another run of the same fabric; zoom and time do not change. */
  show(page: RunPage): void {
    this.page = page;
    this.slider.max = String((this.frames?.times.length ?? 1) - 1);
    if (this.store.now.focus !== "all" || !this.placed) this.place();
    else this.draw();
  }

  private get run() {
    return this.page.runs[this.store.now.run];
  }

  private get frames() {
    return this.run.frames;
  }

  private row(): HTMLElement {
    const { store } = this;
    const modes = this.modes();
    const lanes = (this.frames?.lanes ?? []).map((lane, i): [number, string] => [i, `VL ${lane.vl}`]);
    const parts: [Focus, string][] = [["all", "all of the fabric"], ["trees", "all congestion trees"], ["root", "the tree of the worst root"]];
    const known = parts.filter(([part]) => part !== "root" || this.page.runs.some((run) => run.roles?.first));
    const last = (this.frames?.times.length ?? 1) - 1;
    this.slider.max = String(last);
    this.slider.value = String(store.now.time);
    this.slider.addEventListener("input", () => store.set({ time: Number(this.slider.value) }));
    this.button.addEventListener("click", () => this.play(this.playing === 0));
    const row = el("div", { class: "controls" });
    if (last > 0) row.append(el("div", { class: "time" }, this.button, this.slider, this.clock));
    for (const item of [
      choice("Show", modes, store.now.mode, (mode) => store.set({ mode })),
      choice("Draw", known, store.now.focus, (focus) => store.set({ focus })),
      choice("Lane", lanes, store.now.lane, (lane) => store.set({ lane })),
    ]) {
      if (item) row.append(item);
    }
    row.append(this.zoomButtons(), this.key());
    return row;
  }

  private modes(): [Mode, string][] {
    const known: Mode[] = this.frames ? ["occupancy", ...(["stalled", "marked", "busy"] as const).filter((name) => this.frames?.details[name])] : [];
    if (this.run.links) known.push("utilization", "stalledWhole");
    return known.map((mode) => [mode, MODES[mode]]);
  }

  private key(): HTMLElement {
    const root = el("span", { class: "root" }, "◆");
    const victim = el("span", { class: "victim" }, "■");
    return el("span", { class: "key" }, "0 ", this.legend, " full  ", root, " root of congestion  ", victim, " victim");
  }

  private zoomButtons(): HTMLElement {
    const button = (label: string, name: string, work: () => void) => {
      const made = el("button", { type: "button", title: name, "aria-label": name }, label);
      made.addEventListener("click", work);
      return made;
    };
    const middle = () => [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2] as const;
    return el(
      "div",
      { class: "zoom" },
      button("+", "zoom in", () => this.zoom(1.5, ...middle())),
      button("−", "zoom out", () => this.zoom(1 / 1.5, ...middle())),
      button("⤢", "whole fabric", () => this.zoom(0, 0, 0)),
    );
  }

  private listen(): void {
    const { canvas, store } = this;
    let dragged: [number, number] | null = null;
    canvas.addEventListener("wheel", (event) => {
      // Without the key the page scrolls, as readers expect.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
    });
    canvas.addEventListener("pointerdown", (event) => {
      dragged = [event.offsetX, event.offsetY];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", (event) => {
      const moved = dragged && Math.hypot(event.offsetX - dragged[0], event.offsetY - dragged[1]) > 4;
      if (!moved) store.set({ chosen: this.nearest(event.offsetX, event.offsetY) });
      dragged = null;
    });
    let [x, y] = [0, 0];
    const look = throttled(() => store.set({ hovered: this.nearest(x, y) }));
    canvas.addEventListener("pointermove", (event) => {
      if (dragged && this.view.scale > 1) {
        this.view.x += event.offsetX - x;
        this.view.y += event.offsetY - y;
        this.draw();
      }
      [x, y] = [event.offsetX, event.offsetY];
      if (!dragged) look();
    });
    canvas.addEventListener("pointerleave", () => store.set({ hovered: -1 }));
    canvas.addEventListener("keydown", (event) => this.pressed(event));
  }

  private pressed(event: KeyboardEvent): void {
    const { store } = this;
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10 }[event.key];
    const zoom = { "+": 1.5, "-": 1 / 1.5, "0": 0 }[event.key];
    if (step !== undefined) this.go(store.now.time + step);
    else if (zoom !== undefined) this.zoom(zoom, this.canvas.clientWidth / 2, this.canvas.clientHeight / 2);
    else if (event.key === " ") this.play(this.playing === 0);
    else if (event.key === "Escape") store.set({ chosen: -1 });
    else return;
    event.preventDefault();
  }

  /** Shows a time by its index. */
  go(time: number): void {
    const last = (this.frames?.times.length ?? 1) - 1;
    this.store.set({ time: Math.max(0, Math.min(last, time)) });
  }

  private play(on: boolean): void {
    window.clearInterval(this.playing);
    this.playing = 0;
    this.button.textContent = on ? "❚❚ Pause" : "▶ Play";
    if (!on) return;
    const last = (this.frames?.times.length ?? 1) - 1;
    if (this.store.now.time >= last) this.go(0);
    this.playing = window.setInterval(() => {
      if (this.store.now.time >= last) this.play(false);
      else this.go(this.store.now.time + 1);
    }, PACE);
  }

  private zoom(factor: number, x: number, y: number): void {
    const scale = Math.min(60, this.view.scale * factor);
    const moved = (value: number, shift: number) => value - ((value - shift) * scale) / this.view.scale;
    this.view = scale <= 1 ? { scale: 1, x: 0, y: 0 } : { scale, x: moved(x, this.view.x), y: moved(y, this.view.y) };
    this.draw();
  }

  private place(): void {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (width === 0 || height === 0) return;
    const { fabric } = this.page;
    const { focus } = this.store.now;
    const tree = focus === "root" ? rootTree(fabric, this.run) : null;
    const links = focus === "trees" ? treeLinks(this.run) : [];
    this.placed = tree ? treeGeometry(fabric, tree, width, height) : geometry(fabric, links.length > 0 ? links : null, width, height);
    this.view = { scale: 1, x: 0, y: 0 };
    this.draw();
  }

  private scene(): Scene | null {
    if (!this.placed) return null;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const { page, run, view } = this;
    return { fabric: page.fabric, run, geometry: this.placed, view, theme: theme(), width, height };
  }

  /** The number of victims in the picture, and of all. */
  victims(): [number, number] {
    const shown = new Set(this.placed?.nodes);
    return [this.run.victims.filter((node) => shown.has(node)).length, this.run.victims.length];
  }

  draw(): void {
    const scene = this.scene();
    if (!scene) return;
    const start = performance.now();
    const { now } = this.store;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(scene.width * ratio), Math.round(scene.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    const context = this.canvas.getContext("2d") as CanvasRenderingContext2D;
    const links = this.page.fabric.from.length;
    const lane = this.frames?.lanes[now.lane];
    const shown = values(this.run, lane, now.mode, now.time, links);
    this.lines = this.painter.draw(context, scene, shown, roles(this.run, lane, now.mode, now.time, links), ratio);
    for (const link of [now.chosen, now.hovered]) if (link >= 0) this.highlight(context, scene, link);
    this.painter.finish(context);
    this.took.push(performance.now() - start);
    this.describe();
  }

  private highlight(context: CanvasRenderingContext2D, scene: Scene, link: number): void {
    const [x0, y0, x1, y1] = ends(scene, link);
    if (Number.isNaN(x0 + x1)) return;
    context.strokeStyle = scene.theme.text;
    context.lineWidth = 1.5;
    context.setLineDash([3, 3]);
    context.beginPath();
    for (const shift of [-4, 4]) {
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      const [dx, dy] = [(-shift * (y1 - y0)) / length, (shift * (x1 - x0)) / length];
      context.moveTo(x0 + dx, y0 + dy);
      context.lineTo(x1 + dx, y1 + dy);
    }
    context.stroke();
    context.setLineDash([]);
  }

  private describe(): void {
    const { now } = this.store;
    const time = this.frames?.times[now.time];
    const text = time === undefined ? "" : withUnit(time, "s");
    this.clock.textContent = text;
    this.slider.value = String(now.time);
    this.slider.setAttribute("aria-valuetext", text);
    const whole = now.mode === "utilization" || now.mode === "stalledWhole" || time === undefined;
    this.canvas.setAttribute("aria-label", whole ? `${this.name} over the entire window` : `${this.name} at ${text}`);
    const context = this.legend.getContext("2d") as CanvasRenderingContext2D;
    theme().shades.forEach((shade, i) => {
      context.fillStyle = shade;
      context.fillRect((i * 140) / STEPS, 0, 140 / STEPS + 1, 10);
    });
  }

  /** The link under a point, or -1. */
  private nearest(x: number, y: number): number {
    const scene = this.scene();
    if (!scene) return -1;
    let [best, least] = [-1, NEAR];
    for (const link of this.lines) {
      const [x0, y0, x1, y1] = ends(scene, link);
      const [dx, dy] = [x1 - x0, y1 - y0];
      const along = Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
      const distance = Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
      if (distance < least) [best, least] = [link, distance];
    }
    return best;
  }
}
