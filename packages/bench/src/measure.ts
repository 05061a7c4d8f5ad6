import { join } from "node:path";
import type { Cell } from "./cells.ts";
import { type ChangesCost, measureChanges } from "./changes.ts";
import { CLIENT_CPU, Peer, quiet, SERVER_CPU, tell } from "./peer.ts";

/**
 * The server under measurement. `floor` is a server without any logic, which shows the limit of load client and
 * machine.
 */
export type Subject = "xdskit" | "before" | "linear" | "snapshot" | "floor";

/** Where the servers under measurement are. */
export interface Places {
  /** The directory of the Go programs. */
  readonly tools: string;
  /** A built checkout of an earlier version, measured as `before`; undefined: none. */
  readonly before: string | undefined;
}

/** The measurements of one run of one server in one cell. */
export interface Measurement {
  readonly subject: Subject;
  readonly firstSyncMs: number;
  readonly firstSyncBytes: number;
  /** Milliseconds from the subscription to one more name until its response, in cells with names. */
  readonly moreMs: number | undefined;
  readonly changes: ChangesCost;
  readonly reconnectMs: number | undefined;
  readonly reconnectBytes: number | undefined;
  /** Resident memory per stream once in sync, in KB. */
  readonly streamKb: number;
  /** Resident memory in MB, once in sync. */
  readonly residentMb: number;
  readonly peakMb: number;
}

/** Our server takes no more of one address, unless told so. */
const STREAMS_OF_A_PEER = 10_000;

/**
 * Measures one server in one cell, with the server on one core and the load client on another.
 */
export async function measure(cell: Cell, subject: Subject, places: Places): Promise<Measurement> {
  const { tools } = places;
  await using server = startServer(cell, subject, places);
  const { address } = await server.hears("listening");
  await server.hears("ready");
  const before = server.usage();
  const args = ["-address", String(address), ...loadArgs(cell)];
  await using client = new Peer(`${tools}/load`, args, CLIENT_CPU);
  const first = await tell(client, "connect", "synced");
  await quiet(server);
  const idle = server.usage();
  const changes = await measureChanges(server, client);
  const more = cell.byName === undefined ? undefined : await tell(client, "more", "answered");
  const back = cell.reconnects && subject !== "floor" ? await tell(client, "reconnect", "synced") : undefined;
  return {
    subject,
    firstSyncMs: Number(first["ms"]),
    firstSyncBytes: Number(first["bytes"]),
    changes,
    moreMs: more && Number(more["ms"]),
    reconnectMs: back && Number(back["ms"]),
    reconnectBytes: back && Number(back["bytes"]),
    streamKb: ((idle.residentMb - before.residentMb) * 1024) / cell.streams,
    residentMb: idle.residentMb,
    peakMb: server.usage().peakMb,
  };
}

function loadArgs({ streams, variant, resources, byName, ownLayers, connections }: Cell): readonly string[] {
  const named =
    byName === undefined
      ? []
      : ["-names", byName.names, "-subscribers", byName.subscribers, "-resources", resources].map(String);
  const shared = connections === undefined ? [] : ["-connections", String(connections)];
  const nodes = ownLayers === true ? ["-own-nodes"] : [];
  return ["-streams", String(streams), "-variant", variant, ...named, ...shared, ...nodes];
}

function startServer(cell: Cell, subject: Subject, { tools, before }: Places): Peer {
  const resources = String(cell.resources);
  if (subject === "xdskit" || subject === "before") {
    const programs = subject === "xdskit" ? import.meta.dirname : join(before ?? "", "packages", "bench", "dist");
    const views = cell.ownLayers === true ? ["--own-layers", String(cell.streams)] : [];
    const many = cell.streams > STREAMS_OF_A_PEER ? ["--many-streams"] : [];
    const args = ["--max-old-space-size=12000", join(programs, "served-by-xdskit.js"), resources, ...views, ...many];
    return new Peer(process.execPath, args, SERVER_CPU);
  }
  if (subject === "floor") return new Peer(`${tools}/floor`, ["-resources", resources], SERVER_CPU);
  return new Peer(`${tools}/gcp`, ["-resources", resources, "-cache", subject], SERVER_CPU);
}
