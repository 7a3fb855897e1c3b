// The page of a run that goes on: it fetches the frames so far, and the complete page at the end.

import { type RunPage, inflated } from "./data";
import { el } from "./dom";
import { say, verdict } from "./frame";
import { runPage } from "./run";
import { Versus } from "./versus";

/** Pause before the next question if the server does not answer. */
const PAUSE = 1000;

/** Follows a run until its end. */
export async function livePage(root: HTMLElement): Promise<void> {
  const versus = new Versus();
  const state = verdict("Waiting for the first frames.");
  state.setAttribute("role", "status");
  const stop = el("button", { type: "button" }, "Stop the run");
  stop.addEventListener("click", () => {
    stop.disabled = true;
    void fetch("stop", { method: "POST" });
  });
  const title = el("h1", {}, "becalm");
  root.replaceChildren(el("div", { class: "top" }, el("header", {}, title, state), el("div", { class: "tools" }, stop)), versus.element);
  root.dataset.ready = "true";
  for (let number = 0, silent = 0; silent < 3; ) {
    const answer = await fetch(`data?after=${number}`).catch(() => null);
    if (!answer?.ok) {
      silent++;
      await new Promise((then) => setTimeout(then, PAUSE));
      continue;
    }
    silent = 0;
    if (answer.status === 204) continue;
    number = Number(answer.headers.get("X-Number"));
    const page = (await inflated(await answer.blob())) as RunPage;
    if (answer.headers.get("X-Over") === "yes") {
      runPage(page, root);
      root.dataset.over = "true";
      return;
    }
    title.textContent = document.title = page.about.title;
    say(state, `The run goes on: ${page.about.facts.join(" · ")}.`);
    versus.show([{ title: "Fabric so far", note: "", page }], true);
    root.dataset.frames = String(page.runs[0].frames?.times.length ?? 0);
  }
  say(state, "The run has ended without results, or was interrupted.");
  stop.hidden = true;
}
