import { afterEach, describe, expect, test, vi } from "vitest";
import { Deliveries } from "../../src/server/ack/delivery.ts";
import { CurrentView } from "../../src/server/cache/current-view.ts";
import { PendingRemovals } from "../../src/server/cache/pending-removals.ts";
import { ServedVersions } from "../../src/server/cache/served.ts";
import { SharedResponses } from "../../src/server/cache/shared-responses.ts";
import { ClusterSources } from "../../src/server/order/cluster-sources.ts";
import { Order } from "../../src/server/order/order.ts";
import { WarmingClusters } from "../../src/server/order/warming-clusters.ts";
import { DeltaTypeStream } from "../../src/server/type/delta.ts";
import { HeldBack } from "../../src/server/type/held-back.ts";
import { SotwTypeStream } from "../../src/server/type/sotw.ts";
import { UntoldAbsences } from "../../src/server/type/untold-absences.ts";
import type { MeshOptions } from "../support/mesh.ts";
import { brokenMeshScript, losesIn, meshClients, meshScript, slowMeshScript } from "../support/mesh-script.ts";

afterEach(() => vi.restoreAllMocks());

interface Rule {
  readonly is: string;
  /** Does without it. */
  readonly remove: () => void;
  /** What is out of the ordinary where it is noticed. */
  readonly trouble?: Omit<MeshOptions, "makeBeforeBreak">;
  /** The clients that need it; all of them if absent. */
  readonly neededBy?: readonly string[];
  /** Noticed when a connection breaks or a server is started anew. */
  readonly isOfReturns?: true;
  /** Noticed when endpoints come later than the client waits for them. */
  readonly isOfPatience?: true;
}

/** Where endpoints that are not there end the warming of a Cluster: elsewhere it is not accepted before it has some. */
const takesNoneForAnAnswer = ["delta on ADS"];

/** Every rule of the order. One that nobody misses does not belong there. */
const rules: readonly Rule[] = [
  {
    is: "a Cluster is removed when nothing uses it any more",
    remove: () =>
      vi.spyOn(Order.prototype, "removable").mockReturnValue({
        to: Number.POSITIVE_INFINITY,
        namedTo: Number.POSITIVE_INFINITY,
        goesAtOnce: undefined,
      }),
  },
  {
    is: "what names a Cluster waits for it",
    remove: () => vi.spyOn(Order.prototype, "waitsOf").mockReturnValue(undefined),
  },
  {
    is: "a new Cluster counts when it is accepted",
    remove: () => vi.spyOn(Order.prototype, "brought").mockReturnValue(),
  },
  {
    is: "a Listener counts when what it names is there",
    remove: () => vi.spyOn(Order.prototype, "used").mockReturnValue(),
  },
  {
    is: "a refused route keeps the Cluster that it was to replace",
    remove: () => vi.spyOn(Deliveries.prototype, "refusedFrom", "get").mockReturnValue(Number.POSITIVE_INFINITY),
    trouble: { refusals: true },
  },
  {
    is: "what came and went is gone since then",
    remove: () => vi.spyOn(PendingRemovals.prototype, "deletedAt").mockReturnThis(),
  },
  {
    is: "traffic moves to a Cluster that has endpoints",
    remove: () => vi.spyOn(SharedResponses.prototype, "isVacant").mockReturnValue(false),
    trouble: { lateEndpoints: true },
    neededBy: takesNoneForAnAnswer,
  },
  {
    is: "traffic moves to a Cluster whose endpoints were sent",
    remove: () => {
      for (const { prototype } of [DeltaTypeStream, SotwTypeStream])
        vi.spyOn(prototype, "isSent").mockReturnValue(true);
    },
    neededBy: takesNoneForAnAnswer,
  },
  {
    is: "what is held back is kept in mind with the revision since when",
    remove: () => vi.spyOn(HeldBack.prototype, "from", "get").mockReturnValue(Number.POSITIVE_INFINITY),
  },
  {
    is: "endpoints are not told to be absent to a client that has an older name of them",
    remove: () => vi.spyOn(UntoldAbsences.prototype, "withhold").mockImplementation((answers) => answers),
    trouble: { renamesEndpoints: true },
    neededBy: ["delta on ADS", "delta on a stream for each type"],
  },
  {
    is: "endpoints are not told to be absent while a Cluster in use waits for them",
    remove: () => vi.spyOn(WarmingClusters.prototype, "awaited").mockReturnValue([]),
    trouble: { lateEndpoints: true, renamesEndpoints: true },
    neededBy: ["delta on ADS", "delta on a stream for each type"],
  },
  {
    is: "a Cluster in use gets endpoints under another name once they are there",
    remove: () => vi.spyOn(CurrentView.prototype, "isAnyVacatedSince").mockReturnValue(false),
    trouble: { lateEndpoints: true, renamesEndpoints: true, keepsClusters: true },
    isOfPatience: true,
  },
  {
    is: "who comes back may use what it has not asked for yet",
    remove: () => vi.spyOn(Order.prototype, "returns").mockReturnValue(),
    isOfReturns: true,
  },
  {
    is: "who asks for a route first has come back",
    remove: () => vi.spyOn(Order.prototype, "meetsUnannounced").mockReturnValue(),
    isOfReturns: true,
    neededBy: ["delta on ADS", "delta on a stream for each type"],
  },
  {
    is: "who came back may have Clusters without endpoints until it accepts their newest state",
    remove: () =>
      vi.spyOn(WarmingClusters.prototype, "has").mockImplementation(function (this: WarmingClusters, name) {
        return this.isNew(name);
      }),
    trouble: { renamesEndpoints: true },
    isOfReturns: true,
    neededBy: ["delta on ADS", "State of the World on ADS"],
  },
  {
    is: "who asks for endpoints first has come back",
    remove: () => vi.spyOn(Order.prototype, "meetsEndpoints").mockReturnValue(),
    trouble: { renamesEndpoints: true },
    isOfReturns: true,
    neededBy: ["delta on a stream for each type"],
  },
  {
    is: "who lists no endpoints of a Cluster has none",
    remove: () => vi.spyOn(Order.prototype, "lacksEndpoints").mockReturnValue(),
    trouble: { lateEndpoints: true, renamesEndpoints: true },
    isOfReturns: true,
    neededBy: ["delta on ADS"],
  },
  {
    is: "the next server knows who asked for Clusters",
    remove: () => vi.spyOn(ClusterSources.prototype, "takeNews").mockReturnValue([]),
    isOfReturns: true,
    neededBy: ["delta on a stream for each type"],
  },
  {
    is: "the versions of Clusters that were sent are remembered",
    remove: () => vi.spyOn(ServedVersions.prototype, "find").mockReturnValue(undefined),
    isOfReturns: true,
    neededBy: ["State of the World on ADS", "State of the World on a stream for each type"],
  },
];

describe.each(rules)("without the rule that $is", ({ remove, trouble, neededBy, isOfReturns, isOfPatience }) => {
  const losing = meshClients.filter(({ is }) => neededBy?.includes(is) ?? true);

  test.each(losing)(
    "requests are lost ($is)",
    (client) => {
      remove();
      const script = isOfReturns === true ? brokenMeshScript : isOfPatience === true ? slowMeshScript : meshScript;
      expect(losesIn(client, { makeBeforeBreak: true, ...trouble }, { numRuns: 20_000 }, script)).toEqual(
        expect.any(Array),
      );
    },
    240_000,
  );
});
