import { defineConfig } from "vitest/config";
import unit, { shared } from "./vitest.config.ts";

/** Attacks on `xds serve` while a client that behaves measures its edits: it shares the machine with one attack at a time. */
export default defineConfig({
  resolve: unit.resolve,
  test: {
    include: ["test/attacks/**/*.test.ts"],
    globalSetup: ["test/e2e/support/global-setup.ts", "vitest.global-setup.ts"],
    env: shared.env,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
