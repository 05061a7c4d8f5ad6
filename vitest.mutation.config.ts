import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import unit from "./vitest.config.ts";

/** The first test that fails is the last that runs: those that are quick to start come first, the widest ones last. */
const order = ["/protocol/src/", "/protocol/test/", "/conformance/", "/property/", "/work.test.ts"];

class QuickestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = (file: TestSpecification): number => order.findLastIndex((part) => file.moduleId.includes(part));
    return files.sort((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId));
  }
}

/**
 * What `npm run mutation` plays against each mutant of the protocol: its own tests, and the cases in memory. The properties
 * run few times and each time the same ones, so that a score is the same tomorrow.
 */
export default defineConfig({
  resolve: unit.resolve ?? {},
  test: {
    include: ["packages/protocol/**/*.test.ts", "packages/conformance/test/{in-memory,client-in-memory}.test.ts"],
    // Of what was built, which no mutant changes.
    exclude: ["packages/protocol/test/bare-context.test.ts"],
    setupFiles: unit.test?.setupFiles ?? [],
    isolate: false,
    testTimeout: 20_000,
    sequence: { sequencer: QuickestFirst },
    env: { XDS_PROPERTY_RUNS: "40", XDS_PROPERTY_SEED: "1" },
  },
});
