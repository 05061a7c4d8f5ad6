import { createXdsClient, type MeshSnapshot } from "@xdskit/client";
import { goControlPlaneProgram, LineProgram } from "@xdskit/conformance";
import { createEnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { note, times } from "./support/measure.ts";
import { adsDelta, configSource } from "./support/mode.ts";
import { createRandomMesh, type RandomMesh } from "./support/random-mesh.ts";
import { until } from "./support/wait.ts";

const program = await goControlPlaneProgram();
const NODE = "grpc-1";
const SERVICE = "svc-a";
const CHANGES = times(200, 1_000);
const WITHIN_MS = 5_000;

const api = createEnvoyApi();

/** A type in a snapshot of go-control-plane. */
interface SnapshotType {
  readonly url: TypeUrl;
  readonly version: string;
  readonly resources: string[];
}

describe.skipIf(program === undefined)("our client on go-control-plane", () => {
  describe.each(["sotw", "delta"] as const)("%s", (variant) => {
    test(`C-SUB-21 holds all that is there after each of ${CHANGES} random changes, aggregated`, async () => {
      const server = new LineProgram(program ?? "");
      const { address = "" } = (await server.ask({ do: "start", server: 1, ads: true })) as { address?: string };
      const settings = { service: SERVICE, node: NODE, source: configSource(adsDelta) };
      const world = createRandomMesh(variant.length, [21_001, 21_002, 21_003], settings);
      const proxy = await createXdsClient({ server: address, node: NODE, transport: { variant }, mode: "proxy", api });
      const mesh = proxy.mesh();
      const startedAt = performance.now();
      for (let version = 0; version <= CHANGES; version++) {
        const types = snapshotOf(world, String(version));
        await server.ask({ do: "set", server: 1, node: NODE, types });
        const wanted = holdingsIn(types);
        const held = await until({ says: `all of version ${version}`, withinMs: WITHIN_MS }, () =>
          isSame(heldIn(mesh.current), wanted),
        ).catch(() => undefined);
        if (held === undefined) expect(heldIn(mesh.current)).toEqual(wanted);
        world.change();
      }
      const ms = Math.round((performance.now() - startedAt) / CHANGES);
      note("our client on go-control-plane", variant, "changes, ms each", `${CHANGES}, ${ms}`);
      await proxy.close();
      await server.ask({ do: "stop", server: 1 });
      await server.close();
    }, 120_000);
  });
});

/** Snapshots must be consistent: they contain only resources that are referred to. */
function snapshotOf(world: RandomMesh, version: string): readonly SnapshotType[] {
  const types = new Map<TypeUrl, SnapshotType>();
  for (const content of Object.values(world.files())) {
    if (typeof content === "string") continue;
    for (const value of content) {
      const { input } = api.readResource(value);
      if (input === undefined) throw new Error(`not a resource: ${JSON.stringify(value)}`);
      const { type, bytes } = input;
      const list = types.get(type) ?? { url: type, version, resources: [] };
      list.resources.push(Buffer.from(bytes).toString("base64"));
      types.set(type, list);
    }
  }
  return [...types.values()];
}

type Holdings = ReadonlySet<string>;

function holdingsIn(types: readonly SnapshotType[]): Holdings {
  return new Set(
    types.flatMap(({ url, resources }) => resources.map((one) => textOf(url, Buffer.from(one, "base64")))),
  );
}

/** JSON, because Go writes the fields of a message in another order. */
function textOf(type: TypeUrl, bytes: Uint8Array): string {
  return JSON.stringify(api.toJson(type, bytes));
}

/**
 * The newest accepted resources: after a change of a Cluster this server does not resend its endpoints, so the Cluster
 * warms until a timeout.
 */
function heldIn(snapshot: MeshSnapshot | undefined): Holdings {
  const held = [...(snapshot?.all.values() ?? [])].flatMap(({ type, resource, warming }) => {
    const newest = warming ?? resource;
    return newest === undefined ? [] : [textOf(type, newest.bytes)];
  });
  return new Set(held);
}

function isSame(ours: Holdings, wanted: Holdings): boolean {
  return ours.size === wanted.size && [...wanted].every((one) => ours.has(one));
}
