import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { directoryFormats, directoryText, extensionOf } from "../src/directory-text.ts";

const xds = fileURLToPath(new URL("../../cli/bin/xds.js", import.meta.url));
const WAIT_MS = 60_000;

test.each([
  [false, 0],
  [true, 8],
])(
  "every format holds the same resources; warns: %s",
  async (warns, warnings) => {
    const directory = mkdtempSync(join(tmpdir(), "xdskit-"));
    try {
      for (const [index, format] of directoryFormats.entries()) {
        const text = directoryText(index * 2, index * 2 + 2, { format, warns }, 250);
        writeFileSync(join(directory, `${format}.${extensionOf(format)}`), text);
      }
      const { stdout } = await promisify(execFile)(process.execPath, [xds, "validate", directory, "--format", "json"]);
      const { resources, problems } = JSON.parse(stdout) as { resources: number; problems: { severity: string }[] };
      expect({ resources, severities: problems.map(({ severity }) => severity) }).toEqual({
        resources: 8,
        severities: Array.from({ length: warnings }, () => "warning"),
      });
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
  WAIT_MS,
);
