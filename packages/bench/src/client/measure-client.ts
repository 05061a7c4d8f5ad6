import { fileURLToPath } from "node:url";
import { CLIENT_CPU, Peer, quiet, SERVER_CPU, tell } from "../peer.ts";
import type { ClientCell, ClientSubject } from "./cells.ts";

/** The measurements of one run of one client in one cell. */
export interface ClientMeasurement {
  readonly subject: ClientSubject;
  /** Milliseconds from the start of the process until it is ready. */
  readonly startMs: number;
  /** CPU time of the client until then, in milliseconds. */
  readonly startCpuMs: number;
  /** Milliseconds from the first request until the last cluster arrived. */
  readonly firstSyncMs: number;
  /** CPU time of the client for the first sync, in milliseconds. */
  readonly firstSyncCpuMs: number;
  /** Milliseconds from the first commit until the last change arrived, per round. */
  readonly changeMs: readonly number[];
  readonly changeCpuMs: readonly number[];
  /** Heap and external memory per cluster, without the resource's own bytes. */
  readonly heldBytes: number;
  /** Resident memory per cluster, with the resource's bytes. */
  readonly residentBytes: number;
}

/** Padding that makes a cluster about 400 bytes. */
const PADDING = 300;

/**
 * Measures one client in one cell, with our server on one core and the client on another. `rounds` is the number of
 * changes, `tools` the directory of the Go programs.
 */
export async function measureClient(
  cell: ClientCell,
  subject: ClientSubject,
  { rounds, tools }: { readonly rounds: number; readonly tools: string },
): Promise<ClientMeasurement> {
  const { asks, clusters, changes } = cell;
  const program = fileURLToPath(new URL("../served-by-xdskit.js", import.meta.url));
  const args = ["--max-old-space-size=8000", program, String(clusters), "--padding", String(PADDING)];
  await using server = new Peer(process.execPath, args, SERVER_CPU);
  const { address } = await server.hears("listening");
  await server.hears("ready");
  const startedAt = performance.now();
  await using client = startClient(cell, subject, String(address), tools);
  const ready = await client.hears("ready");
  const startMs = performance.now() - startedAt;
  const empty = await tell(client, "memory", "memory");
  const first = await tell(client, `${asks === "all" ? "sync" : "names"} ${clusters}`, "synced");
  await quiet(client);
  const full = await tell(client, "memory", "memory");
  const changeMs: number[] = [];
  const changeCpuMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await quiet(server);
    await tell(client, `arm ${changes}`, "armed");
    const changed = tell(server, changes === 1 ? "change" : `change-each ${changes}`, "changed");
    const { at: to, cpuMs } = await client.hears("received");
    changeMs.push(Number(BigInt(String(to)) - BigInt(String((await changed)["at"]))) / 1e6);
    changeCpuMs.push(Number(cpuMs));
    await quiet(client);
  }
  const added = (key: string): number => Number(full[key]) - Number(empty[key]);
  return {
    subject,
    startMs,
    startCpuMs: Number(ready["cpuMs"]),
    firstSyncMs: Number(first["ms"]),
    firstSyncCpuMs: Number(first["cpuMs"]),
    changeMs,
    changeCpuMs,
    heldBytes: (added("heap") - Number(first["bytes"])) / clusters,
    residentBytes: added("resident") / clusters,
  };
}

function startClient({ variant }: ClientCell, subject: ClientSubject, address: string, tools: string): Peer {
  const node = (program: URL, ...flags: readonly string[]): Peer => {
    const args = ["--max-old-space-size=8000", fileURLToPath(program), address, variant, ...flags];
    return new Peer(process.execPath, args, CLIENT_CPU);
  };
  switch (subject) {
    case "xdskit":
      return node(new URL("./by-xdskit.js", import.meta.url));
    case "xdskit, no rules":
      return node(new URL("./by-xdskit.js", import.meta.url), "--no-pgv");
    case "grpc-js by hand":
      return node(new URL("./by-grpc-js.js", import.meta.url));
    case "go-control-plane":
      return new Peer(`${tools}/gcpclient`, ["-address", address], CLIENT_CPU);
    case "go-control-plane, rules":
      return new Peer(`${tools}/gcpclient`, ["-address", address, "-pgv"], CLIENT_CPU);
  }
}
