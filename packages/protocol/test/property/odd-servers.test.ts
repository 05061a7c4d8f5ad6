import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OddServer, oddDialects, oddSteps } from "../support/odd-server.ts";
import { CLUSTER, ENDPOINTS } from "../support/resources.ts";
import { tries } from "../support/script.ts";

describe.each([
  ["Clusters", CLUSTER],
  ["endpoints", ENDPOINTS],
] as const)("a server that knows no rule, of %s", (_, type) => {
  test.each(["sotw", "delta"] as const)(
    "whatever it sends, each watch was told what is held for it, and nothing is left after the last: %s",
    (variant) => {
      fc.assert(
        fc.property(oddDialects, oddSteps, (dialect, steps) => {
          const server = new OddServer(type, variant, dialect);
          for (const step of steps) {
            server.step(step);
            expect(server.told).toEqual(server.held);
          }
          server.stopAll();
          expect(server.left).toEqual([0, 0]);
        }),
        { numRuns: 5 * tries.numRuns },
      );
    },
  );
});
