import {
  type ClientEffect,
  ClientMachine,
  type ClientMachineOptions,
  type DiscoveryRequest,
} from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { clientCases } from "../src/cases/client/cases.ts";
import { type PlayedClient, playClientInMemory } from "../src/play/client/in-memory.ts";
import { playClientOverTheWire } from "../src/play/client/over-the-wire.ts";
import { clientPlaysOf } from "../src/play/client/plays.ts";
import type { ClientTarget } from "../src/target/client-target.ts";

const plays = clientPlaysOf(clientCases);

/** A machine of whose effects some are left out, or are others. */
function spoilt(options: ClientMachineOptions, spoil: (effect: ClientEffect) => readonly ClientEffect[]): PlayedClient {
  const machine = new ClientMachine(options);
  return { onAll: (events, moment) => machine.onAll(events, moment).flatMap(spoil) };
}

async function countFailed(spoil: (effect: ClientEffect) => readonly ClientEffect[]): Promise<number> {
  let failed = 0;
  for (const play of plays) {
    const verdict = await playClientInMemory(play, (options) => spoilt(options, spoil));
    if (!verdict.passed) failed++;
  }
  return failed;
}

function inRequests(change: (request: DiscoveryRequest) => DiscoveryRequest) {
  return (effect: ClientEffect): readonly ClientEffect[] =>
    effect.kind === "send-request" ? [{ ...effect, request: change(effect.request) }] : [effect];
}

describe("cases of the client notice", () => {
  test("one that does nothing at all, each of them", async () => {
    expect(await countFailed(() => [])).toBe(plays.length);
  });

  test.each([
    ["no nonce", inRequests((request) => ({ ...request, nonce: undefined }))],
    ["no error", inRequests((request) => ({ ...request, error: undefined }))],
    [
      "errors that name nothing",
      inRequests((request) =>
        request.error === undefined ? request : { ...request, error: { code: 3, message: "bad, all of it" } },
      ),
    ],
    ["no node", inRequests((request) => ({ ...request, node: undefined }))],
    [
      "no version",
      inRequests((request) => (request.kind === "sotw" ? { ...request, versionInfo: undefined } : request)),
    ],
    [
      "one name less",
      inRequests((request) =>
        request.kind === "sotw"
          ? { ...request, names: request.names.slice(1) }
          : { ...request, subscribe: request.subscribe.slice(1) },
      ),
    ],
    ["everything twice", (effect: ClientEffect) => (effect.kind === "send-request" ? [effect, effect] : [effect])],
    ["nothing told", (effect: ClientEffect) => (effect.kind === "notify" ? [] : [effect])],
    ["no new stream", (effect: ClientEffect) => (effect.kind === "start-timer" ? [] : [effect])],
  ] as const)("%s", async (_, spoil) => {
    expect(await countFailed(spoil)).toBeGreaterThan(10);
  });
});

/** Never connects to anybody, and tells nothing. */
const mute: ClientTarget = {
  name: "mute",
  pace: { deadlineMs: 10, quietMs: 0 },
  start: async () => ({ watch: () => () => {}, stop: async () => {} }),
  async [Symbol.asyncDispose]() {},
};

test("no case passes over the wire with a client that never says a word", async () => {
  const passed: string[] = [];
  const left = plays.filter(({ case: { memoryOnly } }) => memoryOnly === undefined);
  const count = left.length;
  const work = async (): Promise<void> => {
    for (let play = left.shift(); play !== undefined; play = left.shift()) {
      if ((await playClientOverTheWire(play, mute)).passed) passed.push(play.key);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  expect(passed).toEqual([]);
  expect(count).toBeGreaterThan(200);
});
