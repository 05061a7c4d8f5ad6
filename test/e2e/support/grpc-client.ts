import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type GrpcClientName, peerCommand, speaksV2 } from "./peers.ts";
import { type StartedProcess, startProcess } from "./process.ts";
import { until } from "./wait.ts";

/** The results of one target's calls since it was added. */
export interface CallCounts {
  /** Successful calls by backend. */
  readonly ok: Readonly<Record<string, number>>;
  readonly failed: readonly { readonly code: string; readonly text: string; readonly count: number }[];
  /** The backend or status code of the last finished call; "" before the first. */
  readonly last: string;
}

/** A gRPC client of any language; see `test/e2e/clients/README.md`. */
export interface GrpcClient extends AsyncDisposable {
  readonly name: GrpcClientName;
  readonly process: StartedProcess;
  add(target: string, options?: { readonly rate?: number; readonly deadlineMs?: number }): Promise<void>;
  remove(target: string): Promise<void>;
  counts(target: string): Promise<CallCounts>;
  /**
   * Resolves with the milliseconds until the last finished call was answered by that backend or failed with that code.
   */
  lastIs(target: string, outcome: string, withinMs: number): Promise<number>;
  /** The total number of failed calls. */
  failures(target: string): Promise<number>;
  /** The encoded `ClientStatusResponse` of the client itself. In Python and Node only. */
  status(): Promise<Uint8Array>;
}

/** A race inside grpc-go, which sometimes fails a call in a correct swap with any server; not counted. */
export const GO_RACE = "unknown cluster selected for RPC";

/**
 * Whether a client fails this call whatever the server does. grpc-java 1.50.2 drops a Cluster when it NACKs another
 * version of it, and sometimes fails a call in a swap.
 */
export function losesByItself(name: GrpcClientName, text: string): boolean {
  return text.includes(GO_RACE) || (name === "grpc-java-v2" && JAVA_V2_LOSSES.some((loss) => text.includes(loss)));
}

const JAVA_V2_LOSSES = ["No usable endpoint from cluster(s)", "unable to find available subchannel for cluster"];

/** What junction loses by itself while it has no server to ask, as "CODE text". */
export const junctionLosesWithoutServer = /^UNAVAILABLE timed out: timed out fetching (?:route|backend|endpoints)$/;

export interface GrpcClientSettings {
  readonly xdsPort: number;
  readonly nodeId?: string;
  readonly serverFeatures?: readonly string[];
  readonly metadata?: object;
  /** How it connects to the xDS server. @default insecure */
  readonly channelCredentials?: object;
}

const NO_COUNTS: CallCounts = { ok: {}, failed: [], last: "" };

/** Starts a client and waits until it is ready. */
export async function startGrpcClient(name: GrpcClientName, settings: GrpcClientSettings): Promise<GrpcClient> {
  const command = peerCommand(name);
  if (command === undefined) throw new Error(`${name} is not installed: node tools/peers/install.mjs ${name}`);
  const directory = mkdtempSync(join(tmpdir(), "xds-e2e-grpc-"));
  const bootstrap = join(directory, "bootstrap.json");
  writeFileSync(bootstrap, JSON.stringify(grpcBootstrap(name, settings)));
  const process = await startProcess(command, {
    env: { GRPC_XDS_BOOTSTRAP: bootstrap, GRPC_ENABLE_FORK_SUPPORT: "0", no_proxy: "*" },
  });
  const answers = new Map<unknown, Answer>();
  let isReady = false;
  createInterface({ input: process.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as Answer;
    if (answer.ready === true) isReady = true;
    else answers.set(answer.id, answer);
  });
  const alive = (): void => {
    const end = process.ended();
    if (end !== undefined)
      throw new Error(`${name} ended with ${end.code ?? end.signal}:\n${process.log().slice(-2000)}`);
  };
  let lastId = 0;
  const ask = async (body: object): Promise<Answer> => {
    const id = ++lastId;
    process.stdin.write(`${JSON.stringify({ id, ...body })}\n`);
    const { value } = await until(
      { says: `${name} answers ${JSON.stringify(body)}`, withinMs: 10_000, everyMs: 2 },
      () => {
        alive();
        return answers.get(id);
      },
    );
    answers.delete(id);
    if (value.error !== undefined) throw new Error(`${name}: ${value.error}`);
    return value;
  };
  const counts = async (target: string): Promise<CallCounts> =>
    (await ask({ do: "report" })).targets?.[target] ?? NO_COUNTS;
  await until({ says: `${name} starts`, withinMs: 60_000 }, () => isReady);
  return {
    name,
    process,
    counts,
    async add(target, options = {}) {
      await ask({ do: "add", target, rate: options.rate ?? 50, deadlineMs: options.deadlineMs ?? 5_000 });
    },
    async remove(target) {
      await ask({ do: "remove", target });
    },
    async lastIs(target, outcome, withinMs) {
      const says = `${name}: the last call to ${target} is ${outcome}`;
      let last: CallCounts = NO_COUNTS;
      return (
        await until({ says, withinMs, everyMs: 10 }, async () => {
          last = await counts(target);
          return last.last === outcome;
        }).catch((error: unknown) => {
          throw new Error(`${says}: not within ${withinMs} ms, but ${JSON.stringify(last)}`, { cause: error });
        })
      ).ms;
    },
    async failures(target) {
      return (await counts(target)).failed.reduce((sum, failure) => sum + failure.count, 0);
    },
    status: async () => Buffer.from((await ask({ do: "status" })).status ?? "", "base64"),
    async [Symbol.asyncDispose]() {
      if (process.ended() === undefined) process.stdin.write(`${JSON.stringify({ id: 0, do: "quit" })}\n`);
      await until({ says: `${name} ends`, withinMs: 2_000 }, () => process.ended() !== undefined).catch(() =>
        process.stop(500),
      );
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface Answer {
  readonly ready?: boolean;
  readonly id?: number;
  readonly error?: string;
  readonly targets?: Readonly<Record<string, CallCounts>>;
  readonly status?: string;
}

function grpcBootstrap(name: GrpcClientName, settings: GrpcClientSettings): object {
  return {
    xds_servers: [
      {
        server_uri: `127.0.0.1:${settings.xdsPort}`,
        channel_creds: [settings.channelCredentials ?? { type: "insecure" }],
        server_features: [...(speaksV2(name) ? [] : ["xds_v3"]), ...(settings.serverFeatures ?? [])],
      },
    ],
    node: {
      id: settings.nodeId ?? "grpc-1",
      cluster: "e2e",
      metadata: settings.metadata ?? {},
      locality: { region: "here", zone: "a" },
    },
  };
}
