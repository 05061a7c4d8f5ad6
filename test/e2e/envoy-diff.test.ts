import { expect, test } from "vitest";
import { type Envoy, startEnvoy } from "./support/envoy.ts";
import { adsModes, configSource, type Mode, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { startProcess } from "./support/process.ts";
import { cluster, endpoints, listener, routes, staticCluster } from "./support/resource.ts";
import { startXdsServer, type XdsServer, xdsCommand } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

interface Compared {
  readonly type: string;
  readonly name: string;
  readonly verdict: string;
  readonly status?: string;
  readonly fields?: readonly { readonly path: string }[];
}

/** `xds diff --node ID --envoy URL`: the exit code, and what it says of each resource. */
async function diff(server: XdsServer, node: string, envoy: Envoy): Promise<{ code: number | null; said: string[] }> {
  const asked = await startProcess([
    ...xdsCommand(),
    ...["diff", "--node", node, "--envoy", `http://127.0.0.1:${envoy.adminPort}`],
    ...["--admin", `127.0.0.1:${server.adminPort}`, "-o", "json"],
  ]);
  await asked.closed;
  const { resources } = JSON.parse(asked.log()) as { resources: readonly Compared[] };
  const said = resources.map(({ type, name, verdict, fields = [] }) =>
    [type.slice(type.lastIndexOf(".") + 1), name, verdict, ...fields.map(({ path }) => path)].join(" "),
  );
  return { code: asked.ended()?.code ?? null, said: said.sort() };
}

/** Two nodes with the same names and different content, and a cluster that only one of them has. */
async function filesFor(mode: Mode): Promise<Record<string, readonly object[]>> {
  const source = configSource(mode);
  const ofNode = async (connectTimeoutMs: number, endpoint: number, own: string): Promise<readonly object[]> => [
    cluster({ name: "web", source, connectTimeoutMs }),
    endpoints("web", [endpoint]),
    staticCluster(own, [endpoint]),
    listener({ name: "http", port: await freePort(), routes: "main", source }),
  ];
  return {
    "base.json": [routes("main", [{ cluster: "web" }]), staticCluster("shared", [9])],
    "nodes/edge-1/own.json": await ofNode(1000, 9, "first"),
    "nodes/edge-2/own.json": await ofNode(2000, 10, "second"),
  };
}

describeWith("envoy", "what an Envoy really has is compared with what the server believes", () => {
  test.each(named(adsModes))("%s", async (_name, mode) => {
    await using stack = createStack();
    const site = stack.use(createSite(await filesFor(mode)));
    const server = stack.use(await startXdsServer({ site }));
    const start = async (id: string): Promise<Envoy> => {
      const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port, node: { id } }));
      await envoy.ready(30_000);
      return envoy;
    };
    const first = await start("edge-1");
    const second = await start("edge-2");
    const same = {
      code: 0,
      said: [
        "Cluster first same",
        "Cluster shared same",
        "Cluster web same",
        "ClusterLoadAssignment web same",
        "Listener http same",
        "RouteConfiguration main same",
      ],
    };
    await until({ says: "the first Envoy has what it should", withinMs: 30_000, everyMs: 200 }, async () => {
      const { code } = await diff(server, "edge-1", first);
      return code === 0;
    });
    expect(await diff(server, "edge-1", first)).toEqual(same);
    await until({ says: "the second Envoy has what it should", withinMs: 30_000, everyMs: 200 }, async () => {
      const { code } = await diff(server, "edge-2", second);
      return code === 0;
    });

    // The wrong Envoy: it has another version of what it shares with the node, and its own.
    const port = "address.socket_address.port_value";
    expect(await diff(server, "edge-1", second)).toEqual({
      code: 1,
      said: [
        "Cluster first missing",
        "Cluster second extra",
        "Cluster shared same",
        "Cluster web other-version connect_timeout",
        "ClusterLoadAssignment web other-version endpoints",
        `Listener http other-version ${port}`,
        "RouteConfiguration main same",
      ],
    });
  });
});
