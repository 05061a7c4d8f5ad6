import { inspect } from "node:util";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { Cluster, ClusterLoadAssignment, Secret } from "@xdskit/envoy-api/resources";
import type { TypeUrl } from "@xdskit/protocol";
import type { HeldResource } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { resourceType, typeUrlOf } from "./resource-type.ts";
import { createResourceViews } from "./xds-resource.ts";

const held: HeldResource = {
  type: Cluster.typeUrl,
  name: "a",
  aliases: [],
  version: "1",
  // name: "a"
  bytes: Uint8Array.of(10, 1, 97),
  ttlMs: undefined,
};

test("a resource that is printed shows what is in it", () => {
  const resource = createResourceViews(createEnvoyApi()).of(held);
  const shown = { type: Cluster.typeUrl, key: "a", version: "1", json: { "@type": Cluster.typeUrl, name: "a" } };
  expect(JSON.parse(JSON.stringify([resource]))).toEqual([shown]);
  expect(inspect(resource)).toBe(inspect(shown));
});

test("a secret that is printed by mistake is not shown", () => {
  const api = createEnvoyApi();
  const privateKey = { inlineString: "keep it to yourself" };
  const { input } = api.readResource({ "@type": Secret.typeUrl, name: "s", tlsCertificate: { privateKey } });
  const resource = createResourceViews(api).of({ ...held, type: Secret.typeUrl, bytes: input?.bytes ?? held.bytes });
  expect(resource.json).toMatchObject({ tlsCertificate: { privateKey } });
  expect(`${JSON.stringify(resource)} ${inspect(resource, { depth: 9 })}`).not.toContain("keep it to yourself");
  expect(inspect(resource, { depth: 9 })).toContain("privateKey");
});

test("what a resource names is found in its bytes", () => {
  const api = createEnvoyApi();
  const edsClusterConfig = { edsConfig: { ads: {} }, serviceName: "endpoints" };
  const { input } = api.readResource({ "@type": Cluster.typeUrl, name: "a", type: "EDS", edsClusterConfig });
  const resource = createResourceViews(api).of({ ...held, bytes: input?.bytes ?? held.bytes });
  expect(resource.references).toEqual([{ type: ClusterLoadAssignment.typeUrl, name: "endpoints" }]);
  expect(resource.references).toBe(resource.references);
  expect(createResourceViews(api).of(held).references).toEqual([]);
});

test("a text that is no type URL is refused at once, for whoever has no compiler to say so", () => {
  expect(typeUrlOf(Cluster)).toBe("type.googleapis.com/envoy.config.cluster.v3.Cluster");
  const mistakes: readonly (readonly [unknown, string])[] = [
    ["cds", '"cds" (pass Cluster of @xdskit/client)'],
    ["Cluster", '"Cluster" (pass Cluster of @xdskit/client itself, not its name)'],
    ["acme.Widget", '"acme.Widget" (pass resourceType("acme.Widget"))'],
    [undefined, "undefined"],
    [{}, "an object"],
  ];
  for (const [type, got] of mistakes) {
    const message = `type: expected a type such as Cluster, or its URL, got ${got}`;
    const error = expect.objectContaining({ code: "ARGUMENT_INVALID", message });
    expect(() => typeUrlOf(type as TypeUrl)).toThrow(error);
  }
});

test("a resource type is made from the name of a message, of which there are no others", () => {
  for (const name of ["acme.Widget", "Widget", "acme.v1.Widget_2"])
    expect(resourceType(name)).toEqual({ typeUrl: `type.googleapis.com/${name}` });
  for (const name of ["type.googleapis.com/acme.Widget", "not a message", "acme..Widget", "2a", ""]) {
    const message = `resourceType: messageName: expected the name of a message, such as acme.Widget, got "${name}"`;
    expect(() => resourceType(name)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID", message }));
  }
});
