import { contentDigest } from "@xdskit/envoy-api";
import { createResource, createResourceError, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { decodeBody, encodeBody } from "./body.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const resources: Readonly<Record<string, Resource>> = {
  plain: createResource({ type: CLUSTER, name: "a", bytes: bytes("a") }, contentDigest),
  "with every field": createResource(
    {
      type: CLUSTER,
      name: "b",
      bytes: bytes("b"),
      bodyType: ENDPOINTS,
      aliases: ["c", "d"],
      ttlMs: 5_000,
      doNotCache: true,
      metadata: bytes("m"),
      onDemand: true,
      references: [{ type: ENDPOINTS, name: "b" }],
      version: "7",
    },
    contentDigest,
  ),
  "a variant": createResource(
    {
      type: CLUSTER,
      name: "v",
      bytes: bytes("v"),
      metadata: bytes("m"),
      constraints: { kind: "value", key: "env", value: "prod" },
    },
    contentDigest,
  ),
  "an error": createResourceError({ type: CLUSTER, name: "e", error: { code: 5, message: "gone" } }, contentDigest),
};

test.each(Object.entries(resources))("a body makes a resource again: %s", (_, resource) => {
  const made = decodeBody(encodeBody(resource, contentDigest).bytes, contentDigest);
  expect(made && { ...made, bytes: [...made.bytes], metadata: [...(made.metadata ?? [])] }).toEqual({
    ...resource,
    bytes: [...resource.bytes],
    metadata: [...(resource.metadata ?? [])],
  });
});

test("a body's id changes with whatever the resource is made of, such as its TTL", () => {
  const ids = [undefined, 1_000].map((ttlMs) =>
    createResource({ type: CLUSTER, name: "a", bytes: bytes("a"), ...(ttlMs && { ttlMs }) }, contentDigest),
  );
  expect(new Set(ids.map((one) => encodeBody(one, contentDigest).id)).size).toBe(2);
});

test.each(["", "{}", "[]", '{"type":"x"}', "null"])("bytes that are no body make nothing: %s", (text) => {
  expect(decodeBody(bytes(text), contentDigest)).toBeUndefined();
});
