// Tables that are sorted by clicking, with bars in the cells of shares.

import type { Cell, Column, Table } from "./data";
import { el } from "./dom";
import { count, digits, percent, withUnit } from "./units";

/** A page next to this one; no other address becomes a link. */
const PAGE = /^[^/:?#\\]+\/[0-9a-f]+\.html$/;

/** Largest number of characters in a text that stays on one line. */
const SHORT = 24;

export interface Names {
  /** The text of a link's cell, and the action when it is clicked. */
  link?: (link: number) => string;
  choose?: (link: number) => void;
}

/** A table with a caption; rows keep their original order until a heading is clicked. */
export function table(data: Table, names: Names): HTMLElement {
  const body = el("tbody");
  let sorted: { column: number; down: boolean } | null = null;
  const heads = data.columns.map((column, i) => {
    const button = el("button", { type: "button" }, ...heading(column).split(/(?<=\.)/).flatMap((part) => [el("wbr"), part]));
    const head = el("th", { scope: "col", class: column.kind, ...(column.meaning ? { title: column.meaning.replaceAll("`", "") } : {}) }, button);
    button.addEventListener("click", () => {
      sorted = { column: i, down: sorted?.column === i ? !sorted.down : !["name", "text", "link", "page"].includes(column.kind) };
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      body.replaceChildren(...order(data, sorted.column, sorted.down, names).map((row) => line(data, row, names)));
    });
    return head;
  });
  body.append(...data.rows.map((row) => line(data, row, names)));
  const scroll = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `table of ${title(data.name)}` });
  scroll.append(el("table", { class: "data" }, el("thead", {}, el("tr", {}, ...heads)), body));
  return scroll;
}

/** The number of rows, and of shown rows if some are hidden. */
export function counted(data: Table): string {
  const [shown, total] = [data.rows.length, data.total];
  return shown < total ? `the first ${shown} of ${total.toLocaleString("en")}` : total.toLocaleString("en");
}

/** A readable name; a scenario's key, which contains dots, is unchanged. */
export function title(name: string): string {
  return name.includes(".") ? name : name.replaceAll("_", " ");
}

function heading(column: Column): string {
  return title(column.name);
}

function order(data: Table, column: number, down: boolean, names: Names): Cell[][] {
  const key = (row: Cell[]): Cell => {
    const value = row[column];
    return data.columns[column].kind === "link" && names.link ? names.link(value as number) : value;
  };
  const compare = (a: Cell, b: Cell): number => {
    // Undefined values come last.
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    const less = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
    return down ? -less : less;
  };
  return [...data.rows].sort((a, b) => compare(key(a), key(b)));
}

function line(data: Table, row: Cell[], names: Names): HTMLElement {
  return el("tr", {}, ...row.map((value, i) => cell(data.columns[i], value, names)));
}

function cell(column: Column, value: Cell, names: Names): HTMLElement {
  const made = el("td", { class: column.kind });
  if (column.kind === "link" && typeof value === "number" && names.link) {
    const button = el("button", { type: "button", class: "link" }, names.link(value));
    button.addEventListener("click", () => names.choose?.(value));
    made.append(button);
    return made;
  }
  if (column.kind === "page" && typeof value === "string" && PAGE.test(value)) {
    made.append(el("a", { href: value }, value.replace(/^.*\//, "").replace(".html", "")));
    return made;
  }
  made.textContent = written(column, value);
  if (column.kind === "text" && made.textContent.length <= SHORT) made.classList.add("short");
  if (column.kind === "share" && typeof value === "number") {
    made.style.setProperty("--share", `${Math.round(1000 * Math.min(1, value)) / 10}%`);
    made.classList.add("bar");
  }
  return made;
}

/** A value as text, by the kind of its column. */
export function written(column: Pick<Column, "kind" | "unit">, value: Cell): string {
  if (value === null) return "–";
  if (typeof value !== "number") return value === "inf" ? "∞" : String(value);
  switch (column.kind) {
    case "name":
    case "text":
      return String(value);
    case "share":
      return percent(value);
    case "index":
      return value.toFixed(3);
    case "ratio":
      return value.toFixed(2);
    case "flag":
      return value ? "yes" : "no";
    case "count":
      return count(value);
    case "number":
      // On pages of sweeps, a number that identifies something has neither unit nor fraction.
      return column.unit === "" ? (Number.isInteger(value) ? String(value) : digits(value)) : withUnit(value, column.unit);
    default:
      return withUnit(value, column.unit);
  }
}
