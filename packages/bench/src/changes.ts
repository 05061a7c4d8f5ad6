import { format, median } from "./figures.ts";
import { type Peer, quiet, tell } from "./peer.ts";

/** Changes of one resource, each of which every stream of the load client gets and acknowledges. */
export interface ChangesMeasurement {
  /** Milliseconds from each change until the last client has it. */
  readonly ms: readonly number[];
  /** CPU time of the server for one change and its ACKs, in milliseconds. */
  readonly cpuMs: number;
  /** What all streams receive for one change. */
  readonly bytes: number;
}

/** What changes cost in a process that has made none before, and what they cost once it has made some. */
export interface ChangesCost {
  readonly first: ChangesMeasurement;
  /** Undefined: that would take too long. */
  readonly later: ChangesMeasurement | undefined;
}

const FIRST = 7;
const LATER = 20;
/** Above this, more changes would take too long. */
const LATER_BELOW_MS = 1_000;

/** Changes one resource again and again, one change after the other; the load client is in sync. */
export async function measureChanges(server: Peer, client: Peer): Promise<ChangesCost> {
  const first = await change(FIRST, server, client);
  const isFast = Math.max(...first.ms.slice(1)) < LATER_BELOW_MS;
  return { first, later: isFast ? await change(LATER, server, client) : undefined };
}

async function change(count: number, server: Peer, client: Peer): Promise<ChangesMeasurement> {
  const before = server.usage().cpuSeconds;
  const ms: number[] = [];
  let bytes = 0;
  for (let change = 0; change < count; change++) {
    const armed = await tell(client, "arm", "armed");
    client.say("wait");
    const { at } = await tell(server, "change", "changed");
    const received = await client.hears("received");
    ms.push(Number(BigInt(String(received["last"])) - BigInt(String(at))) / 1e6);
    bytes += Number(received["bytes"]) - Number(armed["bytes"]);
    await quiet(server);
  }
  return { ms, bytes: bytes / count, cpuMs: ((server.usage().cpuSeconds - before) * 1_000) / count };
}

/** The heads of `changeColumns`. */
export const CHANGE_COLUMNS = [
  "1 change, last client, ms",
  "server CPU for it, ms",
  "1 change later, ms",
  "server CPU for it, ms",
] as const;

/** Columns of a table: medians of all runs. */
export function changeColumns(runs: readonly ChangesCost[]): readonly string[] {
  const later = runs.flatMap((one) => one.later ?? []);
  return [runs.map((one) => one.first), later].flatMap((measured) =>
    measured.length === 0
      ? ["", ""]
      : [format(median(measured.flatMap(({ ms }) => ms))), format(median(measured.map(({ cpuMs }) => cpuMs)))],
  );
}
