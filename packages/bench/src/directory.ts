import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type DirectoryShape, directoryFormats, directoryText, extensionOf } from "./directory-text.ts";
import { format, median } from "./figures.ts";
import { BOTH_CPUS, CLIENT_CPU, Peer, quiet, tell } from "./peer.ts";

/** The measurements of one run of `xds serve` on a directory. */
export interface DirectoryMeasurement {
  readonly cell: DirectoryCell;
  /** Milliseconds from the start of the process until clients are served. */
  readonly readyMs: number;
  /** Milliseconds from writing a file with a changed cluster until a client has it. */
  readonly changeMs: readonly number[];
  /** Processor time of the server until it is ready, in seconds. */
  readonly readyCpuSeconds: number;
  /** Processor time of the server for all changes, in seconds. */
  readonly changesCpuSeconds: number;
  readonly residentMb: number;
  readonly peakMb: number;
}

/** A directory to measure. `isLong` cells run with `--long` only. */
export interface DirectoryCell extends DirectoryShape {
  readonly files: number;
  readonly isLong: boolean;
}

/** The directories: three shapes in block YAML, and one file in each other format, with and without warnings. */
export const directoryCells: readonly DirectoryCell[] = [
  { files: 100, format: "yaml-block", warns: false, isLong: false },
  { files: 100, format: "yaml-block", warns: true, isLong: true },
  { files: 50_000, format: "yaml-block", warns: false, isLong: true },
  { files: 50_000, format: "yaml-block", warns: true, isLong: true },
  ...directoryFormats.flatMap((format) => [
    { files: 1, format, warns: false, isLong: true },
    { files: 1, format, warns: true, isLong: true },
  ]),
];

const RESOURCES = 100_000;
const FILES_IN_A_FOLDER = 1_000;
const CHANGES = 5;

/**
 * Serves 100,000 resources, half Clusters and half ClusterLoadAssignments, and changes one. `tools` is the directory of
 * the load client.
 */
export async function measureDirectory(cell: DirectoryCell, tools: string): Promise<DirectoryMeasurement> {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-bench-"));
  try {
    for (let file = 0; file < cell.files; file++) writeText(directory, cell, file, textOf(cell, file, 250));
    return await serve(directory, cell, tools);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function serve(directory: string, cell: DirectoryCell, tools: string): Promise<DirectoryMeasurement> {
  const program = fileURLToPath(new URL("../../cli/bin/xds.js", import.meta.url));
  const flags = ["--listen", "127.0.0.1:0", "--admin", "off", "--max-file-bytes", "1GiB"];
  const began = performance.now();
  await using server = new Peer(process.execPath, [program, "serve", directory, ...flags], BOTH_CPUS, "stderr");
  const { address } = await server.hears("serving");
  await server.hears("ready");
  const readyMs = performance.now() - began;
  const readyCpuSeconds = server.usage().cpuSeconds;
  const args = ["-address", String(address), "-streams", "1"];
  await using client = new Peer(`${tools}/load`, args, CLIENT_CPU);
  await tell(client, "connect", "synced");
  const changeMs: number[] = [];
  await quiet(server);
  const beforeCpuSeconds = server.usage().cpuSeconds;
  for (let i = 1; i <= CHANGES; i++) {
    const text = textOf(cell, 0, 250 + i);
    await quiet(server);
    await tell(client, "arm", "armed");
    client.say("wait");
    const at = Date.now();
    writeText(directory, cell, 0, text);
    const { last } = await client.hears("received");
    changeMs.push(Number(BigInt(String(last)) / 1_000_000n) - at);
  }
  await quiet(server);
  const { cpuSeconds, residentMb, peakMb } = server.usage();
  const changesCpuSeconds = cpuSeconds - beforeCpuSeconds;
  return { cell, readyMs, changeMs, readyCpuSeconds, changesCpuSeconds, residentMb, peakMb };
}

function textOf(cell: DirectoryCell, file: number, timeoutMs: number): string {
  const each = RESOURCES / cell.files;
  return directoryText(file * each, (file + 1) * each, cell, timeoutMs);
}

function writeText(directory: string, { format }: DirectoryCell, file: number, text: string): void {
  const folder = join(directory, String(Math.floor(file / FILES_IN_A_FOLDER)));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${file}.${extensionOf(format)}`), text);
}

/** Formats medians as a Markdown table. */
export function directoryTable(all: readonly DirectoryMeasurement[]): string {
  const lines = [...new Set(all.map(({ cell }) => cell))].map((cell) => {
    const own = all.filter((one) => one.cell === cell);
    const columns = [
      median(own.map((one) => one.readyMs)),
      median(own.map((one) => one.readyCpuSeconds * 1_000)),
      median(own.flatMap((one) => one.changeMs)),
      median(own.map((one) => (one.changesCpuSeconds * 1_000) / CHANGES)),
      median(own.map((one) => one.residentMb)),
      median(own.map((one) => one.peakMb)),
    ];
    return `| ${[cellName(cell), ...columns.map(format)].join(" | ")} |`;
  });
  return [
    "| xds serve, 100,000 resources | ready after, ms | CPU for it, ms | 1 change, at the client, ms | CPU for it, ms | MB after | peak MB |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...lines,
  ].join("\n");
}

/** What a cell is called in tables and on the command line. */
export function cellName({ files, format: fileFormat, warns }: DirectoryCell): string {
  const count = files === 1 ? "one file" : `${files.toLocaleString("en")} files`;
  return `${count}, ${fileFormat}${warns ? ", a warning on each" : ""}`;
}
