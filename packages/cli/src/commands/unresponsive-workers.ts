import type { Io } from "../io.ts";

/** Says which workers do not answer: `worker 2 does not answer`. */
export function describeUnresponsive(workers: readonly number[]): string {
  return workers.length === 1
    ? `worker ${workers.join()} does not answer`
    : `workers ${workers.join(", ")} do not answer`;
}

/** Warns that an answer for the clients of all workers lacks some. */
export function warnOfUnresponsive(
  { unresponsiveWorkers: workers = [] }: { readonly unresponsiveWorkers?: readonly number[] },
  { stderr }: Pick<Io, "stderr">,
): void {
  if (workers.length > 0) stderr.write(`xds: ${describeUnresponsive(workers)}: nodes may be missing\n`);
}
