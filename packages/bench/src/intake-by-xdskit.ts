import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource } from "@xdskit/protocol";
import { Cluster, ClusterLoadAssignment, createServer } from "@xdskit/server";

// Gives 100,000 resources to a server, half Clusters and half ClusterLoadAssignments, by `set` or by `commit`. Prints
// the CPU time of each step in microseconds for each resource, as JSON.

const RESOURCES = 100_000;
const steps: Record<string, number> = {};

function step(name: string, run: () => void): void {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  steps[name] = (user + system) / RESOURCES;
}

type AnyResource = ReturnType<typeof Cluster> | ReturnType<typeof ClusterLoadAssignment>;

/** `changed` makes the second resource another one. */
function resources(changed = 0): AnyResource[] {
  return Array.from({ length: RESOURCES }, (_, i) => {
    const name = `cluster-${i - (i % 2)}`;
    if (i % 2 === 0) {
      const edsConfig = { ads: {}, resourceApiVersion: "V3" } as const;
      return Cluster({ name, connectTimeout: "0.250s", type: "EDS", edsClusterConfig: { edsConfig } });
    }
    const socketAddress = { address: "10.0.0.1", portValue: 1_000 + (i % 5_000) + (i === 1 ? changed : 0) };
    return ClusterLoadAssignment({
      clusterName: name,
      endpoints: [{ lbEndpoints: [{ endpoint: { address: { socketAddress } } }] }],
    });
  });
}

await using server = createServer();
const list = resources();
if (process.argv[2] === "set") {
  step("first set", () => server.set("base", list));
  const one = [...list.slice(0, 1), ...resources(1).slice(1, 2), ...list.slice(2)];
  step("set with one change, the same objects", () => server.set("base", one));
  const copies = resources(2);
  step("set with one change, copies", () => server.set("base", copies));
} else {
  const api = createEnvoyApi();
  const inputs = list.map((value) => {
    const { input } = api.readResource(value);
    if (input === undefined) throw new Error("a resource is not valid");
    return input;
  });
  step("createResource and commit", () => {
    const puts = inputs.map((input) => createResource(input, contentDigest));
    server.commit({ changes: [{ layer: "base", puts }] });
  });
}
process.stdout.write(JSON.stringify(steps));
