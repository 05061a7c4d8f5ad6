import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";

/** What ends after each test, the last first. */
export const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A directory until the test is over: what writes to it is to end before, and so to begin after. */
export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "xdskit-client-"));
  ends.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
}
