import { join } from "node:path";
import { setTimeout as elapsed } from "node:timers/promises";
import { format, median } from "./figures.ts";
import { freePort } from "./free-port.ts";
import { CLIENT_CPU, Peer, quiet, SERVER_CPU, tell } from "./peer.ts";

/** Streams that all come back at once to a server that has just started. */
export interface HerdCell {
  readonly variant: "delta" | "sotw";
  readonly streams: number;
  readonly connections: number;
  readonly resources: number;
}

export const herdCells: readonly HerdCell[] = [
  { variant: "delta", streams: 20_000, connections: 400, resources: 100 },
  { variant: "delta", streams: 20_000, connections: 5_000, resources: 100 },
  { variant: "delta", streams: 20_000, connections: 400, resources: 1_000 },
  { variant: "delta", streams: 20_000, connections: 5_000, resources: 1_000 },
  { variant: "sotw", streams: 20_000, connections: 400, resources: 100 },
  { variant: "sotw", streams: 20_000, connections: 5_000, resources: 100 },
];

export interface HerdMeasurement {
  readonly cell: HerdCell;
  /** Milliseconds from an edit until its client, which is in sync, has it: while nothing else happens, and during the herd. */
  readonly quietMs: readonly number[];
  readonly herdMs: readonly number[];
  /** The processor time of the server in milliseconds from an edit during the herd until its response is queued. */
  readonly herdCpuMs: readonly number[];
  /** Milliseconds until the middle and the last stream of the herd have their answer. */
  readonly middleMs: number;
  readonly lastMs: number;
  /** Resources that the herd is sent, though it holds all of them. */
  readonly resources: number;
  readonly bytes: number;
  readonly peakMb: number;
  readonly residentMb: number;
  readonly cpuSeconds: number;
}

const EDIT_EVERY_MS = 100;
const QUIET_EDITS = 20;

/** Measures what another client notices while a herd comes back. `dist`: the programs of the build that is measured. */
export async function measureHerd(cell: HerdCell, tools: string, dist: string): Promise<HerdMeasurement> {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const streams = [
    "-streams",
    String(cell.streams),
    "-connections",
    String(cell.connections),
    "-variant",
    cell.variant,
  ];
  const nodes = ["-own-nodes", "-address", address];
  await using herd = new Peer(`${tools}/load`, [...nodes, ...streams], CLIENT_CPU);
  {
    await using first = await serve(cell, port, dist);
    await tell(herd, "connect", "synced");
    await quiet(first);
  }
  await using server = await serve(cell, port, dist);
  const edited = ["-address", address, "-streams", "1", "-node", "edited", "-variant", cell.variant];
  await using client = new Peer(`${tools}/load`, edited, CLIENT_CPU);
  await tell(client, "connect", "synced");
  await quiet(server);
  const { ms: quietMs } = await edit(server, client, (done) => done === QUIET_EDITS);
  const before = server.usage();
  let isBack = false;
  const back = tell(herd, "reconnect", "synced").finally(() => {
    isBack = true;
  });
  const { ms: herdMs, cpuMs: herdCpuMs } = await edit(server, client, () => isBack);
  const { ms, middle, resources, bytes } = await back;
  await quiet(server);
  const after = server.usage();
  return {
    ...{ cell, quietMs, herdMs, herdCpuMs, lastMs: Number(ms), middleMs: Number(middle) },
    ...{ resources: Number(resources), bytes: Number(bytes), peakMb: after.peakMb, residentMb: after.residentMb },
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
  };
}

export function herdTable(measured: readonly HerdMeasurement[]): string {
  return [
    "| a herd comes back | edit, quiet: median, worst | edit, herd: median, worst | server CPU until it is sent: median, worst | middle, last stream, s | resources | MB | server, s | peak, MB |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ...measured.map((one) => {
      const { variant, streams, connections, resources } = one.cell;
      const edits = [one.quietMs, one.herdMs, one.herdCpuMs].map(
        (ms) => `${format(median(ms))}, ${format(Math.max(...ms))} ms`,
      );
      return [
        `| ${variant}, ${streams.toLocaleString("en")} streams on ${connections.toLocaleString("en")}, ${resources} Clusters`,
        ...edits,
        `${format(one.middleMs / 1000)}, ${format(one.lastMs / 1000)}`,
        one.resources.toLocaleString("en"),
        format(one.bytes / 1e6),
        format(one.cpuSeconds),
        `${format(one.peakMb)} |`,
      ].join(" | ");
    }),
  ].join("\n");
}

async function serve({ resources }: HerdCell, port: number, dist: string): Promise<Peer> {
  const server = new Peer(
    process.execPath,
    [join(dist, "served-by-xdskit.js"), String(resources), "--herd", String(port)],
    SERVER_CPU,
  );
  await server.hears("ready");
  return server;
}

/** Edits every 100 ms, one after another. */
async function edit(
  server: Peer,
  client: Peer,
  isDone: (edits: number) => boolean,
): Promise<{ readonly ms: readonly number[]; readonly cpuMs: readonly number[] }> {
  const ms: number[] = [];
  const cpuMs: number[] = [];
  do {
    await tell(client, "arm", "armed");
    client.say("wait");
    const at = performance.timeOrigin + performance.now();
    const answered = server.hears("answered");
    server.say("edit");
    const { last } = await client.hears("received");
    cpuMs.push(Number((await answered)["cpuMs"]));
    ms.push(Number(BigInt(String(last)) / 1_000n) / 1_000 - at);
    await elapsed(Math.max(0, EDIT_EVERY_MS - (performance.timeOrigin + performance.now() - at)));
  } while (!isDone(ms.length));
  return { ms, cpuMs };
}
