/**
 * Damaged messages, to everything that reads bytes of a peer. `XDS_FUZZ_RUNS=1000000` makes it a million of them;
 * `XDS_FUZZ_SEED` takes another path, and a failure tells the message.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  createLoadReportReader,
  createRequestReader,
  decodeClientStatusRequest,
  decodeDeltaResponse,
  decodeHealthMessage,
  decodeNode,
  decodeSotwResponse,
  encodeDeltaRequest,
  encodeDeltaResponse,
  encodeNode,
  encodeSotwRequest,
  encodeSotwResponse,
  WireError,
} from "@xdskit/envoy-api/internal";
import { describe, expect, test } from "vitest";
import { collectGarbage } from "../../../protocol/test/support/garbage.ts";
import { deltaRequestCases, sotwRequestCases } from "../golden/wire/request-cases.ts";
import { deltaResponseCases, sotwResponseCases } from "../golden/wire/response-cases.ts";
import { mutate, seededChance } from "../support/mutation.ts";
import { encoded, healthRequest, loadStats, statusRequest } from "../support/status-messages.ts";

const runs = Number(process.env["XDS_FUZZ_RUNS"] ?? 30_000);
const seed = Number(process.env["XDS_FUZZ_SEED"] ?? 20_261);

const node = {
  id: "edge-7",
  cluster: "edge",
  metadata: { a: { b: [1, "x", null, [[]]] } },
  locality: { region: "r", zone: "z", subZone: "" },
  userAgentName: "envoy",
  userAgentVersion: "1.39.0",
  clientFeatures: ["f"],
};
const seeds: readonly Buffer[] = [
  ...sotwRequestCases.map(({ message }) => encodeSotwRequest(message)),
  ...deltaRequestCases.map(({ message }) => encodeDeltaRequest(message)),
  ...sotwResponseCases.map(({ message }) => encodeSotwResponse(message)),
  ...deltaResponseCases.map(({ message }) => encodeDeltaResponse(message)),
  encodeNode(node),
  encoded("envoy.service.load_stats.v3.LoadStatsRequest", loadStats),
  encoded("envoy.service.status.v3.ClientStatusRequest", statusRequest),
  encoded("envoy.service.health.v3.HealthCheckRequestOrEndpointHealthResponse", healthRequest),
  encodeDeltaRequest({
    node,
    initialResourceVersions: Array.from({ length: 20 }, (_, i) => [`n${i}`, `${i}`] as const),
  }),
]
  .filter((bytes) => bytes.length > 0)
  .map((bytes) => Buffer.from(bytes));

/** Readers live as long as their streams: what is remembered of damaged messages must not grow. */
const sotwReader = createRequestReader("sotw");
const deltaReader = createRequestReader("delta");
const loadReader = createLoadReportReader();
/** Each of them remembers its last node. */
const REMEMBERED = 3;

const decoders: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  sotwRequest: (bytes) => sotwReader.read(bytes),
  deltaRequest: (bytes) => {
    const request = deltaReader.read(bytes);
    return request.kind === "delta" ? [request.initialVersions.key, ...request.initialVersions] : request;
  },
  sotwResponse: decodeSotwResponse,
  deltaResponse: decodeDeltaResponse,
  node: decodeNode,
  loadReport: (bytes) => loadReader.read(bytes),
  clientStatus: decodeClientStatusRequest,
  health: decodeHealthMessage,
};

interface Outcome {
  refused: number;
  readonly failures: string[];
  /** Everything that was read, and what is in it. */
  readonly read: WeakRef<object>[];
}

