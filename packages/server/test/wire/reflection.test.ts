import { discoveryMethods } from "@xdskit/envoy-api/internal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { within } from "../support/raw-peer.ts";
import { ADS_SOTW, startWorld, type World } from "../support/test-server.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld({}, []);
});
afterEach(() => world.close());

/** A `ServerReflectionRequest` with one string field. */
function ask(field: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([field * 8 + 2, text.length]), Buffer.from(text)]);
}

test.each(["v1", "v1alpha"])("%s answers each question in turn, then ends with OK", async (version) => {
  const call = (await world.connect()).open(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`);
  call.send(ask(7, "*"));
  const services = Buffer.from(await call.next()).toString("latin1");
  for (const { path } of discoveryMethods) expect(services).toContain(path.split("/")[1]);
  expect(services).toContain("grpc.health.v1.Health");
  call.send(ask(4, "envoy.config.cluster.v3.Cluster"));
  const byFile = Buffer.from(await call.next()).toString("latin1");
  expect(byFile).toContain("envoy/config/cluster/v3/cluster.proto");
  call.send(ask(4, ADS_SOTW.split("/")[1] ?? ""));
  expect(Buffer.from(await call.next()).toString("latin1")).toContain("StreamAggregatedResources");
  call.send(ask(3, "envoy/config/core/v3/address.proto"));
  expect(Buffer.from(await call.next()).toString("latin1")).toContain("SocketAddress");
  call.send(ask(4, "no.such.Symbol"));
  expect(Buffer.from(await call.next()).toString("latin1")).toContain("is not known");
  call.send(Buffer.from([42, 0])); // an extension
  expect(Buffer.from(await call.next()).toString("latin1")).toContain("can be asked for");
  call.end();
  expect(await within("the status", call.status)).toEqual({ code: 0, message: "" });
});
