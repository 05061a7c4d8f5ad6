import { anonymousNode, formatTypeUrl } from "@xdskit/protocol";
import {
  type DeltaRequest,
  type DiscoveryRequest,
  noInitialVersions,
  type SotwRequest,
} from "@xdskit/protocol/internal";
import { describe, expect, test, vi } from "vitest";
import { accountOf } from "./account.ts";
import { ByteBudget } from "./byte-budget.ts";
import type { MissingChange, MissingContent } from "./missing-resources.ts";
import { type WaitingType, WithheldRequests } from "./withheld-requests.ts";

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

function secrets(...names: readonly string[]): readonly MissingContent[] {
  return names.map((name) => ({ layer: "base", type: SECRET, name }));
}

const missing = (...names: readonly string[]): MissingChange => ({ added: secrets(...names), removed: [] });
const came = (...names: readonly string[]): MissingChange => ({ added: [], removed: secrets(...names) });

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
    viewOf: (_, node) => (layer, __, name) => !layer.startsWith("node/") && name !== denied.get(node?.id ?? ""),
  });
  withheld.change(missing(...names));
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
    elsewhere.change({ added: [{ layer: "node/b", type: SECRET, name: "a" }], removed: [] });
    const request = sotw(SECRET, ["a"]);
    expect(elsewhere.take(1, SECRET, request, 1)).toBe(request);
  });

  test("wait with the later ones of the type, and go on in order once nothing is missing that they ask for", () => {
    const withheld = start("a", "z");
    const [first, ack, other] = [delta(SECRET, ["a"]), delta(SECRET, []), delta(SECRET, ["z"])];
    withheld.take(1, SECRET, first, 1);
    withheld.take(1, SECRET, ack, 1);
    withheld.take(2, SECRET, other, 1);
    const requests = [
      { request: first, bytes: 1 },
      { request: ack, bytes: 1 },
    ];
    expect(withheld.change(came("a"))).toEqual({ released: [{ stream: 1, type: SECRET, requests }], waiting: [] });
    const last = { stream: 2, type: SECRET, requests: [{ request: other, bytes: 1 }] };
    expect(withheld.change(came("z"))).toEqual({ released: [last], waiting: [] });
    expect([...withheld.missing]).toEqual([]);
  });

  test("tell at most 100 names of a type, over all of its requests", () => {
    const names = Array.from({ length: 150 }, (_, index) => `s${index}`);
    const withheld = start(...names);
    const told = names.slice(0, 100);
    const [first, second] = [sotw(SECRET, names.slice(0, 90)), sotw(SECRET, names.slice(80))];
    expect(withheld.take(1, SECRET, first, 1)).toEqual(waiting(1, first, ...names.slice(0, 90)));
    expect(withheld.take(1, SECRET, second, 1)).toEqual(waiting(1, second, ...told));
    expect([...withheld.waiting()]).toEqual([waiting(1, second, ...told)]);
    const left = names.slice(70);
    const others = [waiting(1, second, ...left)];
    expect(withheld.change(came(...names.slice(0, 70)))).toEqual({ released: [], waiting: others });
    expect([...withheld.waiting()]).toEqual(others);
  });

  test("cost no more the more of them wait already", () => {
    let looks = 0;
    const withheld = new WithheldRequests({
      twinOf: () => undefined,
      open: () => ({ hold: () => undefined }),
      viewOf: () => () => ++looks > 0,
    });
    withheld.change(missing("a"));
    const looksOf = (request: DiscoveryRequest): number => {
      const before = looks;
      withheld.take(1, request.type, request, 1);
      return looks - before;
    };
    const costs = Array.from({ length: 50 }, () => looksOf(delta(SECRET, ["a"])));
    expect(costs).toEqual([2, ...Array<number>(49).fill(1)]);
    expect(looksOf(delta(LISTENER, ["a"]))).toBe(0);
  });

  test("wait for a name until it is missing in no layer that the client may have", () => {
    const withheld = start("a", "b");
    const elsewhere = ["node/x", "group/x"].map((layer) => ({ layer, type: SECRET, name: "b" }));
    withheld.change({ added: elsewhere, removed: [] });
    const request = sotw(SECRET, ["a", "b"]);
    withheld.take(1, SECRET, request, 1);
    expect(withheld.change(came("b"))).toEqual({ released: [], waiting: [waiting(1, request, "a")] });
    expect(withheld.change(came("a"))).toEqual({ released: [], waiting: [waiting(1, request, "b")] });
    const released = [{ stream: 1, type: SECRET, requests: [{ request, bytes: 1 }] }];
    expect(withheld.change({ added: [], removed: elsewhere.slice(1) })).toEqual({ released, waiting: [] });
    expect([...withheld.missing]).toEqual(elsewhere.slice(0, 1));
  });

  test("wait for what is missing from now on as well", () => {
    const withheld = start("a");
    const [request, elsewhere] = [delta(SECRET, ["a", "b"]), delta(SECRET, ["a"])];
    withheld.take(1, SECRET, request, 1);
    withheld.take(2, SECRET, elsewhere, 1);
    const other = waiting(1, request, "a", "b");
    expect(withheld.change(missing("b")).waiting).toContainEqual(other);
    expect(withheld.change(came("a")).waiting).toEqual([waiting(1, request, "b")]);
  });

  test("cost what they ask for, not its square, when it comes one by one", () => {
    const workOf = (count: number): number => {
      const names = Array.from({ length: count }, (_, index) => `s${index}`);
      const withheld = start(...names);
      withheld.take(1, SECRET, sotw(SECRET, names), 1);
      const lookups = [vi.spyOn(Map.prototype, "get"), vi.spyOn(Map.prototype, "set"), vi.spyOn(Set.prototype, "add")];
      const released = names.map((name) => withheld.change(came(name)).released.length);
      const work = lookups.reduce((sum, { mock }) => sum + mock.calls.length, 0);
      for (const spy of lookups) spy.mockRestore();
      expect(released).toEqual([...Array<number>(count - 1).fill(0), 1]);
      return work;
    };
    expect(workOf(2_000) / workOf(1_000)).toBeLessThan(2.2);
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
