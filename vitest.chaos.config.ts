import { defineConfig } from "vitest/config";
import unit, { shared } from "./vitest.config.ts";

/** Servers that share a real etcd, while all of them and the links between them fail. */
export default defineConfig({
  resolve: unit.resolve,
  test: {
    include: ["test/chaos/**/*.test.ts"],
    globalSetup: ["test/e2e/support/global-setup.ts", "vitest.global-setup.ts"],
    env: shared.env,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
