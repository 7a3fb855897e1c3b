// Reads a payload: base64 of raw deflate of a header in JSON and typed arrays. Its counterpart is crates/report.

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array;

export interface Fabric {
  form: "rows" | "dumbbell" | "grid" | "groups" | "circle";
  hosts: number;
  switches: number;
  names: string[];
  level: Uint8Array;
  x: Float32Array;
  y: Float32Array;
  from: Uint32Array;
  to: Uint32Array;
  port: Uint16Array;
  rates: number[];
  rate: Uint16Array;
  delays: number[];
  delay: Uint16Array;
}

export interface Lane {
  vl: number;
  occupancy: Uint8Array;
  role: Uint8Array;
}

export type Detail = "stalled" | "marked" | "busy";

export interface Frames {
  times: number[];
  lanes: Lane[];
  details: Partial<Record<Detail, Uint8Array>>;
}

export interface Column {
  name: string;
  /** A kind of the core's tables, or of a page: `text`, a `link`, a `page` next to this one. */
  kind: "name" | "number" | "count" | "share" | "index" | "ratio" | "rate" | "time" | "bytes" | "quantity" | "flag" | "text" | "link" | "page";
  unit: string;
  meaning?: string;
}

export type Cell = number | string | null;

export interface Table {
  name: string;
  /** What a row represents, for tables for which the page has no words. */
  about?: string;
  total: number;
  columns: Column[];
  rows: Cell[][];
}

export interface Crossing {
  starts: Uint32Array;
  group: Uint16Array;
  flows: Uint32Array;
  sources: Uint32Array;
  share: Uint16Array;
  topStarts: Uint32Array;
  from: Uint32Array;
  to: Uint32Array;
  of: Uint16Array;
  topShare: Uint16Array;
}

export interface Growth {
  step: number;
  roots: Float32Array;
  branches: Float32Array;
  rows: {
    steps: number;
    roles: Uint8Array;
    of: { link: number; vl: number; since: number; root: number; branch: number }[];
  };
}

export interface Run {
  replication: number;
  fingerprint: string;
  /** Who suffers, and from what, in one sentence; null without the tables. */
  verdict: string | null;
  /** What a comparison of two runs reads. */
  outcome: object;
  packetHops: number;
  /** End of the run in seconds. */
  end: number;
  /** Total numbers of outputs, although tables show only the first rows; `first` is the worst root. */
  roles: { roots: number; branches: number; first: { link: number; since: number | null } | null } | null;
  frames: Frames | null;
  links: Record<"utilization" | "stalled" | "marked" | "root" | "branch", Uint8Array> | null;
  /** Bytes that victims lose: victim, link at which it waits, root (-1: unknown, -2: others), contributors, bytes. */
  blocking: [string, number, number, string, number][] | null;
  crossing: Crossing | null;
  growth: Growth | null;
  overTime: { times: number[]; rates: Float32Array; marked: Float32Array | null; window: number } | null;
  latencies: { packets: number; times: Float32Array; shares: Float32Array }[];
  victims: Uint32Array;
  tables: Table[];
}

/** Activity of a job's ranks over time, if its operations were recorded. */
export interface Operations {
  job: string;
  /** `steps` has a digit for each step of the job: 0 nothing, 1 computes, 2 messages in flight, 3 waits for others to
   * send; `times` are the seconds of 1 to 3. */
  lanes: { rank: number; host: string; steps: string; times: number[] }[];
  /** For each step, the rank on the critical path, or -1. */
  path: number[];
  /** The critical path in words. */
  summary: string;
}

export interface About {
  title: string;
  /** The first sentence of a page of many runs, or of two. */
  verdict?: string;
  /** The name of a run beside another one. */
  run?: string;
  facts: string[];
  notes: string[];
  /** Sentences by topic, each with its link or host and the section that shows its rows, if there are any. Those with
   * `lead` are shown at first, the others on demand. */
  diagnosis: { topic: string; text: string; place: string; anchor: string; lead: boolean }[];
  scenario: string;
  /** How to run it again: the name of the scenario's file, commands, and a note. */
  again: { file: string; commands: string[]; note: string };
  parameters: [string, string][];
  provenance: [string, string][];
  /** By replication. */
  operations?: Record<string, Operations[]>;
}

export interface RunPage {
  kind: "run";
  about: About;
  duration: number;
  warmup: number;
  groups: string[];
  fabric: Fabric;
  every: number;
  omitted: string[];
  runs: Run[];
}

export interface Panel {
  title: string;
  unit: string;
  kind: Column["kind"];
  x: { name: string; values: Cell[]; unit: string };
  /** The upper end of the vertical axis, the same for all charts of a measure. */
  top?: number;
  lines: { name: string; values: (number | null)[]; low?: (number | null)[]; high?: (number | null)[] }[];
}

export interface Scatter {
  title: string;
  x: Column;
  y: Column;
  points: { x: number; y: number; name: string; kind: string }[];
}

export interface SweepPage {
  kind: "sweep" | "tune";
  about: About;
  panels: Panel[];
  /** Loss of a tuning's rows by number of contributors, and a table of all numbers. */
  contributors?: { chart: Panel; table: Table & { title: string } } | null;
  /** Measures of a tuning on new cases, to compare the guideline with the best parameters, and their difference. */
  comparison?: Panel[];
  compared?: string;
  scatters: Scatter[];
  tables: (Table & { title: string })[];
}

export type Page = RunPage | SweepPage;

interface Entry {
  type: "u8" | "u16" | "u32" | "f32";
  at: number;
  length: number;
  filter: "none" | "difference" | "planes";
  width: number;
}

const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array };
const FORMAT = 1;

/** The page of an encoded payload. */
export async function decode(base64: string): Promise<Page> {
  return inflated(new Blob([unpacked(base64)]));
}

/** The page of a deflated payload. */
export async function inflated(packed: Blob): Promise<Page> {
  const stream = packed.stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return parse(await new Response(stream).arrayBuffer());
}

/** Bytes from base64. A plain loop, since `Uint8Array.from` is twenty times as slow. */
function unpacked(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** The page of an inflated payload. */
export function parse(buffer: ArrayBuffer): Page {
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  if (header.format !== FORMAT) {
    throw new Error(`This page reads payloads of format ${FORMAT}, not ${header.format}.`);
  }
  const arrays = (header.arrays as Entry[]).map((entry) => read(buffer, 8 + length + entry.at, entry));
  return resolved(header, arrays) as Page;
}

function read(buffer: ArrayBuffer, at: number, entry: Entry): Numbers {
  const kind = KINDS[entry.type];
  const size = kind.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(buffer, at, entry.length * size);
  if (entry.filter === "difference") {
    for (let i = entry.width; i < bytes.length; i++) bytes[i] = (bytes[i] + bytes[i - entry.width]) & 255;
  } else if (entry.filter === "planes") {
    const planes = bytes.slice();
    for (let i = 0; i < planes.length; i++) bytes[(i % entry.length) * size + Math.floor(i / entry.length)] = planes[i];
  }
  return new kind(buffer, at, entry.length);
}

/** Replaces the header's references with the arrays. */
function resolved(value: unknown, arrays: Numbers[]): unknown {
  if (Array.isArray(value)) return value.map((each) => (typeof each === "object" ? resolved(each, arrays) : each));
  if (value === null || typeof value !== "object") return value;
  if ("$" in value) return arrays[(value as { $: number }).$];
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolved(each, arrays)]));
}
