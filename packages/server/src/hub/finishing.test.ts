import type { Status, TypeUrl, Variant } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { CLUSTER, ENDPOINTS, remote, request, resource, settled, startHub } from "../../test/support/test-hub.ts";
import type { Hub } from "./hub.ts";
import type { ServerReport } from "./port.ts";

test("a stream is finished also while others are always due", async () => {
  const { hub, open } = startHub();
  hub.commit({ changes: [{ layer: "base", puts: [resource(CLUSTER, "c")] }] });
  const busy = Array.from({ length: 50 }, () => open(remote));
  let asked = 0;
  const churn = (): void => {
    for (const { ask } of busy) ask(request(CLUSTER, [`c${asked++}`]));
  };
  const { stream, ended, received, ask } = open(remote);
  churn();
  ask(request(CLUSTER));
  hub.finish(stream);
  // Its turn comes within 20 flushes for each stream, and a slice on a slow machine has one.
  const slices = 20 * (busy.length + 1);
  for (let i = 0; i < slices && ended.length === 0; i++) {
    churn();
    await new Promise((resolve) => setImmediate(resolve));
    churn();
  }
  expect({ ended, received }).toEqual({ ended: [{ code: 0, message: "" }], received: [["c"]] });
  hub.close();
});

const names = Array.from({ length: 6_000 }, (_, i) => `e${i}`);

describe("a large answer in parts", () => {
  test.each([
    ["the client ends its side", false],
    ["the server ends it", true],
  ])("is sent to its end when %s", async (_, isEndedByServer) => {
    const { hub, reports } = startHub({ dialect: { maxResponseBytes: 500_000 } });
    hub.commit({ changes: [{ layer: "base", puts: names.map((name) => resource(ENDPOINTS, name)) }] });
    const connection = hub.openConnection(remote, "grpc") ?? 0;
    let [bytes, isEnded] = [0, false];
    const stream = hub.openStream(
      { connection, variant: "delta", onlyType: undefined, apiVersion: "v3", method: "/test" },
      {
        prefix: () => new Uint8Array(0),
        write(pieces, written) {
          for (const { byteLength } of pieces) bytes += byteLength;
          queueMicrotask(written);
        },
        end: () => {
          isEnded = true;
        },
        reset: () => undefined,
      },
    );
    if (typeof stream !== "number") throw new Error(stream.message);
    hub.receive(stream, request(ENDPOINTS, names), 10);
    const of = <K extends ServerReport["kind"]>(kind: K) =>
      reports.filter((report): report is Extract<ServerReport, { kind: K }> => report.kind === kind);
    if (isEndedByServer) {
      while (of("response-sent").length === 0) await settled();
      hub.endStream(stream, { code: 0, message: "" }, "finished");
    } else hub.finish(stream);
    while (!isEnded) await settled();
    const sent = of("response-sent").map(({ resources }) => resources);
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.reduce((sum, one) => sum + one, 0)).toBe(names.length);
    expect(of("response-queued").reduce((sum, one) => sum + one.bytes, 0)).toBe(bytes);
    expect(of("response-queued")).toHaveLength(sent.length);
    hub.close();
  });
});

describe("S-GRP-05, S-GRP-07: a client that half-closes before it reads", () => {
  /** A stream whose client takes nothing of what is written until it reads. */
  function openUnread(hub: Hub, variant: Variant) {
    const connection = hub.openConnection(remote, "grpc") ?? 0;
    const ended: (Status | "reset")[] = [];
    let [bytes, isReading, takeFirst] = [0, false, () => {}];
    const stream = hub.openStream(
      { connection, variant, onlyType: undefined, apiVersion: "v3", method: "/test" },
      {
        prefix: () => new Uint8Array(0),
        write(pieces, written) {
          for (const { byteLength } of pieces) bytes += byteLength;
          if (isReading) queueMicrotask(written);
          else takeFirst = written;
        },
        end: (status) => ended.push(status),
        reset: () => ended.push("reset"),
      },
    );
    if (typeof stream !== "number") throw new Error(stream.message);
    const ask = (type: TypeUrl, asked: readonly string[]): void => {
      const delta = request(type, asked);
      const { node, nonce, error } = delta;
      const sotw = { kind: "sotw", type, node, nonce, error, names: asked, versionInfo: undefined } as const;
      hub.receive(stream, variant === "delta" ? delta : sotw, 10);
    };
    const read = (): void => {
      isReading = true;
      takeFirst();
    };
    return { stream, ended, ask, read, bytes: () => bytes };
  }

  test.each([
    ["takes several flushes", names, "delta"],
    ["takes several flushes", names, "sotw"],
    ["was asked for while it did not read", ["e1"], "delta"],
    ["was asked for while it did not read", ["e1"], "sotw"],
  ] as const)("is sent an answer to its end that %s", async (what, asked, variant) => {
    const { hub, reports } = startHub();
    const large = resource(CLUSTER, "c", "x".repeat(1_000_000));
    const puts = [large, ...names.map((name) => resource(ENDPOINTS, name))];
    hub.commit({ changes: [{ layer: "base", puts }] });
    const { stream, ended, ask, read, bytes } = openUnread(hub, variant);
    ask(CLUSTER, ["c"]);
    if (what === "was asked for while it did not read") {
      while (!reports.some(({ kind }) => kind === "stream-stalled")) await settled();
    }
    ask(ENDPOINTS, asked);
    hub.finish(stream);
    await settled();
    expect(ended).toEqual([]);
    read();
    while (ended.length === 0) await settled();
    const sent = new Map<TypeUrl, number>();
    let sentBytes = 0;
    for (const report of reports) {
      if (report.kind === "response-sent") sent.set(report.type, (sent.get(report.type) ?? 0) + report.resources);
      if (report.kind === "response-queued") sentBytes += report.bytes;
    }
    expect({ ended, sent: Object.fromEntries(sent), bytes: bytes() }).toEqual({
      ended: [{ code: 0, message: "" }],
      sent: { [CLUSTER]: 1, [ENDPOINTS]: asked.length },
      bytes: sentBytes,
    });
    hub.close();
  });
});
