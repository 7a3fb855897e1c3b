// Reads the payload of this page and draws it.

import { type RunPage, decode } from "./data";
import { el } from "./dom";
import { livePage } from "./live";
import { pairPage } from "./pair";
import { runPage } from "./run";
import { sweepPage } from "./sweep";

declare global {
  interface Window {
    /** For tests and scripts: `go` shows a time, `took` returns the durations of pictures, `victims` the numbers of victims
     * in the picture and of all. */
    becalm?: { go: (time: number) => void; times: number; took: () => number[]; victims: () => [number, number] };
  }
}

async function main(): Promise<void> {
  const root = document.getElementById("page") as HTMLElement;
  const payload = document.getElementById("payload")?.textContent;
  const others = ["second", "third"].flatMap((id) => document.getElementById(id)?.textContent ?? []);
  try {
    if (document.getElementById("live")) {
      await livePage(root);
      return;
    }
    if (!payload) throw new Error("This page is a template without results; becalm report fills it in.");
    const page = await decode(payload);
    if (others.length > 0 && page.kind === "run") {
      pairPage([page, ...((await Promise.all(others.map(decode))) as RunPage[])], root);
    } else if (page.kind !== "run") {
      sweepPage(page, root);
    } else {
      const { store, film } = runPage(page, root);
      const go = (time: number) => {
        film.go(time);
        store.tell();
      };
      window.becalm = { go, times: page.runs[0].frames?.times.length ?? 0, took: () => film.took, victims: () => film.victims() };
    }
    root.dataset.ready = "true";
  } catch (error) {
    root.replaceChildren(el("p", { role: "alert" }, error instanceof Error ? error.message : String(error)));
  }
}

void main();
