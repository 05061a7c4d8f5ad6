import { expect, test } from "vitest";
import { anonymousNode, type Node } from "../node/node.ts";
import type { ApiVersion } from "../resource/api-version.ts";
import type { TypeKind } from "../resource/type-kinds.ts";
import { formatTypeUrl } from "../resource/type-url.ts";
import type { DialectOverrides, TtlStream } from "./dialect.ts";
import { dialectFor } from "./presets.ts";
import { judgeTtl, ttlStreamOf } from "./ttl.ts";

const TTL = "xds.config.supports-resource-ttl";
const REGISTERED = "xds.config.resource-in-sotw";
const AS_PRINTED = "xds.config.supports-resource-in-sotw";

function judged(
  kind: TypeKind,
  stream: TtlStream,
  client: Partial<Node> = {},
  overrides: DialectOverrides = {},
  message = "acme.v2.Thing",
  apiVersion: ApiVersion = "v3",
): string {
  const node = { ...anonymousNode, ...client };
  return judgeTtl(
    dialectFor(node, { server: { dialect: overrides } }),
    node,
    { type: formatTypeUrl(message), kind },
    stream,
    apiVersion,
  );
}

test.each<[features: readonly string[], delta: string, sotw: string]>([
  [[], "not-announced", "not-announced"],
  [[TTL], "told", "not-announced"],
  [[REGISTERED], "not-announced", "not-announced"],
  [[TTL, REGISTERED], "told", "told"],
  [[TTL, AS_PRINTED], "told", "told"],
])("S-TTL-01 S-TTL-02: a client that announces %j", (clientFeatures, delta, sotw) => {
  expect(judged("eds", "delta", { clientFeatures })).toBe(delta);
  expect(judged("eds", "sotw", { clientFeatures })).toBe(sotw);
  expect(judged("eds", "aggregated-sotw", { clientFeatures })).toBe(sotw);
});

test("S-TTL-01: the operator may take everybody for one that knows ttls", () => {
  expect(judged("eds", "sotw", {}, { ttlWithoutFeature: true })).toBe("told");
  expect(judged("vhds", "delta", {}, { ttlWithoutFeature: true })).toBe("unsafe");
});

test("B-TTL-17: nobody is told of the ttl of a virtual host", () => {
  expect(judged("vhds", "delta", { clientFeatures: [TTL] })).toBe("unsafe");
  expect(judged("vhds", "delta", { userAgentName: "envoy" })).toBe("unsafe");
});

test("B-TTL-18 the ttl of a resource of v2 is left off for everybody", () => {
  const messages = ["envoy.api.v2.Cluster", "envoy.api.v2.auth.Secret", "envoy.service.discovery.v2.Runtime"];
  const node = { userAgentName: "envoy", clientFeatures: [TTL] };
  const verdicts = messages.map((message) => judged("cds", "delta", node, { ttlWithoutFeature: true }, message));
  expect(verdicts).toEqual(["v2", "v2", "v2"]);
});

test("B-TTL-18 on a stream of v2 the ttl of every resource is left off", () => {
  const node = { userAgentName: "envoy", clientFeatures: [TTL, REGISTERED] };
  const streams: TtlStream[] = ["delta", "sotw", "aggregated-sotw"];
  const message = "envoy.config.cluster.v3.Cluster";
  expect(streams.map((stream) => judged("cds", stream, node, {}, message, "v3"))).toEqual(["told", "told", "told"]);
  expect(streams.map((stream) => judged("cds", stream, node, {}, message, "v2"))).toEqual(["v2", "v2", "v2"]);
});

test("E6: Envoy is told of none that crashes it when it expires", () => {
  const kinds: TypeKind[] = ["cds", "eds", "sds", "lds", "srds", "rds", "ecds", "rtds", "opaque"];
  const told = (stream: TtlStream): readonly TypeKind[] =>
    kinds.filter(
      (kind) => judged(kind, stream, { userAgentName: "envoy", clientFeatures: [TTL, REGISTERED] }) === "told",
    );
  expect(told("aggregated-sotw")).toEqual(["cds", "lds", "rtds"]);
  expect(told("sotw")).toEqual(["cds", "eds", "sds", "lds", "srds", "rds", "rtds", "opaque"]);
  expect(told("delta")).toEqual(["cds", "eds", "sds", "lds", "srds", "rds", "rtds", "opaque"]);
});

test("E1: a gRPC client is told of none, though it takes resources in wrappers", () => {
  expect(judged("cds", "aggregated-sotw", { userAgentName: "gRPC C-core", clientFeatures: [REGISTERED] })).toBe(
    "not-announced",
  );
});

test("a stream is of one of three kinds", () => {
  expect([ttlStreamOf("delta", true), ttlStreamOf("delta", false)]).toEqual(["delta", "delta"]);
  expect([ttlStreamOf("sotw", true), ttlStreamOf("sotw", false)]).toEqual(["aggregated-sotw", "sotw"]);
});
