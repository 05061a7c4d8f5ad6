import { defineConfig } from "vitest/config";
import unit, { shared as packages } from "./vitest.config.ts";
import { longestFirst } from "./vitest.sequencer.ts";

/** Scenarios that measure, count what a moment costs, or take all of a machine: each has it to itself. */
const alone = [
  ...["*-fleet", "client-beside-others", "console-live", "envoy-no-loss-listeners", "hostile-clients"],
  ...["large-state", "browser"],
].map((name) => `test/e2e/${name}.test.ts`);

const shared = {
  globalSetup: ["test/e2e/support/global-setup.ts", "vitest.global-setup.ts"],
  env: packages.env,
  testTimeout: 300_000,
  hookTimeout: 300_000,
};

/** Real clients against `xds serve`: real processes and ports. `XDS_E2E=full` is the long form. */
export default defineConfig({
  resolve: unit.resolve,
  test: {
    sequence: {
      sequencer: longestFirst([
        "envoy-no-loss.",
        "envoy-story",
        "envoy-workers",
        "balanced-workers",
        "grpc-story",
        "envoy-files",
        "console",
      ]),
    },
    projects: [
      {
        resolve: unit.resolve,
        test: {
          ...shared,
          name: "beside",
          include: ["test/e2e/**/*.test.ts"],
          exclude: alone,
          // Two more than there are cores: Envoys and clients mostly wait.
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        resolve: unit.resolve,
        test: { ...shared, name: "alone", include: alone, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
