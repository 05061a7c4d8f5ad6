/**
 * That a resource is sound is said only of what the decoder and the validator find nothing in, and of nearly all such. `XDS_FUZZ_RUNS=1000000`
 * damages a million of them; `XDS_FUZZ_SEED` takes another path, and a failure tells the bytes.
 */
import { readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { createSchema } from "../../src/descriptor/schema.ts";
import { api, V3 } from "../support/api.ts";
import { mutate, seededChance } from "../support/mutation.ts";
import { encodedSamples } from "../support/samples.ts";

const runs = Number(process.env["XDS_FUZZ_RUNS"] ?? 20_000);
const seed = Number(process.env["XDS_FUZZ_SEED"] ?? 20_261);
const schema = createSchema();

/** Those that a client is sent most, with a filter that a listener may hold, which is no resource by itself. */
const types = [
  V3.cluster,
  V3.listener,
  V3.route,
  V3.endpoints,
  V3.secret,
  V3.runtime,
  "envoy.config.core.v3.TypedExtensionConfig",
  "envoy.config.endpoint.v3.LbEndpoint",
  "envoy.config.route.v3.ScopedRouteConfiguration",
  V3.http,
].map(formatTypeUrl);

/** With what people write of a type, if it is such a one. */
function samplesOf(type: TypeUrl): readonly Buffer[] {
  const ofGolden = golden.get(type);
  const samples = encodedSamples(type, schema, { numRuns: 400, seed });
  return ofGolden === undefined ? samples : [ofGolden, ...samples];
}

/** Resources as people write them. */
const golden = new Map<TypeUrl, Buffer>(
  ["cluster-eds", "endpoints", "listener-http", "route-configuration", "runtime", "secret"].map((name) => {
    const file = new URL(`../golden/resource/${name}/in.json`, import.meta.url);
    const { input } = api.readResource(JSON.parse(readFileSync(file, "utf8")));
    if (input === undefined) throw new Error(name);
    return [input.type, Buffer.from(input.bytes)];
  }),
);

/** What reading and validating say: the name, if nothing is wrong. */
function nameByDecoding(type: TypeUrl, bytes: Uint8Array, name: string, hasRules: boolean): string | undefined {
  const { input } = api.readEncodedResource(type, bytes, name === "" ? { name: "given" } : {});
  if (input === undefined || (hasRules && api.validate(type, input.bytes).length > 0)) return undefined;
  return name === "" ? "" : input.name;
}

function isGood(type: TypeUrl, bytes: Uint8Array): boolean {
  return nameByDecoding(type, bytes, "", true) !== undefined;
}

test.each(types)("%s that is sound can be read, keeps the rules, and has that name", async (type) => {
  const samples = samplesOf(type);
  // Most are bad from the beginning; those that are not are told more of by what becomes of them.
  const seeds = [...samples.slice(0, 50), ...samples.filter((bytes) => isGood(type, bytes))];
  const chance = seededChance(seed);
  let sound = 0;
  for (let run = 0; run < runs / types.length; run++) {
    const bytes = mutate(seeds, chance);
    const hasRules = chance(4) > 0;
    const name = api.soundName(type, bytes, hasRules);
    if (name !== undefined) {
      sound++;
      const told = nameByDecoding(type, bytes, name, hasRules);
      if (told !== name) expect.unreachable(`${type} ${hasRules} ${bytes.toString("hex")}: ${name}, got ${told}`);
    }
    // Otherwise the runner takes it for dead.
    if (run % 5_000 === 0) await nextTurn();
  }
  expect(sound).toBeGreaterThan(0);
});

test("what an encoder wrote and nothing is wrong with is sound", () => {
  for (const type of types) {
    const good = samplesOf(type).filter((bytes) => isGood(type, bytes));
    const missed = good.filter((bytes) => api.soundName(type, bytes) === undefined);
    expect([type, missed.map((bytes) => bytes.toString("hex"))]).toEqual([type, []]);
    if (golden.has(type)) expect(good[0]).toEqual(golden.get(type));
  }
});
