import { createEnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { resourceValue, unreadableNote } from "./resource-value.ts";

const api = createEnvoyApi();
const type = formatTypeUrl("private.Thing");
const resource = { type, key: "thing", bytes: new TextEncoder().encode("very private") };

test("what nobody can read may hold secrets: it is printed only where they are asked for", () => {
  const format = { api, showsSecrets: false };
  expect(resourceValue(resource, format)).toEqual({ "@type": type, value: "[redacted]" });
  expect(unreadableNote(resource, format)).toMatch(/^thing: nobody knows its message.*--descriptors.*--show-secrets/);
  expect(resourceValue(resource, { api, showsSecrets: true })).toEqual({ "@type": type, value: btoa("very private") });
  expect(unreadableNote(resource, { api, showsSecrets: true })).toBeUndefined();
});

test("bytes that are no message of their type are not printed either", () => {
  const cluster = { ...resource, type: formatTypeUrl("envoy.config.cluster.v3.Cluster") };
  const format = { api, showsSecrets: false };
  expect(resourceValue(cluster, format)).toEqual({ "@type": cluster.type, value: "[redacted]" });
});
