// Recordings of several runs at the same times. Their intervals may differ, since "auto" depends on the end of a run.

import type { Frames, Run } from "./data";

type OverTime = NonNullable<Run["overTime"]>;

/** The runs, each at the times of the one that ends last: what it had recorded by then. */
export function aligned(runs: Run[]): Run[] {
  const frames = latest(runs.map((run) => run.frames?.times ?? []));
  const overTime = latest(runs.map((run) => run.overTime?.times ?? []));
  return runs.map((run) => ({
    ...run,
    frames: run.frames && framesAt(run.frames, rows(run.frames.times, frames)),
    overTime: run.overTime && overTimeAt(run.overTime, rows(run.overTime.times, overTime)),
  }));
}

function latest(each: number[][]): number[] {
  const end = (times: number[]) => times.at(-1) ?? 0;
  return each.reduce((a, b) => (end(b) > end(a) ? b : a));
}

/** The last row by each of the given times, up to the end of the run. */
function rows(times: number[], at: number[]): number[] {
  const made: number[] = [];
  let row = 0;
  for (const time of at) {
    if (made.at(-1) === times.length - 1) break;
    // Seconds are rounded.
    while (row + 1 < times.length && times[row + 1] <= time * (1 + 1e-9)) row++;
    made.push(row);
  }
  return made;
}

function framesAt({ times, lanes, details }: Frames, kept: number[]): Frames {
  const of = (bytes: Uint8Array) => {
    const width = bytes.length / times.length;
    const made = new Uint8Array(kept.length * width);
    kept.forEach((row, at) => made.set(bytes.subarray(row * width, (row + 1) * width), at * width));
    return made;
  };
  return {
    times: kept.map((row) => times[row]),
    lanes: lanes.map(({ vl, occupancy, role }) => ({ vl, occupancy: of(occupancy), role: of(role) })),
    details: Object.fromEntries(Object.entries(details).map(([name, bytes]) => [name, of(bytes)])),
  };
}

function overTimeAt({ times, rates, marked, window }: OverTime, kept: number[]): OverTime {
  const of = (values: Float32Array) => {
    const groups = values.length / times.length;
    return Float32Array.from({ length: groups * kept.length }, (_, at) => values[Math.floor(at / kept.length) * times.length + kept[at % kept.length]]);
  };
  return { times: kept.map((row) => times[row]), rates: of(rates), marked: marked && of(marked), window };
}
