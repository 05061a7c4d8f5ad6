import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** Builds into `@xdskit/server`, which serves it. Relative URLs, so that it works behind a path prefix. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  logLevel: "warn",
  build: {
    outDir: fileURLToPath(new URL("../server/console", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    // The policy of the page allows no images in the text of styles.
    assetsInlineLimit: 0,
  },
});
