import { formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { testApi } from "../../test/support/sources.ts";
import { StaticResources } from "./static-source.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const CLUSTER_V2 = formatTypeUrl("envoy.api.v2.Cluster");
const LISTENER = formatTypeUrl("envoy.config.listener.v3.Listener");
const SECRET = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");
const bytes = new Uint8Array([1]);
const held = (type: typeof CLUSTER, name: string): object => ({
  ...{ type, name, bytes, version: "", aliases: [], ttlMs: undefined },
});

test("everything is told at once, and that it is all; one name, or that there is none", () => {
  const statics = new StaticResources(
    [
      { type: CLUSTER, name: "a", bytes },
      { type: CLUSTER, name: "b", bytes },
      { type: SECRET, name: "key", bytes },
    ],
    testApi(),
  );
  expect(statics.newsOf(CLUSTER, "*")).toEqual([
    { kind: "changed", name: "a", resource: held(CLUSTER, "a") },
    { kind: "changed", name: "b", resource: held(CLUSTER, "b") },
    { kind: "synced" },
  ]);
  expect(statics.newsOf(SECRET, "key")).toEqual([{ kind: "changed", name: "key", resource: held(SECRET, "key") }]);
  expect(statics.newsOf(SECRET, "a")).toEqual([{ kind: "absent", name: "a", why: "does-not-exist", held: undefined }]);
  expect(statics.newsOf(LISTENER, "*")).toEqual([{ kind: "synced" }]);
});

test("it owns names of Listeners and Clusters, in whatever version, and no others", () => {
  const statics = new StaticResources(
    [
      { type: CLUSTER_V2, name: "a", bytes },
      { type: SECRET, name: "key", bytes },
    ],
    testApi(),
  );
  expect([CLUSTER, CLUSTER_V2].map((type) => statics.owns(type, "a"))).toEqual([true, true]);
  expect([statics.owns(LISTENER, "a"), statics.owns(SECRET, "key")]).toEqual([false, false]);
  expect([statics.typeOf("cds"), statics.typeOf("lds"), statics.isKnown]).toEqual([CLUSTER_V2, undefined, true]);
  expect(new StaticResources(undefined, testApi()).isKnown).toBe(false);
});
