import type { Variant } from "@xdskit/protocol";
import fc from "fast-check";
import { Mesh, type MeshOptions, type MeshStep } from "./mesh.ts";

/** A client by its variant and its streams. */
export interface MeshClient {
  readonly variant: Variant;
  readonly isAggregated: boolean;
  readonly is: string;
}

export const meshClients: readonly MeshClient[] = [
  { variant: "delta", isAggregated: true, is: "delta on ADS" },
  { variant: "delta", isAggregated: false, is: "delta on a stream for each type" },
  { variant: "sotw", isAggregated: true, is: "State of the World on ADS" },
  { variant: "sotw", isAggregated: false, is: "State of the World on a stream for each type" },
];

const step: fc.Arbitrary<MeshStep> = fc.tuple(
  fc.constantFrom("change", "request", "request", "request", "take", "take", "take", "turn", "turn"),
  fc.nat(63),
  fc.nat(63),
);

/** Steps for a mesh, in any order. */
export const meshScript: fc.Arbitrary<MeshStep[]> = fc.array(step, { maxLength: 160, size: "max" });

/** The same with a quarter of a minute between two changes. */
export const slowMeshScript: fc.Arbitrary<MeshStep[]> = fc
  .array(
    fc.tuple(
      fc.tuple(fc.constant("change" as const), fc.nat(63), fc.nat(63)),
      fc.array(
        fc.tuple(fc.constantFrom("request" as const, "take" as const, "turn" as const), fc.nat(63), fc.nat(63)),
        { maxLength: 20 },
      ),
    ),
    { maxLength: 12, size: "max" },
  )
  .map((changes) => changes.flatMap(([change, steps]): MeshStep[] => [change, ...steps, ["quarter", 0, 0]]));

/** The same with a connection or a stream that breaks, and a server that is started anew. */
export const brokenMeshScript: fc.Arbitrary<MeshStep[]> = fc.array(
  fc.oneof(
    { weight: 15, arbitrary: step },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom("break", "reset", "restart"), fc.nat(63), fc.nat(63)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("second"), fc.nat(63), fc.nat(63)) },
  ),
  { maxLength: 160, size: "max" },
);

/** A mesh after all of that, when nobody has anything more to say. */
export function playMesh({ variant, isAggregated }: MeshClient, how: MeshOptions, steps: readonly MeshStep[]): Mesh {
  const mesh = new Mesh(variant, isAggregated, how);
  mesh.settle();
  for (const one of steps) mesh.step(one);
  mesh.settle();
  return mesh;
}

/** Steps in which such a client loses requests; undefined if there are none among so many tries. */
export function losesIn(
  client: MeshClient,
  how: MeshOptions,
  tries: { readonly numRuns: number; readonly seed?: number },
  script: fc.Arbitrary<MeshStep[]> = meshScript,
): readonly MeshStep[] | undefined {
  const found = fc.check(
    fc.property(script, (steps) => playMesh(client, how, steps).envoy.lost.length === 0),
    { endOnFailure: true, ...tries },
  );
  return found.counterexample?.[0];
}
