// SPDX-License-Identifier: Apache-2.0
// The score of a sample of mutants, and how sure it is.
import { dirname } from "node:path";

/** Returns Wilson's interval of a share: where the share of all lies, 19 times out of 20. */
export function interval(hits, size) {
  const z = 1.96;
  const share = hits / size;
  const centre = share + z ** 2 / (2 * size);
  const reach = z * Math.sqrt((share * (1 - share)) / size + z ** 2 / (4 * size ** 2));
  return [(centre - reach) / (1 + z ** 2 / size), (centre + reach) / (1 + z ** 2 / size)];
}

/** Prints the score of results: the share that a test detects, its interval, and the counts. */
export function scoreLine(name, results) {
  const detected = results.filter(({ status }) => status === "killed" || status === "looped").length;
  const [low, high] = interval(detected, results.length);
  const share = percent(detected / results.length).padStart(6);
  return `${name.padEnd(24)}${share} (${percent(low)} to ${percent(high)}): ${detected} of ${results.length}`;
}

/** Prints a score line for each folder of the server, its own files, and the state; the lowest first. */
export function scoresByRoom(results) {
  const rooms = new Map();
  for (const result of results) {
    const room = dirname(result.file).replace("packages/protocol/src/", "");
    rooms.set(room, [...(rooms.get(room) ?? []), result]);
  }
  const share = (list) => list.filter(({ status }) => status === "killed" || status === "looped").length / list.length;
  return [...rooms].sort((a, b) => share(a[1]) - share(b[1])).map(([room, list]) => scoreLine(room, list));
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}
