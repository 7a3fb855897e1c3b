// Elements built without markup in strings, since names come from users' files.

type Child = Node | string;
type Attributes = Record<string, string | number | boolean>;

/** An element with attributes and children; text stays text, whatever it contains. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children);
  return made;
}

/** Text in which backticks mark code. */
export function coded(text: string): Child[] {
  return text.split("`").flatMap((part, i, all): Child[] => {
    if (i % 2 === 1 && i < all.length - 1) return [el("code", {}, part)];
    return arrows(i % 2 === 1 ? `\`${part}` : part.replace(/(?<=\d) us\b/g, " µs"));
  });
}

/** Text without line breaks inside the arrow of a link. */
function arrows(text: string): Child[] {
  return text.split("->").flatMap((part, i) => (i === 0 ? [part] : [el("span", { class: "whole" }, "->"), part]));
}

/** A section with a heading and an id for links and tests. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  const heading = el("h2", { id: `${id}-title` }, title);
  return el("section", { id, "aria-labelledby": `${id}-title` }, heading, ...children);
}

/** Makes the browser save a text as a file. */
export function saved(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** A drop-down list; null if there is no choice. */
export function choice<T extends string | number>(
  label: string,
  options: [T, string][],
  chosen: T,
  then: (value: T) => void,
): HTMLElement | null {
  if (options.length < 2) return null;
  const list = el("select", {}, ...options.map(([, text], i) => el("option", { value: i }, text)));
  list.selectedIndex = options.findIndex(([value]) => value === chosen);
  list.addEventListener("change", () => then(options[list.selectedIndex][0]));
  return el("label", { class: "choice" }, `${label} `, list);
}

/** Limits calls to one per drawn frame. */
export function throttled(work: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      work();
    });
  };
}
