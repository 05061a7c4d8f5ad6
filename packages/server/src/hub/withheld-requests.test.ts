import { anonymousNode, formatTypeUrl } from "@xdskit/protocol";
import {
  type DeltaRequest,
  type DiscoveryRequest,
  noInitialVersions,
  type SotwRequest,
} from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { accountOf } from "./account.ts";
import { ByteBudget } from "./byte-budget.ts";
import { type MissingNames, missingNames, type WaitingType, WithheldRequests } from "./withheld-requests.ts";

const SECRET = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");
const OLD_SECRET = formatTypeUrl("envoy.api.v2.auth.Secret");
const LISTENER = formatTypeUrl("envoy.config.listener.v3.Listener");
const none = { nonce: undefined, error: undefined };

function sotw(type: typeof SECRET, names: readonly string[], node: SotwRequest["node"] = undefined): SotwRequest {
  return { kind: "sotw", type, node, versionInfo: undefined, names, ...none };
}

function delta(type: typeof SECRET, subscribe: readonly string[]): DeltaRequest {
  const nothing = { node: undefined, unsubscribe: [], initialVersions: noInitialVersions, ...none };
  return { kind: "delta", type, subscribe, ...nothing };
}

function missing(...names: readonly string[]): MissingNames {
  return missingNames(names.map((name) => ({ layer: "base", type: SECRET, name })));
}

function waiting(stream: number, request: DiscoveryRequest, ...names: readonly string[]): WaitingType {
  return { stream, request, missing: names };
}

/** The name that a node may not have. */
const denied = new Map([["other", "a"]]);

function start(...names: readonly string[]): WithheldRequests {
  const budget = new ByteBudget({
    maxReceivedBytes: 100,
    maxReceivedBytesPerPeer: 50,
    maxReceivedBytesPerIdentity: 50,
  });
  const withheld = new WithheldRequests({
    twinOf: (type) => (type === OLD_SECRET ? SECRET : undefined),
    open: (stream) => budget.open(accountOf({ address: `192.0.2.${stream}:1` })),
    viewOf: (_, node) => (layer, __, name) => layer === "base" && name !== denied.get(node?.id ?? ""),
  });
  withheld.setMissing(missing(...names));
  return withheld;
}

describe("requests for resources whose content is not at hand", () => {
  test.each([
    ["a missing name", sotw(SECRET, ["a", "b"])],
    ["a missing name, delta", delta(SECRET, ["a"])],
    ["a wildcard", delta(SECRET, ["*"])],
    ["everything, in a first request", sotw(SECRET, [])],
    ["the twin of the type", sotw(OLD_SECRET, ["a"])],
  ])("wait if they ask for %s", (_, request) => {
    expect(start("a").take(1, request.type, request, 1)).toEqual(waiting(1, request, "a"));
  });

  test("do not wait if they ask for other names or types, or nothing is missing", () => {
    const withheld = start("a");
    for (const request of [sotw(SECRET, ["b"]), delta(LISTENER, []), sotw(SECRET, [])])
      expect(withheld.take(1, request.type, request, 1)).toBe(request);
    const request = sotw(SECRET, ["a"]);
    expect(start().take(1, SECRET, request, 1)).toBe(request);
  });

  test("do not wait for what their client may not have, so that nothing tells that it exists", () => {
    const withheld = start("a");
    const node = { ...anonymousNode, id: "other" };
    const requests = [sotw(SECRET, ["a"], node), delta(SECRET, ["a"]), delta(SECRET, ["*"])];
    for (const request of requests) {
      const own = { ...request, node };
      expect(withheld.take(1, SECRET, own, 1)).toBe(own);
    }
    const elsewhere = start();
    elsewhere.setMissing(missingNames([{ layer: "node/b", type: SECRET, name: "a" }]));
    const request = sotw(SECRET, ["a"]);
    expect(elsewhere.take(1, SECRET, request, 1)).toBe(request);
  });

  test("wait with the later ones of the type, and go on in order once nothing is missing that they ask for", () => {
    const withheld = start("a", "z");
    const [first, ack, other] = [delta(SECRET, ["a"]), delta(SECRET, []), delta(SECRET, ["z"])];
    withheld.take(1, SECRET, first, 1);
    withheld.take(1, SECRET, ack, 1);
    withheld.take(2, SECRET, other, 1);
    withheld.setMissing(missing("z"));
    const requests = [
      { request: first, bytes: 1 },
      { request: ack, bytes: 1 },
    ];
    expect(withheld.release()).toEqual([{ stream: 1, type: SECRET, requests }]);
    withheld.setMissing(new Map());
    expect(withheld.release()).toEqual([{ stream: 2, type: SECRET, requests: [{ request: other, bytes: 1 }] }]);
  });

  test("tell at most 100 names of a type, over all of its requests", () => {
    const names = Array.from({ length: 150 }, (_, index) => `s${index}`);
    const withheld = start(...names);
    const told = names.slice(0, 100);
    const [first, second] = [sotw(SECRET, names.slice(0, 90)), sotw(SECRET, names.slice(80))];
    expect(withheld.take(1, SECRET, first, 1)).toEqual(waiting(1, first, ...names.slice(0, 90)));
    expect(withheld.take(1, SECRET, second, 1)).toEqual(waiting(1, second, ...told));
    expect([...withheld.waiting()]).toEqual([waiting(1, second, ...told)]);
    withheld.setMissing(missing(...names.slice(70)));
    expect(withheld.release()).toEqual([]);
    expect([...withheld.waiting()]).toEqual([waiting(1, second, ...names.slice(70))]);
  });

  test("cost no more the more of them wait already", () => {
    let looks = 0;
    const withheld = new WithheldRequests({
      twinOf: () => undefined,
      open: () => ({ hold: () => undefined }),
      viewOf: () => () => ++looks > 0,
    });
    withheld.setMissing(missing("a"));
    const looksOf = (request: DiscoveryRequest): number => {
      const before = looks;
      withheld.take(1, request.type, request, 1);
      return looks - before;
    };
    const costs = Array.from({ length: 50 }, () => looksOf(delta(SECRET, ["a"])));
    expect(costs).toEqual([2, ...Array<number>(49).fill(1)]);
    expect(looksOf(delta(LISTENER, ["a"]))).toBe(0);
  });

  test("lend their node to what comes after them on the stream", () => {
    const withheld = start("a");
    const node = { ...anonymousNode, id: "n" };
    withheld.take(1, SECRET, sotw(SECRET, ["a"], node), 1);
    expect(withheld.take(1, LISTENER, sotw(LISTENER, []), 1)).toEqual(sotw(LISTENER, [], node));
  });

  test("are forgotten with their stream, and count as bytes that their client holds, not another", () => {
    const withheld = start("a");
    const request = sotw(SECRET, ["a"]);
    expect(withheld.take(1, SECRET, request, 40)).toEqual(waiting(1, request, "a"));
    expect(withheld.take(1, SECRET, request, 20)).toBe("full");
    expect(withheld.take(2, SECRET, request, 20)).toEqual(waiting(2, request, "a"));
    expect([withheld.isWaiting(1), withheld.isWaiting(3)]).toEqual([true, false]);
    withheld.forget(1);
    expect(withheld.isWaiting(1)).toBe(false);
    expect(withheld.take(1, SECRET, request, 50)).toEqual(waiting(1, request, "a"));
    withheld.forget(1);
    withheld.forget(2);
    expect(withheld.release()).toEqual([]);
  });
});
