import type { ReadMessage } from "@xdskit/envoy-api/resources";
import { describe, expectTypeOf, it } from "vitest";
import {
  type Change,
  Cluster,
  resourceType,
  Secret,
  validator,
  type Watch,
  type XdsClient,
  type XdsClientOptions,
  type XdsResource,
} from "../src/index.ts";

/** Never called: the compiler looks at it. */
async function use(client: XdsClient): Promise<void> {
  expectTypeOf(client.watch(Cluster, "a")).toEqualTypeOf<Watch<ReadMessage<"envoy.config.cluster.v3.Cluster">>>();
  const { signal } = new AbortController();
  expectTypeOf(client.watch(Cluster, { signal })).toEqualTypeOf<
    Watch<ReadMessage<"envoy.config.cluster.v3.Cluster">>
  >();
  expectTypeOf(await client.get(Secret, "s")).toEqualTypeOf<
    XdsResource<ReadMessage<"envoy.extensions.transport_sockets.tls.v3.Secret">>
  >();
  expectTypeOf(await client.list(Cluster)).toEqualTypeOf<
    readonly XdsResource<ReadMessage<"envoy.config.cluster.v3.Cluster">>[]
  >();
  expectTypeOf(client.watch("type.googleapis.com/acme.Widget")).toEqualTypeOf<Watch<unknown>>();
  expectTypeOf(await client.get(resourceType<{ size: number }>("acme.Widget"), "w")).toEqualTypeOf<
    XdsResource<{ size: number }>
  >();
  for await (const change of client.watch(Cluster)) {
    expectTypeOf(change).toEqualTypeOf<Change<ReadMessage<"envoy.config.cluster.v3.Cluster">>>();
    if (change.kind === "added") expectTypeOf(change.resource.json.name).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: only what is there has a resource
    if (change.kind === "synced") change.resource;
  }
  const maybe: AbortSignal | undefined = Math.random() > 0.5 ? signal : undefined;
  await client.get(Cluster, "a", { signal: maybe });
  client.watch(Cluster, { signal: maybe });
  await client.mesh({ signal: maybe }).demandCluster("a", { signal: maybe });
  await client.encodeStatus({ signal: maybe });
  // @ts-expect-error: no text but a URL is a type
  client.watch("cds");
  // @ts-expect-error: no such field in a Cluster
  client.watch(Cluster, "a", { onChange: (change) => change.kind === "added" && change.resource.json.nam });
}

describe("types", () => {
  it("know the JSON of each type", () => {
    expectTypeOf(use).returns.toEqualTypeOf<Promise<void>>();
    validator(Cluster, ({ json }) => (json.name === "" ? "no name" : undefined));
    // @ts-expect-error: no such field in a Cluster
    validator(Cluster, ({ json }) => json.nam);
    // @ts-expect-error: no such option
    const options: XdsClientOptions = { sever: "localhost:18000" };
    expectTypeOf(options).toExtend<XdsClientOptions>();
    expectTypeOf({ signal: undefined as AbortSignal | undefined }).toExtend<XdsClientOptions>();
  });
});
