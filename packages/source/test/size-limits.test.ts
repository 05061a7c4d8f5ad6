import { closeSync, ftruncateSync, openSync } from "node:fs";
import { join } from "node:path";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource, type Problem, readSettings } from "@xdskit/source";
import { describe, expect, test } from "vitest";
import { cluster, temporaryDirectory } from "./support/temporary-directory.ts";

const api = createEnvoyApi();
const MIB = 1024 ** 2;

/** The problems of a directory with an `a.yaml` and these settings: as a source finds them, and as those of the settings. */
async function problemsWith(
  settings: string | number,
  maxFileBytes?: number,
): Promise<readonly (readonly Pick<Problem, "file" | "message" | "hint">[])[]> {
  const directory = temporaryDirectory({
    "a.yaml": cluster("a"),
    "xdskit.yaml": typeof settings === "string" ? settings : "",
  });
  if (typeof settings === "number") grow(join(directory, "xdskit.yaml"), settings);
  const source = createDirectorySource({ directory, api, ...(maxFileBytes !== undefined && { maxFileBytes }) });
  const found = [(await source.load()).problems, (await readSettings(directory)).problems];
  return found.map((problems) => problems.map(({ file, message, hint }) => ({ file, message, ...(hint && { hint }) })));
}

function grow(file: string, bytes: number): void {
  const descriptor = openSync(file, "r+");
  ftruncateSync(descriptor, bytes);
  closeSync(descriptor);
}

describe("settings", () => {
  test("of more than 1 MiB are read at the start as they are later", async () => {
    expect(await problemsWith(`# ${"x".repeat(2 * MIB)}\nvalidation: warn\n`)).toEqual([[], []]);
  });

  test("of more than 64 MiB are refused at the start as they are later", async () => {
    const refusal = {
      file: "xdskit.yaml",
      message: "expected at most 64 MiB in one file, got 65 MiB",
      hint: "make it smaller; limits.max-file-bytes does not apply to it",
    };
    expect(await problemsWith(65 * MIB)).toEqual([[refusal], [refusal]]);
  });
});

describe("the limit of a resource file", () => {
  const sizeOfFile = cluster("a").length;
  test.each([
    [64, `expected at most 64 bytes in one file, got ${sizeOfFile} bytes`],
    [sizeOfFile - 1, `expected at most ${sizeOfFile - 1} bytes in one file, got ${sizeOfFile} bytes`],
  ])("of %i bytes is told with its unit, and is none of settings", async (limit, message) => {
    const settings = `# ${"x".repeat(300)}\n`;
    expect(await problemsWith(settings, limit)).toEqual([
      [{ file: "a.yaml", message, hint: "split the file, or raise limits.max-file-bytes" }],
      [],
    ]);
  });

  test("and a size that look the same are told to the byte", async () => {
    const directory = temporaryDirectory({ "a.yaml": "" });
    grow(join(directory, "a.yaml"), MIB + 1);
    const { problems } = await createDirectorySource({ directory, api, maxFileBytes: MIB }).load();
    expect(problems.map(({ message }) => message)).toEqual([
      "expected at most 1048576 bytes in one file, got 1048577 bytes",
    ]);
  });
});
