import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";
import type { LayerFile } from "./file-content.ts";
import { checkTtls } from "./ttls.ts";

const api = createEnvoyApi();

/** A file with two resources of a type, both with a ttl unless it is left out. */
function fileOf(message: string, more: { readonly ttlMs?: number } = { ttlMs: 3_000 }): LayerFile {
  const type = formatTypeUrl(message);
  const resources = ["a", "b"].map((name) => ({
    resource: createResource({ type, name, bytes: new Uint8Array(), ...more }, contentDigest),
    place: undefined,
  }));
  return { file: `${message}.yaml`, layer: "base", content: { resources, problems: [], refused: [] } };
}

function messages(...files: readonly LayerFile[]): readonly string[] {
  return checkTtls([{ files }], api).map(({ message }) => message);
}

test.each([
  [
    "envoy.config.endpoint.v3.ClusterLoadAssignment",
    'ClusterLoadAssignment "a" has a ttl that is left off for Envoy on an aggregated State of the World stream: its end would break it',
  ],
  [
    "envoy.config.core.v3.TypedExtensionConfig",
    'TypedExtensionConfig "a" has a ttl that is left off for Envoy: its end would break it',
  ],
  [
    "envoy.config.route.v3.VirtualHost",
    'VirtualHost "a" has a ttl that is left off for every client: nothing could keep it alive',
  ],
  ["envoy.api.v2.Cluster", 'Cluster "a" has a ttl that is left off for every client: nothing could keep it alive'],
])("of %s it is said once who is not told of a ttl", (message, said) => {
  expect(messages(fileOf(message), fileOf(message))).toEqual([said]);
});

test.each(["envoy.config.cluster.v3.Cluster", "envoy.config.listener.v3.Listener", "envoy.service.runtime.v3.Runtime"])(
  "of %s nothing has to be said: whoever knows ttls is told",
  (message) => {
    expect(messages(fileOf(message))).toEqual([]);
  },
);

test("nothing is said where nothing has a ttl", () => {
  expect(messages(fileOf("envoy.config.route.v3.VirtualHost", {}))).toEqual([]);
});
