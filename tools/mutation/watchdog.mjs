// SPDX-License-Identifier: Apache-2.0
// Ends this process when it has used a lot of processor time without a new result: a mutant is in a loop that does not meet it.
import { readFileSync, statSync } from "node:fs";

const LIMIT = 60_000_000;

/** Watches the file of results that a job names. */
export function watch(jobFile) {
  const { results } = JSON.parse(readFileSync(jobFile, "utf8"));
  let [size, since] = [0, process.cpuUsage()];
  setInterval(() => {
    const now = statSync(results, { throwIfNoEntry: false })?.size ?? 0;
    const { user, system } = process.cpuUsage(since);
    if (now !== size) [size, since] = [now, process.cpuUsage()];
    else if (now > 0 && user + system > LIMIT) process.kill(process.pid, "SIGKILL");
  }, 1000).unref();
}
