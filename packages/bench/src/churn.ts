import { fileURLToPath } from "node:url";
import { format, median } from "./figures.ts";
import { CLIENT_CPU, Peer, quiet, SERVER_CPU, tell } from "./peer.ts";

const RESOURCES = 10_000;
const STREAMS = 200;
const CHANGES = 1_000;

/** What many changes, a commit in each turn of the loop, cost with the usual pauses between fan-outs, and without. */
export interface Churn {
  readonly debounced: readonly ChurnRun[];
  readonly atOnce: readonly ChurnRun[];
}

interface ChurnRun {
  /** Milliseconds from the first commit until the last client had the newest state. */
  readonly ms: number;
  /** CPU time of the server, in milliseconds. */
  readonly cpuMs: number;
  readonly responsesPerStream: number;
}

/** Alternates between both. `tools` is the directory of the load client. */
export async function measureChurn(runs: number, tools: string): Promise<Churn> {
  const debounced: ChurnRun[] = [];
  const atOnce: ChurnRun[] = [];
  for (let run = 0; run < runs; run++) {
    debounced.push(await churn(tools, []));
    atOnce.push(await churn(tools, ["--no-debounce"]));
  }
  return { debounced, atOnce };
}

async function churn(tools: string, flags: readonly string[]): Promise<ChurnRun> {
  const program = fileURLToPath(new URL("./served-by-xdskit.js", import.meta.url));
  await using server = new Peer(process.execPath, [program, String(RESOURCES), ...flags], SERVER_CPU);
  const { address } = await server.hears("listening");
  await server.hears("ready");
  const args = ["-address", String(address), "-streams", String(STREAMS)];
  await using client = new Peer(`${tools}/load`, args, CLIENT_CPU);
  await tell(client, "connect", "synced");
  await quiet(server);
  await tell(client, "arm", "armed");
  const { cpuSeconds } = server.usage();
  const { at } = await tell(server, `change-each ${CHANGES}`, "changed");
  await quiet(server);
  const { responses, last } = await tell(client, "tally", "tallied");
  return {
    ms: Number(BigInt(String(last)) - BigInt(String(at))) / 1e6,
    cpuMs: (server.usage().cpuSeconds - cpuSeconds) * 1_000,
    responsesPerStream: Number(responses) / STREAMS,
  };
}

/** Formats medians as a Markdown table. */
export function churnTable({ debounced, atOnce }: Churn): string {
  const row = (name: string, runs: readonly ChurnRun[]): string => {
    const columns = [
      median(runs.map(({ ms }) => ms)),
      median(runs.map(({ cpuMs }) => cpuMs)),
      median(runs.map(({ responsesPerStream }) => responsesPerStream)),
    ];
    return `| ${[name, ...columns.map(format)].join(" | ")} |`;
  };
  return [
    "| 1,000 commits, 10,000 x 200 delta | newest state at the last client, ms | server CPU, ms | responses a stream |",
    "| --- | --- | --- | --- |",
    row("with the usual pauses", debounced),
    row("without pauses", atOnce),
  ].join("\n");
}
