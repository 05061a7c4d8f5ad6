import { getEventListeners } from "node:events";
import { decodeDeltaResponse } from "@xdskit/envoy-api/internal";
import { afterEach, describe, expect, test } from "vitest";
import { type RawCall, type RawPeer, within } from "../support/raw-peer.ts";
import { ADS_DELTA, CLUSTER, cluster, deltaRequest, put, startWorld, type World } from "../support/test-server.ts";

let world: World;
afterEach(() => world.close());

/** Opens a stream that asks for all clusters, and takes in the first response. */
async function subscribe(peer: RawPeer): Promise<{ readonly call: RawCall; readonly nonce: string }> {
  const call = peer.open(ADS_DELTA);
  call.send(deltaRequest(CLUSTER));
  return { call, nonce: decodeDeltaResponse(await call.next()).nonce };
}

describe("whenDeployed", () => {
  test("resolves when the last client has ACKed the revision", async () => {
    world = await startWorld();
    const { call, nonce } = await subscribe(await world.connect());
    call.send(deltaRequest(CLUSTER, [], nonce));
    const revision = world.server.commit(put(cluster("b")));
    const deployed = world.server.whenDeployed(revision);
    const second = decodeDeltaResponse(await call.next());
    expect(await world.server.whenDeployed(revision, { timeoutMs: 0 })).toMatchObject({
      state: "pending",
      deployed: 0,
    });
    call.send(deltaRequest(CLUSTER, [], second.nonce));
    expect(await within("the revision", deployed)).toEqual({
      revision: 2,
      head: 2,
      state: "deployed",
      nodes: 1,
      deployed: 1,
      pending: { total: 0, nodes: [] },
      nacked: { total: 0, nodes: [] },
      disconnected: { total: 0, nodes: [] },
    });
  });

  test("resolves when who did not have it disconnects, and names it", async () => {
    world = await startWorld();
    const peer = await world.connect();
    await subscribe(peer);
    const deployed = world.server.whenDeployed(1);
    await peer.close();
    expect(await within("the revision", deployed)).toMatchObject({
      state: "deployed",
      nodes: 0,
      disconnected: { total: 1, nodes: [{ id: "test" }] },
    });
  });

  test("waits for enough nodes", async () => {
    world = await startWorld();
    const deployed = world.server.whenDeployed(1, { minNodes: 1, nodes: "te*" });
    expect(await world.server.whenDeployed(1, { minNodes: 1, timeoutMs: 0 })).toMatchObject({ state: "too-few-nodes" });
    const { call, nonce } = await subscribe(await world.connect());
    call.send(deltaRequest(CLUSTER, [], nonce));
    expect(await within("the revision", deployed)).toMatchObject({ state: "deployed", nodes: 1 });
  });

  test("of a new node mapping waits until those who moved were told", async () => {
    world = await startWorld();
    const { call, nonce } = await subscribe(await world.connect());
    call.send(deltaRequest(CLUSTER, [], nonce));
    await world.server.whenDeployed(1, { minNodes: 1 });
    const revision = world.server.setNodeMapping(() => ["other"]);
    const deployed = world.server.whenDeployed(revision);
    const moved = decodeDeltaResponse(await call.next());
    expect(moved.removedResources).toEqual(["a"]);
    call.send(deltaRequest(CLUSTER, [], moved.nonce));
    expect(await within("the revision", deployed)).toMatchObject({ revision: 2, state: "deployed", nodes: 1 });
  });

  test("ends with its signal", async () => {
    world = await startWorld();
    await subscribe(await world.connect());
    const abort = new AbortController();
    const waiting = world.server.whenDeployed(1, { signal: abort.signal });
    abort.abort();
    expect(await waiting).toMatchObject({ state: "pending" });
    expect(await world.server.whenDeployed(1, { signal: abort.signal })).toMatchObject({ state: "pending" });
  });

  test("leaves nothing at its signal when it ends", async () => {
    world = await startWorld();
    const peer = await world.connect();
    await subscribe(peer);
    const { signal } = new AbortController();
    const waiting = world.server.whenDeployed(1, { signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await peer.close();
    expect(await within("the revision", waiting)).toMatchObject({ state: "deployed" });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    await expect(world.server.whenDeployed(2, { signal })).rejects.toMatchObject({ code: "REVISION_UNKNOWN" });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("rejects when the server closes, and after it", async () => {
    world = await startWorld();
    await subscribe(await world.connect());
    const waiting = world.server.whenDeployed(1).catch((cause: unknown) => cause);
    await world.server.close();
    expect(await within("the end", waiting)).toMatchObject({ name: "XdsError", code: "SERVER_STATE" });
    await expect(world.server.whenDeployed(1)).rejects.toMatchObject({ code: "SERVER_STATE" });
  });

  test.each([
    [2, {}, "REVISION_UNKNOWN", "there is no revision 2; the newest is 1"],
    [0.5, {}, "REVISION_UNKNOWN", "there is no revision 0.5; the newest is 1"],
    [1, { minNodes: -1, timeoutMs: 2 ** 31 }, "OPTIONS_INVALID", /minNodes: .*timeoutMs: /],
    [1, { timeout: 5 } as object, "OPTIONS_INVALID", /: timeout: unknown option \(did you mean "timeoutMs"\?\)$/],
    [1, { signal: {} as never }, "OPTIONS_INVALID", /: signal: expected an AbortSignal, got an object$/],
  ])("of revision %d with %o is refused", async (revision, options, code, message) => {
    world = await startWorld();
    const error = await world.server.whenDeployed(revision, options).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ name: "XdsError", code, message: expect.stringMatching(message) });
  });
});
