import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  brokenMeshScript,
  losesIn,
  meshClients,
  meshScript,
  playMesh,
  slowMeshScript,
} from "../support/mesh-script.ts";
import { tries } from "../support/script.ts";

describe.each(meshClients)("a client that warms what it is given ($is)", (client) => {
  test.each([
    ["", {}],
    [" though endpoints come late", { lateEndpoints: true }],
    [" though its Clusters name their endpoints otherwise", { renamesEndpoints: true }],
    [" though such endpoints come late", { lateEndpoints: true, renamesEndpoints: true }],
    [" though each resource comes in a response of its own", { splits: true }],
  ])("never has a path to a Cluster that it cannot use, and in the end holds exactly the target%s", (_, trouble) => {
    fc.assert(
      fc.property(meshScript, (steps) => {
        const mesh = playMesh(client, { makeBeforeBreak: true, ...trouble }, steps);
        expect(mesh.envoy.lost).toEqual([]);
        expect(mesh.envoy.holdings).toEqual(mesh.target);
      }),
      tries,
    );
  });

  test.each([
    ["", {}],
    [", which name endpoints otherwise", { renamesEndpoints: true }],
    [", which name endpoints that are late", { lateEndpoints: true, renamesEndpoints: true }],
  ])("nor when its connection breaks, and the server is started anew with other files%s", (_, trouble) => {
    fc.assert(
      fc.property(brokenMeshScript, (steps) => {
        const mesh = playMesh(client, { makeBeforeBreak: true, ...trouble }, steps);
        expect(mesh.envoy.lost).toEqual([]);
        expect(mesh.envoy.holdings).toEqual(mesh.target);
      }),
      tries,
    );
  });

  // A stream of its own does not say what its client has of the stream before (docs/decisions/0134).
  test.runIf(client.isAggregated).each([
    ["", meshScript],
    [" and comes back", brokenMeshScript],
  ])("nor if it is told of empty endpoints until there are some%s", (_, script) => {
    const how = { makeBeforeBreak: true, lateEndpoints: true, renamesEndpoints: true, placeholders: true };
    fc.assert(
      fc.property(script, (steps) => {
        const mesh = playMesh(client, how, steps);
        expect(mesh.envoy.lost).toEqual([]);
        expect(mesh.envoy.holdings).toEqual(mesh.target);
      }),
      tries,
    );
  });

  test.each([
    ["later than it waits for them", false] as const,
    // On a stream of its own see above.
    ...(client.isAggregated ? [["so late, and empty lists until then", true] as const] : []),
  ])("nor if Clusters in use get endpoints under other names, %s", (_, placeholders) => {
    const how = {
      makeBeforeBreak: true,
      lateEndpoints: true,
      renamesEndpoints: true,
      keepsClusters: true,
      placeholders,
    };
    fc.assert(
      fc.property(slowMeshScript, (steps) => {
        const mesh = playMesh(client, how, steps);
        expect(mesh.envoy.lost).toEqual([]);
        expect(mesh.envoy.holdings).toEqual(mesh.target);
      }),
      tries,
    );
  });

  test.each([
    ["", meshScript],
    [" and comes back", brokenMeshScript],
  ])("loses nothing either when it refuses routes now and then%s", (_, script) => {
    fc.assert(
      fc.property(script, (steps) => {
        expect(playMesh(client, { makeBeforeBreak: true, refusals: true }, steps).envoy.lost).toEqual([]);
      }),
      tries,
    );
  });

  test.runIf(client.variant === "delta")("nor when that server knows nothing of the one before", () => {
    fc.assert(
      fc.property(brokenMeshScript, (steps) => {
        const mesh = playMesh(client, { makeBeforeBreak: true, renamesEndpoints: true, forgets: true }, steps);
        expect(mesh.envoy.lost).toEqual([]);
        expect(mesh.envoy.holdings).toEqual(mesh.target);
      }),
      tries,
    );
  });

  test.each(
    (
      [
        { visits: "scopes", variants: ["sotw", "delta"] },
        { visits: "hosts", variants: ["delta"] },
      ] as const
    ).filter(({ variants }) => variants.some((one) => one === client.variant)),
  )("nor when its Listener uses $visits now and then, and it comes back", ({ visits }) => {
    for (const script of [meshScript, brokenMeshScript]) {
      fc.assert(
        fc.property(script, (steps) => {
          const mesh = playMesh(client, { makeBeforeBreak: true, visits }, steps);
          expect(mesh.envoy.lost).toEqual([]);
          expect(mesh.envoy.holdings).toEqual(mesh.target);
        }),
        tries,
      );
    }
  });

  test("nor when it goes to another server that is told of the same changes", () => {
    fc.assert(
      fc.property(brokenMeshScript, (steps) => {
        const mesh = playMesh(client, { makeBeforeBreak: true, replicas: true }, steps);
        expect(mesh.envoy.lost).toEqual([]);
        expect(mesh.envoy.holdings).toEqual(mesh.target);
      }),
      tries,
    );
  });

  test("loses requests where everything is said at once", () => {
    expect(losesIn(client, { makeBeforeBreak: false }, tries)).not.toBe(undefined);
  });
});
