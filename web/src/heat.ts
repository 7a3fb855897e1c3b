// Links over time: a row for each link, a column for each frame.

import type { RunPage } from "./data";
import { linkName } from "./details";
import { el } from "./dom";
import { ROOT } from "./fabric";
import { spreading } from "./spreading";
import type { Store } from "./state";
import { STEPS, onTheme, theme } from "./theme";
import { withUnit } from "./units";

const [MOST, HEIGHT, NAMES, FOOT] = [40, 13, 150, 18];

/** The picture of a replication; null without frames, or with buffers that stay empty. */
export function heat(page: RunPage, store: Store): HTMLElement | null {
  const { frames } = page.runs[store.now.run];
  const links = page.fabric.from.length;
  const shown = frames?.lanes.map((lane) => spreading(lane, links, MOST)) ?? [];
  if (!frames || frames.times.length < 2 || shown.every((rows) => rows.length === 0)) return null;
  const rows = () => shown[store.now.lane] ?? [];
  const tallest = Math.max(...shown.map((each) => each.length)) * HEIGHT + FOOT;
  const canvas = el("canvas", { class: "heat", role: "img" });
  canvas.style.height = `${tallest}px`;
  const draw = () => {
    const width = canvas.clientWidth;
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [width * ratio, tallest * ratio];
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    context.scale(ratio, ratio);
    const { occupancy, role } = frames.lanes[store.now.lane];
    const colours = theme();
    const step = (width - NAMES) / frames.times.length;
    context.font = "11px system-ui, sans-serif";
    rows().forEach((link, row) => {
      const y = row * HEIGHT;
      context.fillStyle = link === store.now.chosen ? colours.text : colours.faint;
      context.fillText(linkName(page, link), 0, y + 10, NAMES - 8);
      frames.times.forEach((_, time) => {
        const at = time * links + link;
        context.fillStyle = role[at] === ROOT ? colours.root : colours.shades[Math.round((occupancy[at] / 255) * (STEPS - 1))];
        // Roots are taller, so that they are visible without colour.
        const gap = role[at] === ROOT ? 0 : 2;
        context.fillRect(NAMES + time * step, y + gap / 2, step + 0.5, HEIGHT - 1 - gap);
      });
    });
    context.fillStyle = colours.faint;
    [0, frames.times.length - 1].forEach((time, i) => {
      context.textAlign = i === 0 ? "left" : "right";
      context.fillText(withUnit(frames.times[time], "s"), i === 0 ? NAMES : width, rows().length * HEIGHT + 13);
    });
    context.textAlign = "left";
    context.fillStyle = colours.text;
    context.fillRect(NAMES + (store.now.time + 0.5) * step, 0, 1, rows().length * HEIGHT);
    const first = rows()[0];
    canvas.setAttribute("aria-label", `buffers of ${rows().length} links over time, from ${first === undefined ? "none" : linkName(page, first)}`);
  };
  canvas.addEventListener("click", (event) => {
    const link = rows()[Math.floor(event.offsetY / HEIGHT)];
    const time = Math.floor(((event.offsetX - NAMES) / (canvas.clientWidth - NAMES)) * frames.times.length);
    if (link !== undefined) store.set({ chosen: link, ...(time >= 0 ? { time } : {}) });
  });
  new ResizeObserver(draw).observe(canvas);
  onTheme(draw);
  store.on((changed) => {
    if (canvas.isConnected && (changed.has("time") || changed.has("lane") || changed.has("chosen"))) draw();
  });
  return canvas;
}
