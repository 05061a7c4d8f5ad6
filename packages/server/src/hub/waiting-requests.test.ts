import { anonymousNode, formatTypeUrl } from "@xdskit/protocol";
import type { SotwRequest } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { accountOf } from "./account.ts";
import { ByteBudget } from "./byte-budget.ts";
import { WaitingRequests } from "./waiting-requests.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const MOST_BYTES = 100;

/** A request of a client that has something from another server. */
const request: SotwRequest = {
  kind: "sotw",
  type: CLUSTER,
  node: anonymousNode,
  versionInfo: "1",
  names: [],
  nonce: undefined,
  error: undefined,
};

/** Requests that wait until the state is `fresh`; undefined: it is. */
function start(fresh: Promise<void> | undefined) {
  const taken: number[] = [];
  const refused: number[] = [];
  const budget = new ByteBudget({
    maxReceivedBytes: MOST_BYTES,
    maxReceivedBytesPerPeer: MOST_BYTES,
    maxReceivedBytesPerIdentity: MOST_BYTES,
  });
  const waiting = new WaitingRequests({
    twinOf: () => undefined,
    open: () => budget.open(accountOf({ address: "192.0.2.1:1" })),
    viewOf: () => () => true,
    converter: undefined,
    isKnown: () => false,
    process: (stream) => taken.push(stream),
    withheld: () => undefined,
    refuse: (id) => refused.push(id),
    commit: () => undefined,
    failed: () => undefined,
  });
  waiting.setFreshness({ check: () => fresh });
  const poll = (id: number, bytes: number): void => waiting.takePoll(id, CLUSTER, request, bytes, () => taken.push(id));
  return { waiting, taken, refused, poll };
}

describe("clients that may come from another server are kept", () => {
  test("if they are streams, until they end", () => {
    const { waiting, taken } = start(undefined);
    waiting.take(1, CLUSTER, request, 1);
    waiting.take(2, CLUSTER, request, 1);
    expect({ taken, clients: waiting.clients }).toEqual({ taken: [1, 2], clients: 2 });
    waiting.forget(1);
    expect(waiting.clients).toBe(1);
  });

  test("if they are polls, until they are taken, at once or later", async () => {
    const atOnce = start(undefined);
    atOnce.poll(1, 1);
    expect({ taken: atOnce.taken, clients: atOnce.waiting.clients }).toEqual({ taken: [1], clients: 0 });
    const fresh = Promise.resolve();
    const later = start(fresh);
    later.poll(1, 1);
    expect({ taken: later.taken, clients: later.waiting.clients }).toEqual({ taken: [], clients: 1 });
    await fresh;
    expect({ taken: later.taken, clients: later.waiting.clients }).toEqual({ taken: [1], clients: 0 });
  });

  test("if they are polls of which too much waits, until they are refused", () => {
    const { waiting, refused, poll } = start(new Promise(() => undefined));
    poll(1, MOST_BYTES);
    poll(2, 1);
    expect({ refused, clients: waiting.clients }).toEqual({ refused: [2], clients: 2 });
    waiting.forget(2);
    expect(waiting.clients).toBe(1);
  });
});
