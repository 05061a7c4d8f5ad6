import { defineConfig } from "vitest/config";
import unit from "./vitest.config.ts";

/** What `npm run mutation` plays against each mutant of the protocol: its own tests, and the cases in memory. */
export default defineConfig({
  ...unit,
  test: {
    ...unit.test,
    include: ["packages/protocol/**/*.test.ts", "packages/conformance/test/in-memory.test.ts"],
  },
});
