import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { defineConfig } from "vitest/config";
import { watch } from "./tools/mutation/watchdog.mjs";
import unit, { shared } from "./vitest.config.ts";

const root = import.meta.dirname;
const mutated = process.env["XDS_MUTATION_SOURCES"] ?? "";

watch(process.env["XDS_MUTATION_JOB"] ?? "");

/**
 * What `npm run mutation` runs: the tests of the server's half of the protocol as one file, against sources that hold the mutants. The properties
 * run few times and each time the same ones, so that a score is the same tomorrow.
 */
export default defineConfig({
  resolve: unit.resolve ?? {},
  plugins: [
    {
      name: "mutants",
      enforce: "pre",
      load(id) {
        const path = join(mutated, relative(root, id));
        return id.startsWith(root) && existsSync(path) ? readFileSync(path, "utf8") : undefined;
      },
    },
  ],
  test: {
    include: ["tools/mutation/every-test.mjs"],
    runner: "./tools/mutation/runner.mjs",
    setupFiles: shared.setupFiles,
    pool: "threads",
    isolate: false,
    maxWorkers: 1,
    experimental: { fsModuleCache: true, fsModuleCachePath: join(root, ".cache", "mutation", "modules") },
    testTimeout: 60_000,
    env: { XDS_PROPERTY_RUNS: process.env["XDS_PROPERTY_RUNS"] ?? "10", XDS_PROPERTY_SEED: "1" },
  },
});
