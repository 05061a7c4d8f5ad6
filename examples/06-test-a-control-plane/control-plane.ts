import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource } from "@xdskit/protocol";
import { createServer } from "@xdskit/server";

/** What the tests need of a control plane. Replace it by yours, in a process of its own or within that of the tests. */
export interface ControlPlane {
  readonly address: string;
  /** Serves a cluster; one of that name is replaced. */
  putCluster(name: string, connectTimeout: string): void;
  /** What clients refused so far, and why. */
  readonly refusals: readonly string[];
  stop(): Promise<void>;
}

const api = createEnvoyApi();

/** Starts one that has some clusters already, by their names and timeouts. */
export async function startControlPlane(
  clusters: Readonly<Record<string, string>> = {},
  port = 0,
): Promise<ControlPlane> {
  const server = createServer({ api, listen: { port } });
  const putCluster = (name: string, connectTimeout: string): void => {
    const { input, problems } = api.readResource({
      "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      name,
      connectTimeout,
    });
    if (input === undefined) throw new Error(problems.map(({ message }) => message).join("; "));
    server.commit({ changes: [{ layer: "base", puts: [createResource(input, contentDigest)] }] });
  };
  for (const [name, connectTimeout] of Object.entries(clusters)) putCluster(name, connectTimeout);
  const refusals: string[] = [];
  server.on("response-nacked", ({ error }) => refusals.push(error.message));
  const { address } = await server.listen();
  return { address: `${address.host}:${address.port}`, refusals, putCluster, stop: () => server.close() };
}
