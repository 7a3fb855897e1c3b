// The page of several runs of one fabric side by side.

import type { RunPage } from "./data";
import { frame, verdict } from "./frame";
import { Versus } from "./versus";

/** Draws two or three runs; the first one's header has the page's title and verdict, and each header names its run. */
export function pairPage(pages: RunPage[], root: HTMLElement): void {
  const versus = new Versus();
  const [{ about }] = pages;
  frame(root, about, verdict(about.verdict), null, versus.element);
  versus.show(pages.map((page) => ({ title: page.about.run ?? page.about.title, note: page.runs[0].verdict ?? "", page })));
}
