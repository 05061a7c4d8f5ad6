import { Cluster, ClusterLoadAssignment, createXdsClient, XdsClientError } from "@xdskit/client";

const client = await createXdsClient({ server: process.argv[2] ?? "127.0.0.1:18000", node: "reader" });

/** The addresses of a cluster's instances; none if the server has no endpoints of that name. */
async function addressesOf(cluster) {
  try {
    const { json } = await client.get(ClusterLoadAssignment, cluster, { timeoutMs: 5_000 });
    return (json.endpoints ?? []).flatMap(({ lbEndpoints = [] }) =>
      lbEndpoints.map(({ endpoint }) => {
        const { address, portValue } = endpoint.address.socketAddress;
        return `${address}:${portValue}`;
      }),
    );
  } catch (error) {
    if (error instanceof XdsClientError && error.code === "DOES_NOT_EXIST") return [];
    throw error;
  }
}

for (const { name, json, version } of await client.list(Cluster)) {
  console.log(
    `${name} (${json.lbPolicy ?? "ROUND_ROBIN"}, version ${version}): ${(await addressesOf(name)).join(" ")}`,
  );
}
await client.close();
