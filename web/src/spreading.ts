// The links that a picture of links over time shows, in the order in which congestion reaches them.

import type { Lane } from "./data";

/** Weight of a frame in a role, against a frame with a full buffer. */
const ROLE = 4 * 255;

/** The links with the fullest buffers and the longest times in a role, at most `most`, by the first frame in a role. Links
 * that never have a role come last. Links whose buffers stay empty are left out. */
export function spreading({ occupancy, role }: Pick<Lane, "occupancy" | "role">, links: number, most: number): number[] {
  const score = new Float64Array(links);
  const first = new Float64Array(links).fill(Number.POSITIVE_INFINITY);
  for (let at = 0; at < occupancy.length; at++) {
    const link = at % links;
    score[link] += occupancy[at] + (role[at] > 0 ? ROLE : 0);
    if (role[at] > 0 && first[link] === Number.POSITIVE_INFINITY) first[link] = Math.floor(at / links);
  }
  const known = Array.from(score.keys()).filter((link) => score[link] > 0);
  const worst = known.sort((a, b) => score[b] - score[a] || a - b).slice(0, most);
  return worst.sort((a, b) => (first[a] === first[b] ? score[b] - score[a] || a - b : first[a] - first[b]));
}
