import { formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { createEnvoyApi } from "../envoy-api.ts";

const api = createEnvoyApi();
const locator = { authority: "a", resourceType: "envoy.config.listener.v3.Listener", id: "one" };
const listeners = formatTypeUrl("envoy.config.listener.v3.ListenerCollection");
const clusters = formatTypeUrl("envoy.config.cluster.v3.ClusterCollection");
const cluster = formatTypeUrl("envoy.config.cluster.v3.Cluster");

function bytesOf(value: object): Uint8Array {
  const { input, problems } = api.readResource(value, { name: "a" });
  if (input === undefined) throw new Error(JSON.stringify(problems));
  return input.bytes;
}

test("B-XTP-07 entries are told in order: locators, resources, and those without one", () => {
  const entries = [{ locator }, { inlineEntry: { name: "two", version: "7" } }, {}];
  const told = api.collectionEntries(listeners, bytesOf({ "@type": listeners, entries }));
  expect(told?.map((one) => (one.kind === "locator" ? api.toJson(one.type, one.bytes) : one))).toEqual([
    { "@type": formatTypeUrl("xds.core.v3.ResourceLocator"), ...locator },
    { kind: "inline", name: "two", version: "7", type: undefined, bytes: new Uint8Array() },
  ]);
});

test("B-XTP-07 a collection may have one entry only", () => {
  const resource = { "@type": cluster, name: "c" };
  const bytes = bytesOf({ "@type": clusters, entries: { inlineEntry: { name: "one", version: "1", resource } } });
  const told = api.collectionEntries(clusters, bytes);
  expect(told).toEqual([{ kind: "inline", name: "one", version: "1", type: cluster, bytes: bytesOf(resource) }]);
  expect(api.collectionEntries(clusters, new Uint8Array())).toEqual([]);
});

test("B-XTP-07 a collection that has one entry by its descriptor, or has none, may have many", () => {
  const entries = [{ locator }, { locator: { ...locator, id: "two" } }];
  const bytes = bytesOf({ "@type": listeners, entries });
  const endpoints = formatTypeUrl("envoy.config.endpoint.v3.LbEndpointCollection");
  expect(api.collectionEntries(clusters, bytes)).toHaveLength(2);
  expect(api.collectionEntries(endpoints, bytes)).toHaveLength(2);
});

test("B-XTP-07 what is no list collection, or cannot be read, has no entries", () => {
  expect(api.collectionEntries(cluster, new Uint8Array())).toBeUndefined();
  expect(api.collectionEntries(formatTypeUrl("acme.Unknown"), new Uint8Array())).toBeUndefined();
  expect(api.collectionEntries(clusters, Uint8Array.of(0x0a, 0xff))).toBeUndefined();
});
