// Sliders of a scenario, declared in comments on the lines of the numbers that they change, with their ranges. The text
// is the only state of the page: a slider changes a number in it.
//
//     ccti_timer = 10            # slider "timer" 1..1000 log
//     from = ["H1..H20"]         # slider "hot sources" 1..31
//
// The slider changes the last number of the value; a unit after the number is kept.

export interface Slider {
  /** Line number, from 0. */
  line: number;
  name: string;
  unit: string;
  value: number;
  low: number;
  high: number;
  /** Smallest change; 0 if it follows from the range. */
  step: number;
  log: boolean;
}

const NUMBER = String.raw`-?\d+(?:\.\d+)?(?:e[+-]?\d+)?`;
const NOTE = new RegExp(String.raw`#\s*slider\s+"([^"]+)"\s+(${NUMBER})\.\.(${NUMBER})(?:\s+step\s+(${NUMBER}))?(\s+log)?\s*$`, "i");
const LAST = new RegExp(String.raw`(${NUMBER})([^\d]*)$`, "i");

/** Number of positions of a slider without a step. */
const PLACES = 100;

/** The sliders of a text, in the order of their lines; each line can have only one. */
export function sliders(text: string): Slider[] {
  return text.split("\n").flatMap((line, number) => slider(line, number) ?? []);
}

function slider(line: string, number: number): Slider | null {
  const note = NOTE.exec(line);
  if (!note) return null;
  const found = LAST.exec(line.slice(0, note.index));
  const [low, high] = [Number(note[2]), Number(note[3])];
  if (!found || !(high > low) || (note[5] && low < 0)) return null;
  const unit = /^\s*([A-Za-zµ%/]+)/.exec(found[2])?.[1] ?? "";
  const value = Number(found[1]);
  const whole = [low, high, value].every(Number.isInteger);
  return { line: number, name: note[1], unit, value, low, high, step: Number(note[4] ?? (whole && !note[5] ? 1 : 0)), log: note[5] !== undefined };
}

/** The text with another number on a slider's line. */
export function moved(text: string, slider: Slider, value: number): string {
  const lines = text.split("\n");
  const line = lines[slider.line];
  const note = NOTE.exec(line);
  if (!note) return text;
  const before = line.slice(0, note.index);
  const written = before.trimEnd().replace(LAST, (_, _old: string, rest: string) => `${short(value)}${rest}`);
  // The comment keeps its column if there is space.
  lines[slider.line] = written.padEnd(Math.max(before.length, written.length + 1)) + line.slice(note.index);
  return lines.join("\n");
}

/** The control's highest position, counted from 0. */
export function positions(slider: Slider): number {
  return slider.step > 0 ? Math.max(1, Math.round((slider.high - slider.low) / slider.step)) : PLACES;
}

/** The position nearest to a value. */
export function position(slider: Slider): number {
  const { low, high, value } = slider;
  const all = positions(slider);
  if (!slider.log) return clamp(Math.round(((value - low) / (high - low)) * all), all);
  const first = least(slider);
  if (value < first) return 0;
  const from = low === first ? 0 : 1;
  return clamp(Math.round(from + (Math.log(value / first) / Math.log(high / first)) * (all - from)), all);
}

/** The value at a position. Logarithmic sliders have values with two digits, integers if their ends are integers. */
export function at(slider: Slider, position: number): number {
  const { low, high } = slider;
  const all = positions(slider);
  if (!slider.log) return tidy(low + ((high - low) * position) / all, slider);
  const first = least(slider);
  if (position === 0) return low;
  if (position >= all) return high;
  const from = low === first ? 0 : 1;
  const value = first * (high / first) ** ((position - from) / (all - from));
  const digits = Number(value.toPrecision(2));
  return Number.isInteger(low) && Number.isInteger(high) ? Math.round(digits) : digits;
}

/** Where the logarithmic part begins; zero has a separate position. */
function least({ low, high }: Slider): number {
  return low > 0 ? low : Number.isInteger(high) ? 1 : high / 1000;
}

function tidy(value: number, { low, high, step }: Slider): number {
  const size = step > 0 ? step : (high - low) / PLACES;
  const digits = Math.max(0, Math.ceil(-Math.log10(size)) + 1);
  return Number(value.toFixed(Math.min(12, digits)));
}

function short(value: number): string {
  return String(Number(value.toPrecision(12)));
}

function clamp(position: number, all: number): number {
  return Math.max(0, Math.min(all, position));
}
