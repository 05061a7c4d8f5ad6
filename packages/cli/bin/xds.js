#!/usr/bin/env node
// Starts the built command; the sources are in ../src/main.ts.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const built = new URL("../dist/main.js", import.meta.url);
if (!existsSync(fileURLToPath(built))) {
  process.stderr.write("xds is not built yet: run `npm run build` first\n");
  process.exit(70);
}
await import(built.href);
