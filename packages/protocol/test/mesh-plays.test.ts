import { describe, expect, test } from "vitest";
import type { MeshOptions, MeshStep } from "./support/mesh.ts";
import { meshClients, playMesh } from "./support/mesh-script.ts";

/** The smallest plays of a property in which requests were lost. */
interface Play {
  readonly is: string;
  readonly client: string;
  readonly trouble?: Omit<MeshOptions, "makeBeforeBreak">;
  readonly steps: readonly MeshStep[];
}

const renamesEndpoints = { renamesEndpoints: true };

const plays: readonly Play[] = [
  {
    is: "a route comes back first and lists nothing, and a second passes before Clusters are asked for",
    client: "delta on a stream for each type",
    steps: [
      ["change", 0, 28],
      ["turn", 50, 0],
      ["take", 46, 0],
      ["restart", 0, 0],
      ["request", 31, 0],
      ["request", 15, 0],
      ["change", 0, 1],
      ["turn", 0, 0],
      ["second", 0, 0],
    ],
  },
  {
    is: "a Listener goes to a Cluster that comes back without endpoints and gets another EDS name",
    client: "delta on ADS",
    trouble: renamesEndpoints,
    steps: [
      ["change", 2, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["break", 0, 0],
      ["change", 24, 31],
    ],
  },
  {
    is: "the same after 15 seconds of vain warming",
    client: "State of the World on ADS",
    trouble: renamesEndpoints,
    steps: [
      ["change", 2, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["break", 0, 0],
      ["change", 20, 55],
    ],
  },
  {
    is: "such a Cluster is deleted and exists again with another EDS name",
    client: "delta on ADS",
    trouble: renamesEndpoints,
    steps: [
      ["change", 2, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["break", 0, 0],
      ["request", 0, 0],
      ["change", 0, 0],
      ["request", 0, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["break", 0, 0],
      ["request", 0, 0],
      ["request", 0, 0],
      ["turn", 0, 0],
      ["change", 24, 25],
    ],
  },
  {
    is: "such a Cluster comes back unchanged and changes before its endpoints were asked for",
    client: "delta on ADS",
    trouble: renamesEndpoints,
    steps: [
      ["change", 16, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["break", 0, 0],
      ["request", 0, 0],
      ["request", 0, 0],
      ["change", 0, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["break", 0, 0],
      ["request", 0, 0],
      ["request", 0, 0],
      ["change", 16, 0],
      ["turn", 0, 0],
      ["change", 0, 36],
    ],
  },
  {
    is: "a route asks first and lists nothing, a Listener lists what it has, and the second of the route is over",
    client: "delta on ADS",
    trouble: renamesEndpoints,
    steps: [
      ["change", 0, 3],
      ["turn", 0, 0],
      ["change", 0, 25],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["take", 0, 0],
      ["request", 0, 0],
      ["request", 0, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["request", 0, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["restart", 12, 0],
      ["request", 0, 0],
      ["request", 0, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["break", 33, 0],
      ["request", 0, 0],
      ["request", 0, 0],
      ["turn", 0, 0],
      ["change", 16, 0],
      ["request", 0, 0],
      ["request", 0, 0],
      ["second", 0, 0],
    ],
  },
  {
    is: "the stream of endpoints comes back before that of Clusters",
    client: "delta on a stream for each type",
    trouble: renamesEndpoints,
    steps: [
      ["change", 8, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["break", 0, 0],
      ["change", 0, 0],
      ["request", 29, 0],
      ["request", 13, 0],
    ],
  },
  {
    is: "the stream of Clusters alone breaks, and their EDS name changes",
    client: "delta on a stream for each type",
    trouble: renamesEndpoints,
    steps: [
      ["change", 8, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["request", 5, 0],
      ["request", 21, 0],
      ["reset", 0, 0],
      ["change", 0, 0],
    ],
  },
  {
    is: "the stream of a route breaks, and the Listener that gives the route up is under way",
    client: "delta on a stream for each type",
    steps: [
      ["change", 4, 0],
      ["turn", 0, 0],
      ["change", 31, 4],
      ["turn", 29, 0],
      ["take", 42, 0],
      ["request", 43, 0],
      ["turn", 0, 0],
      ["take", 0, 0],
      ["change", 0, 14],
      ["take", 3, 15],
      ["request", 47, 0],
      ["request", 58, 0],
      ["reset", 7, 0],
      ["turn", 0, 0],
      ["request", 5, 0],
      ["turn", 0, 0],
      ["request", 0, 0],
      ["turn", 0, 0],
      ["change", 0, 10],
    ],
  },
  {
    is: "a Listener changes while the stream of Clusters is away",
    client: "State of the World on a stream for each type",
    steps: [
      ["change", 0, 46],
      ["turn", 22, 0],
      ["take", 0, 0],
      ["take", 22, 0],
      ["change", 0, 0],
      ["reset", 0, 0],
      ["request", 58, 0],
    ],
  },
];

describe("S-ORD-05 S-ORD-06 S-REC-09: nothing is lost or left over when", () => {
  test.each(plays)("$is ($client)", ({ client, trouble, steps }) => {
    const of = meshClients.filter(({ is }) => is === client);
    const meshes = of.map((one) => playMesh(one, { makeBeforeBreak: true, ...trouble }, steps));
    expect(meshes.map(({ envoy }) => [envoy.lost, envoy.holdings])).toEqual(meshes.map(({ target }) => [[], target]));
    expect(meshes.length).toBe(1);
  });
});
