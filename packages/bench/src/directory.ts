import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { format, median } from "./figures.ts";
import { CLIENT_CPU, Peer, quiet, SERVER_CPU, tell } from "./peer.ts";

/** The measurements of one run of `xds serve` on a directory. */
export interface DirectoryMeasurement {
  readonly files: number;
  /** Milliseconds from the start of the process until clients are served. */
  readonly readyMs: number;
  /** Milliseconds from writing a file with a changed cluster until a client has it. */
  readonly changeMs: readonly number[];
  readonly peakMb: number;
}

/** The number of files; `isLong` cells run with `--long` only. */
export const directoryCells: readonly { readonly files: number; readonly isLong: boolean }[] = [
  { files: 1, isLong: true },
  { files: 100, isLong: false },
  { files: 100_000, isLong: true },
];

const RESOURCES = 100_000;
const FILES_IN_A_FOLDER = 1_000;
const CHANGES = 5;

/**
 * Serves 100,000 resources, half Clusters and half ClusterLoadAssignments, and changes one. `tools` is the directory of
 * the load client.
 */
export async function measureDirectory(files: number, tools: string): Promise<DirectoryMeasurement> {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-bench-"));
  try {
    for (let file = 0; file < files; file++) write(directory, file, files, 250);
    return await serve(directory, files, tools);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function serve(directory: string, files: number, tools: string): Promise<DirectoryMeasurement> {
  const program = fileURLToPath(new URL("../../cli/bin/xds.js", import.meta.url));
  const flags = ["--listen", "127.0.0.1:0", "--admin", "off", "--max-file-bytes", "1GiB"];
  const began = performance.now();
  await using server = new Peer(process.execPath, [program, "serve", directory, ...flags], SERVER_CPU, "stderr");
  const { address } = await server.hears("serving");
  await server.hears("server-ready");
  const readyMs = performance.now() - began;
  const args = ["-address", String(address), "-streams", "1"];
  await using client = new Peer(`${tools}/load`, args, CLIENT_CPU);
  await tell(client, "connect", "synced");
  const changeMs: number[] = [];
  for (let i = 1; i <= CHANGES; i++) {
    await quiet(server);
    await tell(client, "arm", "armed");
    client.say("wait");
    const at = Date.now();
    write(directory, 0, files, 250 + i);
    const { last } = await client.hears("received");
    changeMs.push(Number(BigInt(String(last)) / 1_000_000n) - at);
  }
  return { files, readyMs, changeMs, peakMb: server.usage().peakMb };
}

/** Writes one of the files; the first resource of the first file is a cluster with this timeout. */
function write(directory: string, file: number, files: number, timeoutMs: number): void {
  const folder = join(directory, String(Math.floor(file / FILES_IN_A_FOLDER)));
  mkdirSync(folder, { recursive: true });
  const each = RESOURCES / files;
  const resources = Array.from({ length: each }, (_, i) => resource(file * each + i, timeoutMs));
  writeFileSync(join(folder, `${file}.yaml`), resources.join(""));
}

function resource(i: number, timeoutMs: number): string {
  const name = `cluster-${i - (i % 2)}`;
  if (i % 2 === 0) {
    return `- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: ${name}
  connect_timeout: ${(i === 0 ? timeoutMs : 250) / 1000}s
  type: EDS
  eds_cluster_config:
    eds_config: { ads: {}, resource_api_version: V3 }
`;
  }
  return `- "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
  cluster_name: ${name}
  endpoints:
    - lb_endpoints:
        - endpoint: { address: { socket_address: { address: 10.0.0.1, port_value: ${1_000 + (i % 5_000)} } } }
`;
}

/** Formats medians as a Markdown table. */
export function directoryTable(all: readonly DirectoryMeasurement[]): string {
  const lines = [...new Set(all.map((one) => one.files))].map((files) => {
    const own = all.filter((one) => one.files === files);
    const columns = [
      median(own.map((one) => one.readyMs)),
      median(own.flatMap((one) => one.changeMs)),
      median(own.map((one) => one.peakMb)),
    ];
    return `| ${[`100,000 resources in ${files === 1 ? "one file" : `${files.toLocaleString("en")} files`}`, ...columns.map(format)].join(" | ")} |`;
  });
  return [
    "| xds serve | ready after, ms | 1 change, at the client, ms | peak MB |",
    "| --- | --- | --- | --- |",
    ...lines,
  ].join("\n");
}
