import type { DeltaRequest, DiscoveryRequest } from "@xdskit/protocol/internal";
import { noInitialVersions } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CLUSTER, ENDPOINTS, request } from "../../test/support/sources.ts";
import { NackPauses } from "./nack-pauses.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const error = { code: 3, message: "no" };
const names = ["a"];
const nack = (nonce: string, type = CLUSTER): DiscoveryRequest => request(type, { nonce, error, names });
const ack = (nonce: string, type = CLUSTER): DiscoveryRequest => request(type, { nonce, names });

/** Requests through pauses, and what was sent after how many milliseconds. */
function start(answer: (sent: DiscoveryRequest) => void = () => {}) {
  const beganMs = performance.now();
  const sent: string[] = [];
  const pauses = new NackPauses((one) => {
    sent.push(`${performance.now() - beganMs} ${one.error === undefined ? "ack" : "nack"} ${one.nonce}`);
    answer(one);
  });
  return { pauses, sent };
}

/** As many NACKs as are sent at once. */
function fill({ pauses, sent }: ReturnType<typeof start>): void {
  pauses.send(ack("0"));
  for (const nonce of ["1", "2", "3"]) pauses.send(nack(nonce));
  expect(sent.splice(0)).toEqual(["0 ack 0", "0 nack 1", "0 nack 2", "0 nack 3"]);
}

test("a server that answers each NACK at once is answered after pauses that grow", async () => {
  const loop = start(({ nonce }) => queueMicrotask(() => loop.pauses.send(nack(String(Number(nonce) + 1)))));
  loop.pauses.send(ack("0"));
  await vi.advanceTimersByTimeAsync(40_000);
  expect(loop.sent).toEqual([
    ...["0 ack 0", "0 nack 1", "0 nack 2", "0 nack 3", "100 nack 4", "300 nack 5", "700 nack 6", "1500 nack 7"],
    ...["3100 nack 8", "6300 nack 9", "12700 nack 10", "22700 nack 11", "32700 nack 12"],
  ]);
  loop.pauses.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("an ACK does not wait, follows the NACKs before it, and ends the row", () => {
  const one = start();
  fill(one);
  one.pauses.send(nack("4"));
  expect(one.sent).toEqual([]);
  one.pauses.send(ack("5"));
  for (const nonce of ["6", "7", "8", "9"]) one.pauses.send(nack(nonce));
  expect(one.sent).toEqual(["0 nack 4", "0 ack 5", "0 nack 6", "0 nack 7", "0 nack 8"]);
});

test("NACKs of other types do not wait", () => {
  const one = start();
  fill(one);
  one.pauses.send(nack("4"));
  one.pauses.send(nack("5", ENDPOINTS));
  expect(one.sent).toEqual(["0 nack 5"]);
});

test("a change of names does not wait for the NACK that it comes with, or that waits", () => {
  const one = start();
  fill(one);
  one.pauses.send(request(CLUSTER, { nonce: "4", error, names: ["a", "b"] }));
  expect(one.sent.splice(0)).toEqual(["0 nack 4"]);

  const delta = (nonce: string, subscribe: readonly string[]): DeltaRequest => ({
    ...{ kind: "delta", type: ENDPOINTS, node: undefined, nonce, error, initialVersions: noInitialVersions },
    ...{ subscribe, unsubscribe: [] },
  });
  for (const nonce of ["1", "2", "3", "4"]) one.pauses.send(delta(nonce, []));
  expect(one.sent.splice(0)).toEqual(["0 nack 1", "0 nack 2", "0 nack 3"]);
  one.pauses.send(delta("5", ["b"]));
  expect(one.sent).toEqual(["0 nack 4", "0 nack 5"]);
});

test("NACKs far apart are no row", async () => {
  const one = start();
  fill(one);
  await vi.advanceTimersByTimeAsync(1_001);
  one.pauses.send(nack("4"));
  expect(one.sent).toEqual(["1001 nack 4"]);
});

test("NACKs that come together wait together, the oldest of very many not", async () => {
  const one = start();
  fill(one);
  for (let nonce = 4; nonce <= 105; nonce++) one.pauses.send(nack(String(nonce)));
  expect(one.sent.splice(0)).toEqual(["0 nack 4", "0 nack 5"]);
  await vi.advanceTimersByTimeAsync(100);
  expect([one.sent.length, one.sent.at(-1)]).toEqual([100, "100 nack 105"]);
});

test("what waits when the stream ends is dropped", async () => {
  const one = start();
  fill(one);
  one.pauses.send(nack("4"));
  one.pauses.close();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([one.sent, vi.getTimerCount()]).toEqual([[], 0]);
});
