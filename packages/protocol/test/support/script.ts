import fc from "fast-check";
import type { Step } from "./world.ts";

const number = fc.nat(31);
const seed = process.env["XDS_PROPERTY_SEED"];

/** How often each property is tried; set `XDS_PROPERTY_RUNS` for more, `XDS_PROPERTY_SEED` for the same tries again. */
export const tries: { readonly numRuns: number; readonly seed?: number } = {
  numRuns: Number(process.env["XDS_PROPERTY_RUNS"] ?? 600),
  ...(seed === undefined ? {} : { seed: Number(seed) }),
};

/** Steps for a world, in any order. */
export const script: fc.Arbitrary<Step[]> = fc.array(fc.tuple(number, number, number, number), {
  minLength: 10,
  maxLength: 80,
  size: "max",
});
