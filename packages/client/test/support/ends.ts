import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Ends something after this test: the last first. */
export function atEnd(end: () => unknown): void {
  onTestFinished(async () => {
    await end();
  });
}

/** A directory until the test is over: what writes to it is to end before, and so to begin after. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "xdskit-client-"));
  atEnd(() => rmSync(made, { recursive: true, force: true }));
  return made;
}
