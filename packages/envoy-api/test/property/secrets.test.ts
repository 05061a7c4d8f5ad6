/** Whether a message holds a secret is said without decoding most of them; what is said must be what redacting it finds. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { createSchema } from "../../src/descriptor/schema.ts";
import { decodeContent } from "../../src/format/content.ts";
import { redact } from "../../src/format/redact.ts";
import { api, V3 } from "../support/api.ts";
import { mutate, seededChance } from "../support/mutation.ts";
import { encodedSamples } from "../support/samples.ts";

const runs = Number(process.env["XDS_FUZZ_RUNS"] ?? 10_000);
const seed = Number(process.env["XDS_FUZZ_SEED"] ?? 20_261);
const schema = createSchema();

const types = [
  V3.cluster,
  V3.listener,
  V3.route,
  V3.endpoints,
  V3.secret,
  "envoy.config.core.v3.TypedExtensionConfig",
  "envoy.config.core.v3.GrpcService",
  "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
  "envoy.api.v2.Cluster",
  "envoy.api.v2.Listener",
  "envoy.api.v2.auth.Secret",
].map(formatTypeUrl);

/** Undefined if it cannot be decoded. */
function holdsByDecoding(type: TypeUrl, bytes: Uint8Array): boolean | undefined {
  const message = schema.message(type);
  if (message === undefined) throw new Error(type);
  try {
    return redact(message, decodeContent(message, bytes), schema);
  } catch {
    return undefined;
  }
}

test("what is said of a message without decoding it is what decoding finds", async () => {
  const chance = seededChance(seed);
  const found = { secrets: 0, others: 0 };
  for (const type of types) {
    const samples = encodedSamples(type, schema, { numRuns: 300, seed });
    for (let run = 0; run < samples.length + runs / types.length; run++) {
      if (run % 500 === 0) await nextTurn();
      const bytes = samples[run] ?? mutate(samples, chance);
      const holds = holdsByDecoding(type, bytes);
      if (holds === undefined) continue;
      if (api.holdsSecret(type, bytes) !== holds) expect.fail(`${type}: expected ${holds} of ${bytes.toString("hex")}`);
      found[holds ? "secrets" : "others"]++;
    }
  }
  expect(found.secrets).toBeGreaterThan(100);
  expect(found.others).toBeGreaterThan(1_000);
});