/** The objects among these that somebody still holds. */
async function heldAmong(refs: readonly WeakRef<object>[]): Promise<number> {
  await collectGarbage();
  return new Set(refs.flatMap((ref) => ref.deref() ?? [])).size;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function tryAll(bytes: Buffer, outcome: Outcome): void {
  for (const [name, decode] of Object.entries(decoders)) {
    try {
      const read = decode(bytes);
      if (!isObject(read)) continue;
      const parts: readonly unknown[] = Array.isArray(read) ? [] : Object.values(read);
      for (const one of [read, ...parts].filter(isObject)) outcome.read.push(new WeakRef(one));
    } catch (error) {
      if (error instanceof WireError) outcome.refused++;
      else outcome.failures.push(`${name} of ${bytes.toString("hex")}: ${String(error)}`);
    }
  }
}

describe("damaged messages", () => {
  test(`are read or refused, ${runs} of them, and are not kept`, { timeout: 600_000 }, async () => {
    const chance = seededChance(seed);
    const outcome: Outcome = { refused: 0, failures: [], read: [] };
    let held = 0;
    for (let run = 0; run < runs; run++) {
      tryAll(mutate(seeds, chance), outcome);
      // What is remembered weakly stays until the turn of the event loop ends.
      if (run % 1000 === 0) await nextTurn();
      if (run % 10_000 === 0) held = Math.max(held, await heldAmong(outcome.read.splice(0)));
    }
    held = Math.max(held, await heldAmong(outcome.read));
    expect(outcome.failures).toEqual([]);
    expect(held).toBeLessThanOrEqual(REMEMBERED);
    // Of noise that is always refused, or never, nothing is learned.
    const refused = outcome.refused / (runs * Object.keys(decoders).length);
    expect({ refused, isMixed: refused > 0.2 && refused < 0.9 }).toEqual({ refused, isMixed: true });
  });
});

describe("messages made to hurt", () => {
  const repeated = (hex: string, times: number): Buffer => Buffer.from(hex.repeat(times), "hex");
  const lengthPrefix = (length: number): Buffer => {
    const bytes: number[] = [];
    for (let rest = length; ; rest >>>= 7) {
      if (rest < 0x80) return Buffer.from([...bytes, rest]);
      bytes.push((rest & 0x7f) | 0x80);
    }
  };
  const field = (tag: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([tag]), lengthPrefix(content.length), content]);
  const nested = (depth: number, tags: readonly number[]): Buffer => {
    let content: Buffer = Buffer.alloc(0);
    for (let i = 0; i < depth; i++) content = field(tags[i % tags.length] ?? 0, content);
    return content;
  };

  const cases: readonly (readonly [string, Buffer])[] = [
    ["a million groups in one another", Buffer.alloc(1_000_000, 0x0b)],
    ["nested metadata", field(0x12, field(0x1a, nested(3000, [0x0a, 0x12, 0x2a])))],
    ["nested lists", field(0x12, field(0x1a, nested(3000, [0x0a, 0x32])))],
    ["two million empty names", repeated("1a00", 2_000_000)],
    ["two million empty initial versions", repeated("2a00", 2_000_000)],
    ["a million empty nodes", repeated("1200", 1_000_000)],
    ["a million errors", repeated("3200", 1_000_000)],
    ["a million features in a node", field(0x0a, repeated("5200", 1_000_000))],
    ["names with something between each", repeated("1a016130001a00", 300_000)],
    ["an endless varint", Buffer.alloc(1_000_000, 0xff)],
    ["a length of 4 GB", Buffer.from("1affffffff0f", "hex")],
    ["a node of 8 MB", field(0x12, field(0x0a, Buffer.alloc(8_000_000, 0x61)))],
    ["an error text of 8 MB", field(0x32, field(0x12, Buffer.alloc(8_000_000, 0x1b)))],
    ["an error text of 8 MB that is no text", field(0x3a, field(0x12, Buffer.alloc(8_000_000, 0x80)))],
  ];

  test.each(cases)("%s: read or refused, and not kept", async (_what, bytes) => {
    const outcome: Outcome = { refused: 0, failures: [], read: [] };
    tryAll(bytes, outcome);
    expect(outcome.failures).toEqual([]);
    expect(await heldAmong(outcome.read)).toBeLessThanOrEqual(REMEMBERED);
  });
});
