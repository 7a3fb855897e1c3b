// Numbers in readable form.

const PREFIXES: [number, string][] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
  [1e-3, "m"],
  [1e-6, "µ"],
  [1e-9, "n"],
  [1e-12, "p"],
];

/** Three digits, without an exponent. */
export function digits(value: number): string {
  const size = Math.abs(value);
  const places = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2;
  return value.toFixed(places);
}

/** A value with a prefix and its unit, such as `1.56 GB/s` or `545 µs`. */
export function withUnit(value: number | null, unit: string): string {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return "∞";
  if (unit !== "s" && unit !== "B/s" && unit !== "B") return `${count(value)} ${unit}`.trim();
  if (value === 0) return `0 ${unit}`;
  const size = Math.abs(value) * 1.0005;
  const [factor, prefix] = PREFIXES.find(([factor]) => size >= factor) ?? PREFIXES[PREFIXES.length - 1];
  return `${digits(value / factor)} ${prefix}${unit}`;
}

/** Above this, a value is not a share. Packets at the ends of a window may make a full link slightly more than full. */
const MOST_SHARE = 1.005;

/** A share in per cent; a dash if undefined or too large to be a share. */
export function percent(share: number | null): string {
  if (share === null || Number.isNaN(share) || share > MOST_SHARE) return "–";
  const value = 100 * Math.min(share, 1);
  return `${value > 0 && value < 0.05 ? "<0.1" : value.toFixed(value >= 99.95 || value === 0 ? 0 : 1)} %`;
}

/** An integer with thousands separators; other numbers with three digits. */
export function count(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en") : digits(value);
}

/** The prefix that fits the largest of some values: the divisor, and the unit with the prefix. */
export function scaled(largest: number, unit: string): [number, string] {
  if (unit !== "s" && unit !== "B/s" && unit !== "B") return [1, unit];
  const [factor, prefix] = PREFIXES.find(([factor]) => largest >= factor) ?? [1, ""];
  return [factor, `${prefix}${unit}`];
}

/** The share that a byte represents. */
export function share(byte: number): number {
  return byte / 255;
}

/** Positions of an axis's numbers: both ends and the middle, as integers if fractions are meaningless. */
export function ticks([low, high]: [number, number], whole: boolean): number[] {
  if (!whole) return [low, (low + high) / 2, high];
  const [first, last] = [Math.ceil(low), Math.floor(high)];
  return [...new Set([first, Math.round((first + last) / 2), last])];
}

/** The singular of a unit: `packet` for `packets`; symbols such as `us` stay. */
export function singular(unit: string): string {
  return /^[a-z]{3,}s$/.test(unit) ? unit.slice(0, -1) : unit;
}
