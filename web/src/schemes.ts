// The schemes of a scenario, and its text with another scheme. The core's catalogue lists the available schemes.

import type { Catalogue, Entry, Parameter } from "./core";
import type { Kind } from "./kinds";

/** Values of a scheme's default preset, since its parameters have no other default. */
const PRESETS: Record<string, Record<string, number | string>> = {
  dcqcn: { g: 0.00390625, alpha_timer: "55 us", increase_timer: "55 us", fast_recovery: 5, min_rate: 100 },
};

/** Largest number of parameters of a scheme that get sliders. */
const MOST_SLIDERS = 5;
/** A slider ranges from its default divided by this to its default times this, if the parameter's range is wider. */
const SPREAD = 16;

/** Lines of the tables of schemes, by kind and name: `response.ibta`. */
export type Blocks = Map<string, string[]>;

/** The lines of a text's table of a kind. */
export function block(text: string, kind: Kind): string[] {
  const lines = text.split("\n");
  return span(lines, kind).map((at) => lines[at]);
}

/** The text with another scheme instead of its own; values of shared parameters are kept. A scheme whose table is known
 * gets this table. */
export function swapped(text: string, kind: Kind, scheme: Entry, known: Blocks = new Map()): string {
  const lines = text.split("\n");
  const old = [...span(lines, kind)];
  const kept = old.map((at) => lines[at]);
  // Lines between a block and the next heading belong to the next block.
  const first = old.length > 0 ? old[0] : place(lines);
  const gone = new Set(old);
  const rest = (from: number, until: number) => lines.slice(from, until).filter((_, i) => !gone.has(from + i));
  const before = known.get(`${kind}.${scheme.name}`) ?? [];
  const made = before.length > 0 ? [...before] : table(kind, scheme, kept);
  if (old.length === 0) made.push("");
  return [...rest(0, first), ...made, ...rest(first, lines.length)].join("\n");
}

/** The text with another response and a suitable marking and echo, and a list of the changes. */
export function fitted(text: string, response: string, now: Record<Kind, string>, catalogue: Catalogue, known: Blocks = new Map()): { text: string; changed: string[] } {
  const changed: string[] = [];
  const put = (text: string, kind: Kind, name: string) => {
    const scheme = catalogue[kind]?.find((entry) => entry.name === name);
    return scheme ? swapped(text, kind, scheme, known) : text;
  };
  let made = put(text, "response", response);
  const fit = catalogue.response?.find((entry) => entry.name === response)?.companions;
  if (!fit) return { text: made, changed };
  const { marking: own } = now;
  const marking = fit.also === "any" || (fit.also === "mark" && own !== "none") ? own : fit.marking;
  for (const [kind, name] of [["marking", marking], ["echo", fit.echo]] as const) {
    if (now[kind] === name) continue;
    made = put(made, kind, name);
    changed.push(`${kind} ${name}`);
  }
  return { text: made, changed };
}

/** The lines of a kind's tables: headings, keys below them, and dotted keys. */
function span(lines: string[], kind: Kind): number[] {
  const own = new RegExp(String.raw`^\s*\[\s*${kind}\s*(\.|\])`);
  const dotted = new RegExp(String.raw`^\s*${kind}\s*(\.[\w.-]+\s*)?=`);
  const found: number[] = [];
  let [inside, before] = [false, true];
  lines.forEach((line, at) => {
    if (/^\s*\[/.test(line)) {
      inside = own.test(line);
      before = false;
    }
    if (inside ? line.trim() !== "" && !/^\s*#/.test(line) : before && dotted.test(line)) found.push(at);
  });
  return found;
}

/** The position of a new table: before the first group of flows or job. */
function place(lines: string[]): number {
  let at = lines.findIndex((line) => /^\s*\[\[\s*(flows|jobs)\s*\]\]/.test(line));
  if (at < 0) return lines.length;
  while (at > 0 && /^\s*#/.test(lines[at - 1])) at--;
  return at;
}

function table(kind: Kind, scheme: Entry, old: string[]): string[] {
  const own = (name: string) => old.find((line) => new RegExp(String.raw`^\s*${name}\s*=`).test(line));
  const made: string[] = [];
  for (const parameter of scheme.parameters) {
    const line = own(parameter.name) ?? (made.length < MOST_SLIDERS ? written({ ...parameter, default: parameter.default ?? PRESETS[scheme.name]?.[parameter.name] ?? null }) : null);
    if (line) made.push(line);
  }
  return [`[${kind}.${scheme.name}]`, ...made];
}

/** A numeric parameter that is worth changing, with its slider. */
function written({ name, kind, minimum, maximum, required, default: preset }: Parameter): string | null {
  const whole = kind.startsWith("an integer");
  const time = kind.startsWith("a time");
  if (!whole && !time && !kind.startsWith("a finite number")) return null;
  const bounds = minimum !== null && maximum !== null ? [minimum, maximum] : null;
  const [number, unit] = time ? (/^([\d.]+) (\S+)$/.exec(String(preset))?.slice(1) ?? []) : [preset, ""];
  const value = number === null || number === undefined ? (required && bounds ? bounds[1] / 2 : 0) : Number(number);
  if (!(value > 0)) return null;
  const [low, high] = bounds ?? [value / SPREAD, value * SPREAD];
  const wide = high / value > SPREAD;
  const from = wide ? Math.max(low, whole ? Math.floor(value / SPREAD) : value / SPREAD) : low;
  const to = wide ? value * SPREAD : high;
  const text = time ? `"${value} ${unit}"` : String(value);
  return `${`${name} = ${text}`.padEnd(28)}# slider "${name.replaceAll("_", " ")}" ${from}..${to}${wide ? " log" : ""}`;
}
