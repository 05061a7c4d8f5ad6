/**
 * Damaged responses, to everything that a client makes of them: reading, judging, the machine. `XDS_FUZZ_RUNS=1000000` makes it a
 * million of them; `XDS_FUZZ_SEED` takes another path.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { encodeDeltaResponse, encodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl, type Variant } from "@xdskit/protocol";
import {
  type ClientEffect,
  ClientMachine,
  clientDialect,
  type DiscoveryResponse,
  opaqueTraits,
} from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { mutate, seededChance } from "../../../envoy-api/test/support/mutation.ts";
import type { GrpcSource } from "../../src/config/client-config.ts";
import { ResponseReader } from "../../src/reading/response-reader.ts";

const runs = Number(process.env["XDS_FUZZ_RUNS"] ?? 20_000);
const seed = Number(process.env["XDS_FUZZ_SEED"] ?? 4_711);

const api = createEnvoyApi();
const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const WRAPPER = formatTypeUrl("envoy.service.discovery.v3.Resource");

const bytesOf = (message: string, json: object): Uint8Array => {
  const { bytes } = api.readMessage(message, json);
  if (bytes === undefined) throw new Error(`no ${message}`);
  return bytes;
};
const cluster = (name: string): Uint8Array =>
  bytesOf("envoy.config.cluster.v3.Cluster", {
    name,
    type: "EDS",
    edsClusterConfig: { edsConfig: { ads: {}, resourceApiVersion: "V3" } },
    connectTimeout: "1s",
  });
const wrapped = (name: string): Uint8Array =>
  bytesOf("envoy.service.discovery.v3.Resource", {
    name,
    version: "1",
    ttl: "3s",
    resource: { "@type": CLUSTER, name, connectTimeout: "1s" },
  });

const responses: Readonly<Record<Variant, readonly Buffer[]>> = {
  sotw: [
    { versionInfo: "1", nonce: "a", typeUrl: CLUSTER, resources: [{ typeUrl: CLUSTER, value: cluster("a") }] },
    {
      versionInfo: "2",
      nonce: "b",
      typeUrl: CLUSTER,
      controlPlane: "x",
      resources: ["a", "b"].map((name) => ({ typeUrl: WRAPPER, value: wrapped(name) })),
      resourceErrors: [{ resourceName: { name: "c" }, errorDetail: { code: 7, message: "no", details: [] } }],
    },
    { versionInfo: "3", nonce: "c", typeUrl: CLUSTER },
  ].map((message) => Buffer.from(encodeSotwResponse(message))),
  delta: [
    {
      systemVersionInfo: "1",
      nonce: "a",
      typeUrl: CLUSTER,
      resources: ["a", "b"].map((name) => ({
        name,
        version: "1",
        aliases: ["x"],
        ttlMs: 3_000,
        resource: { typeUrl: CLUSTER, value: cluster(name) },
      })),
    },
    { nonce: "b", typeUrl: CLUSTER, removedResources: ["a"], resources: [{ name: "b", version: "1", ttlMs: 1_000 }] },
    { nonce: "c", typeUrl: CLUSTER, resources: [{ name: "c", version: "" }], removedResources: ["x"] },
  ].map((message) => Buffer.from(encodeDeltaResponse(message))),
};

function sourceOf(variant: Variant): GrpcSource {
  return {
    ...{ kind: "grpc", id: variant, variant, apiVersion: "v3", resourceApiVersion: "v3", isAggregated: true },
    ...{ servers: [], failover: "cycle", nodeIn: "first-request", rateLimit: undefined, parameters: undefined },
    ...{ backOff: { baseMs: 1, maxMs: 1 }, initialFetchTimeoutMs: 15_000, dialect: clientDialect() },
  };
}

/** A client that has asked for everything and for two names. */
class Talk {
  readonly source: GrpcSource;
  readonly reader = new ResponseReader({ api, isPgvOn: true, validators: [] });
  readonly #machine = new ClientMachine({
    traits: (type) => api.traits(type) ?? opaqueTraits(type),
    node: { ...anonymous },
  });
  #now = 0;
  #stream = 0;

  constructor(variant: Variant) {
    this.reader.expect(CLUSTER);
    this.source = sourceOf(variant);
    const { id } = this.source;
    const spec = { ...this.source, access: "stream", servers: 1, absenceMs: 15_000 } as const;
    this.on({ kind: "source-added", source: spec });
    for (const [i, term] of ["*", "a", "c"].entries()) {
      const effects = this.on({ kind: "watch-started", watch: i + 1, source: id, type: CLUSTER, term });
      for (const effect of effects) if (effect.kind === "open-stream") this.#stream = effect.stream;
    }
    this.on({ kind: "stream-opened", stream: this.#stream });
  }

  on(event: Parameters<ClientMachine["on"]>[0]): readonly ClientEffect[] {
    return this.#machine.on(event, { nowMs: ++this.#now, chance: 0.5 });
  }

  /** What it answers, and how much it holds. */
  hear(response: DiscoveryResponse): { readonly answers: number; readonly held: number } {
    const effects = this.on({ kind: "response-received", stream: this.#stream, response });
    const answers = effects.filter(({ kind }) => kind === "send-request").length;
    return { answers, held: [...this.#machine.states()].length };
  }
}

const none = Buffer.alloc(0);

const anonymous = {
  ...{ id: "n", cluster: "", locality: undefined, metadata: {} },
  ...{ userAgentName: "", userAgentVersion: "", clientFeatures: [] },
};

describe.each(["sotw", "delta"] as const)("damaged responses, %s", (variant) => {
  test(
    "are read or refused, answered once, and nothing of them is kept that was not accepted",
    async () => {
      const chance = seededChance(seed);
      const seeds = responses[variant];
      let talk = new Talk(variant);
      const origin = { source: talk.source, onlyType: undefined, isWanted: () => true };
      const came = { unreadable: 0, ignored: 0, answered: 0 };
      for (let run = 0; run < runs; run++) {
        const damaged = chance(10) === 0 ? (seeds[chance(seeds.length)] ?? none) : mutate(seeds, chance);
        const reading = talk.reader.read(damaged, origin);
        if (reading.kind === "unreadable") came.unreadable++;
        else {
          const response = reading.kind === "read" ? reading.response : await reading.response;
          const { answers, held } = talk.hear(response);
          if (answers > 1 || held > 500)
            throw new Error(`${answers} answers, ${held} held: ${damaged.toString("hex")}`);
          came[answers === 0 ? "ignored" : "answered"]++;
        }
        // Damaged names pile up, as they are names; a new stream forgets them.
        if (run % 200 === 199) {
          talk = new Talk(variant);
          await nextTurn();
        }
      }
      expect(Object.entries(came).filter(([, count]) => count <= runs / 1_000)).toEqual([]);
    },
    60_000 + runs / 2,
  );
});
