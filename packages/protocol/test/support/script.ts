import fc from "fast-check";
import type { Step } from "./world.ts";

const number = fc.nat(31);

/** How often each property is tried; set `XDS_PROPERTY_RUNS` for more. Which tries they are is what `vitest.setup.ts` says. */
export const tries: { readonly numRuns: number } = { numRuns: Number(process.env["XDS_PROPERTY_RUNS"] ?? 100) };

/** Steps for a world, in any order. */
export const script: fc.Arbitrary<Step[]> = fc.array(fc.tuple(number, number, number, number), {
  minLength: 10,
  maxLength: 80,
  size: "max",
});
