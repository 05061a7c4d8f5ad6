import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { statusCode } from "@xdskit/protocol/internal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Case, Publication, Step } from "../src/case.ts";
import { playClientOverTheWire } from "../src/play/client/over-the-wire.ts";
import { UnsupportedStep } from "../src/play/driver.ts";
import { playOverTheWire } from "../src/play/over-the-wire.ts";
import type { Play } from "../src/play/plays.ts";
import type { ClientTarget } from "../src/target/client-target.ts";
import { createOurs } from "../src/target/ours.ts";
import { createProgramTarget } from "../src/target/program.ts";
import type { Target } from "../src/target/target.ts";
import { targetThat } from "./support/bad-target.ts";

function playOf(steps: readonly Step[], more: Partial<Case> = {}): Play {
  const script: Case = { id: "S-GEN-04", says: "does this", variant: "delta", type: "cds", ...more, steps };
  return { key: "S-GEN-04 delta ads", case: script, kind: "ads" };
}

describe("what a program is not told of is not played", () => {
  let folder = "";
  let target: Target;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "program-"));
    const file = join(folder, "program.mjs");
    const script = `#!${process.execPath}\nprocess.stdin.on("data", (lines) => {
      for (const _ of lines.toString().trim().split("\\n")) console.log('{"address":"127.0.0.1:1"}');
    });`;
    await writeFile(file, script, { mode: 0o755 });
    target = createProgramTarget("program", file, { deadlineMs: 100, quietMs: 0, hasFence: false });
  });

  afterAll(async () => {
    await target[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  test.each<[string, Publication]>([
    ["of no errors in place of resources", { cds: [{ is: "a@1", error: 7 }] }],
    ["of no ttls", { cds: [{ is: "a@1", ttl: 3_000 }] }],
    ["of no aliases", { vhds: ["rc/b@1", { is: "rc/a@1", aliases: ["rc/x"] }] }],
    ["of no resources on demand", { cds: [{ is: "a@1", onDemand: true }] }],
    ["of no constraints", { cds: [{ is: "a@1", when: { kind: "exists", key: "env" } }] }],
    ["of no cache control", { cds: [{ is: "a@1", doNotCache: true }] }],
    ["of no metadata", { cds: [{ is: "a@1", metadata: "x" }] }],
    ["of no versions of single resources", { cds: [{ is: "a@1", version: "own" }] }],
    ["of no names that are not in their resources", { leds: ["a@1"] }],
    ["of no canaries", { cds: ["a@1"], canaries: { cds: true } }],
    ["no system version", { cds: ["a@1"], system: "build 7" }],
  ])("%s", async (what, publishes) => {
    const verdict = await playOverTheWire(playOf([{ publishes: { cds: ["z@1"] } }, { publishes }]), target);
    expect(verdict).toEqual({ passed: false, step: 2, notPlayed: `a program is told ${what}` });
  });

  test("nor are settings that it has no command for", async () => {
    const play = playOf([{ publishes: { cds: ["a@1"] } }], { setup: { edition: "2018" } });
    expect(await playOverTheWire(play, target)).toEqual({ passed: false, step: 1, notPlayed: "no edition 2018" });
  });
});

test("a program that ends, or answers what is no JSON, fails every case and keeps none from being played", async () => {
  const folder = await mkdtemp(join(tmpdir(), "program-"));
  for (const [name, script] of [
    ["ends.mjs", "process.exit(3)"],
    ["chats.mjs", 'process.stdin.on("data", () => console.log("hello"))'],
  ] as const) {
    const file = join(folder, name);
    await writeFile(file, `#!${process.execPath}\n${script};`, { mode: 0o755 });
    await using target = createProgramTarget(name, file, { deadlineMs: 100, quietMs: 0, hasFence: false });
    for (const _ of [1, 2]) {
      expect(await playOverTheWire(playOf([{ publishes: { cds: ["a@1"] } }]), target)).toMatchObject({
        passed: false,
        step: 1,
        actual: expect.stringContaining(file),
      });
    }
  }
  await rm(folder, { recursive: true });
});

test("cases about recorded ACKs are not played against who tells of none", async () => {
  await using ours = createOurs();
  const play = playOf(
    [{ publishes: { cds: ["a@1"] } }, { receives: {}, sends: [{ resources: ["a@1"], as: "A" }], reports: [] }],
    { isAboutBookings: true },
  );
  expect(await playOverTheWire(play, { ...ours, tellsBookings: false })).toEqual({
    passed: false,
    step: 2,
    notPlayed: "it does not tell which ACKs and NACKs it records",
  });
});

test("a method that a server does not have is not played", async () => {
  const trailers = { ":status": 200, "content-type": "application/grpc", "grpc-status": statusCode.UNIMPLEMENTED };
  const target = targetThat((stream) => stream.respond(trailers, { endStream: true }));
  const asked = { receives: {}, sends: [{ resources: ["a@1"] }] };
  expect(await playOverTheWire(playOf([{ publishes: { cds: ["a@1"] } }, asked]), target)).toEqual({
    passed: false,
    step: 2,
    notPlayed: "it answers UNIMPLEMENTED on stream main",
  });
});

test("a client that cannot have the sources of a case is not played", async () => {
  const target: ClientTarget = {
    name: "choosy",
    pace: { deadlineMs: 10, quietMs: 0 },
    start: () => Promise.reject(new UnsupportedStep("it has one source")),
    async [Symbol.asyncDispose]() {},
  };
  const script = { id: "C-GEN-04", says: "does this", variant: "delta", type: "cds", steps: [] } as const;
  const play = { key: "C-GEN-04 delta ads", case: { ...script, steps: [{ watches: "a" }] }, kind: "ads" } as const;
  expect(await playClientOverTheWire(play, target)).toEqual({
    passed: false,
    step: 1,
    notPlayed: "it has one source",
  });
});
