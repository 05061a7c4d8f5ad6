import { createEnvoyApi } from "@xdskit/envoy-api";
import { anonymousNode, formatTypeUrl } from "@xdskit/protocol";
import type { HeldState } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { encodeOwnStatus, type OwnState } from "./own-status.ts";

const api = createEnvoyApi();
const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const node = { ...anonymousNode, id: "n" };

function held(count: number): readonly HeldState[] {
  return Array.from({ length: count }, (_, i) => {
    const name = `cluster-${i}`;
    const { bytes } = api.readMessage("envoy.config.cluster.v3.Cluster", { name });
    if (bytes === undefined) throw new Error("expected a cluster");
    const resource = { type, name, aliases: [], version: "1", bytes, ttlMs: undefined, references: [] };
    return { type, name, status: "acked", resource, acceptedAtMs: 0, failure: undefined };
  });
}

/** Counts how often other things could happen. */
async function turnsWhile(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  count();
  await work.finally(() => {
    isOver = true;
  });
  return turns;
}

test("C-CSD-03 what takes long is made in slices, between which other things happen", async () => {
  const states = held(20_000);
  const answer = encodeOwnStatus({ api, node, states }, {});
  expect(await turnsWhile(answer)).toBeGreaterThan(20);
  const bytes = await answer;
  const json = api.toJson(formatTypeUrl("envoy.service.status.v3.ClientStatusResponse"), bytes);
  const { config } = json as {
    readonly config: readonly [{ readonly genericXdsConfigs: readonly { name: string }[] }];
  };
  expect(config[0].genericXdsConfigs.map(({ name }) => name)).toEqual(states.map(({ name }) => name));
});

test("C-CSD-03 nothing more is made for who is gone", async () => {
  const gone = new AbortController();
  let redacted = 0;
  const counting: OwnState["api"] = {
    traits: (of) => api.traits(of),
    redacted: (of, bytes) => {
      if (++redacted === 10) gone.abort(new Error("gone"));
      return api.redacted(of, bytes);
    },
  };
  const states = held(20_000);
  await expect(encodeOwnStatus({ api: counting, node, states }, { signal: gone.signal })).rejects.toThrow("gone");
  expect(redacted).toBeLessThan(10_000);
});
