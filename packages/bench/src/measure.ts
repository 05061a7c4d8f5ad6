import { fileURLToPath } from "node:url";
import type { Cell } from "./cells.ts";
import { CLIENT_CPU, Peer, quiet, SERVER_CPU, tell } from "./peer.ts";

/** Who is measured; `floor` is a server that decides nothing, to show what load client and machine can do at most. */
export type Subject = "xdskit" | "linear" | "snapshot" | "floor";

/** What one run of one subject in one cell took. */
export interface Measurement {
  readonly subject: Subject;
  readonly firstSyncMs: number;
  /** From the request of a client for one name more until it has the answer, where clients ask by name. */
  readonly moreMs: number | undefined;
  /** From the change until the last client had it, over the changes of the run. */
  readonly changeMs: readonly number[];
  /** Processor time of the server for one change and its acknowledgements. */
  readonly changeCpuMs: number;
  readonly reconnectMs: number | undefined;
  readonly reconnectBytes: number | undefined;
  /** Resident memory that the streams added, once in sync, in KB a stream. */
  readonly streamKb: number;
  readonly peakMb: number;
}

const CHANGES = 7;

/** Measures one subject in one cell: server on one core, load client on the other. `tools`: where the Go programs are. */
export async function measure(cell: Cell, subject: Subject, tools: string): Promise<Measurement> {
  await using server = startServer(cell, subject, tools);
  const { address } = await server.hears("listening");
  await server.hears("ready");
  const before = server.usage();
  const args = ["-address", String(address), ...loadArgs(cell)];
  await using client = new Peer(`${tools}/load`, args, CLIENT_CPU);
  const first = await tell(client, "connect", "synced");
  await quiet(server);
  const idle = server.usage();
  const changes: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    await tell(client, "arm", "armed");
    client.say("wait");
    const { at } = await tell(server, "change", "changed");
    const { last } = await client.hears("received");
    changes.push(Number(BigInt(String(last)) - BigInt(String(at))) / 1e6);
    await quiet(server);
  }
  const changed = server.usage();
  const more = cell.byName === undefined ? undefined : await tell(client, "more", "answered");
  const back = cell.reconnects && subject !== "floor" ? await tell(client, "reconnect", "synced") : undefined;
  return {
    subject,
    firstSyncMs: Number(first["ms"]),
    changeMs: changes,
    moreMs: more && Number(more["ms"]),
    changeCpuMs: ((changed.cpuSeconds - idle.cpuSeconds) * 1_000) / CHANGES,
    reconnectMs: back && Number(back["ms"]),
    reconnectBytes: back && Number(back["bytes"]),
    streamKb: ((idle.residentMb - before.residentMb) * 1024) / cell.streams,
    peakMb: server.usage().peakMb,
  };
}

function loadArgs({ streams, variant, resources, byName, ownLayers }: Cell): readonly string[] {
  const named =
    byName === undefined
      ? []
      : ["-names", byName.names, "-subscribers", byName.subscribers, "-resources", resources].map(String);
  return ["-streams", String(streams), "-variant", variant, ...named, ...(ownLayers === true ? ["-own-nodes"] : [])];
}

function startServer(cell: Cell, subject: Subject, tools: string): Peer {
  if (subject === "xdskit") {
    const program = fileURLToPath(new URL("./served-by-xdskit.js", import.meta.url));
    const views = cell.ownLayers === true ? ["--own-layers", String(cell.streams)] : [];
    const args = ["--max-old-space-size=12000", program, String(cell.resources), ...views];
    return new Peer(process.execPath, args, SERVER_CPU);
  }
  if (subject === "floor") return new Peer(`${tools}/floor`, ["-resources", String(cell.resources)], SERVER_CPU);
  return new Peer(`${tools}/gcp`, ["-resources", String(cell.resources), "-cache", subject], SERVER_CPU);
}
