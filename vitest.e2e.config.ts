import { defineConfig } from "vitest/config";
import unit from "./vitest.config.ts";

/** Real clients against `xds serve`: real processes and ports, so one file at a time. `XDS_E2E=full` is the long form. */
export default defineConfig({
  resolve: unit.resolve,
  test: {
    include: ["test/e2e/**/*.test.ts"],
    globalSetup: ["test/e2e/support/global-setup.ts", "vitest.global-setup.ts"],
    env: unit.test?.env ?? {},
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
