import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import unit, { shared } from "./vitest.config.ts";

/** The tests of the server on the wire once more, with the HTTP/2 of Node instead of the server's own. */
export default defineConfig({
  resolve: unit.resolve,
  test: {
    ...shared,
    include: ["packages/server/test/wire/**/*.test.ts"],
    setupFiles: ["vitest.setup.ts", "packages/server/test/support/node-http2.ts"].map((file) =>
      fileURLToPath(new URL(file, import.meta.url)),
    ),
  },
});
