import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createBodyEncoder, decodeDeltaResponse } from "@xdskit/envoy-api/internal";
import { createResource, formatTypeUrl } from "@xdskit/protocol";
import { expect, test } from "vitest";

const api = createEnvoyApi();
const collection = formatTypeUrl("envoy.config.listener.v3.ListenerCollection");
const name = "xdstp://a/envoy.config.listener.v3.ListenerCollection/c";

test("B-XTP-07 entries of a list collection, locators and inline ones, are passed on as they are", () => {
  const entries = [
    { locator: { authority: "b", resourceType: "envoy.config.listener.v3.Listener", id: "one" } },
    { inlineEntry: { name: "two", version: "7" } },
  ];
  const { input, problems } = api.readResource({ "@type": `${collection}`, entries }, { name });
  expect(problems).toEqual([]);
  if (input === undefined) throw new Error("the collection was not read");
  expect([input.name, input.type]).toEqual([name, collection]);
  expect(api.toJson(collection, input.bytes)).toEqual({ "@type": collection, entries });
});

test("B-MSC-09 fields that nobody knows, in a resource and in its metadata, reach the client", () => {
  const type = formatTypeUrl("envoy.service.runtime.v3.Runtime");
  const bytes = Uint8Array.of(0x0a, 1, 0x72, 0xba, 0x3e, 1, 0x41); // name, and field 999
  const metadata = Uint8Array.of(0xba, 0x3e, 1, 0x41);
  const { input } = api.readEncodedResource(type, bytes, { metadata });
  if (input === undefined) throw new Error("the resource was not read");
  const encoder = createBodyEncoder({ controlPlane: "" });
  const segments = [{ puts: [createResource(input, contentDigest)], removed: [], missing: [] }];
  const { chunks } = encoder.encode({ variant: "delta", type, version: "1", segments });
  const { resources } = decodeDeltaResponse(Buffer.concat(chunks));
  expect(
    resources.map(({ resource, metadata: passed }) =>
      [resource?.value, passed].map((one) => one && Uint8Array.from(one)),
    ),
  ).toEqual([[bytes, metadata]]);
});
