import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource, type Load } from "@xdskit/source";
import { expect, test } from "vitest";
import { printLayers, printProblems } from "./support/print-load.ts";

/** Every folder is a case: `in/` is the directory, `layers.json` and `problems.txt` are all that comes of it. */
const golden: string = fileURLToPath(new URL("golden/", import.meta.url));
const api = createEnvoyApi();

test.each(readdirSync(golden).sort())("%s", async (name) => {
  const source = createDirectorySource({ directory: `${golden}${name}/in`, api });
  const load = await source.load();
  compareWithFile(`${golden}${name}/layers.json`, load.state && printLayers(api, load.state));
  compareWithFile(
    `${golden}${name}/problems.txt`,
    load.problems.length === 0 ? undefined : printProblems(load.problems),
  );
  expect(load.state === undefined).toBe(hasError(load));
});

function hasError({ problems }: Load): boolean {
  return problems.some(({ severity }) => severity === "error");
}

/** With UPDATE_GOLDEN=1 (`npm run golden:update`) the file becomes what was printed, to be reviewed as a diff. */
function compareWithFile(file: string, printed: string | undefined): void {
  if (process.env["UPDATE_GOLDEN"] === "1") {
    if (printed === undefined) rmSync(file, { force: true });
    else writeFileSync(file, printed);
  }
  const expected = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  expect(printed, "if that is intended, `npm run golden:update` writes it, to be reviewed as a diff").toBe(expected);
}
