import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A directory with these files, gone after the test. */
export function temporaryDirectory(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const around = mkdtempSync(join(tmpdir(), "xdskit-source-"));
  chmodSync(around, 0o755);
  onTestFinished(() => rmSync(around, { recursive: true, force: true }));
  // One below, so that it can be renamed and removed.
  const directory = join(around, "config");
  mkdirSync(directory);
  for (const [path, content] of Object.entries(files)) write(directory, path, content);
  return directory;
}

/** Writes a file in place, with the folders it needs. */
export function write(directory: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), content);
}

/** A Cluster that has nothing wrong with it. */
export function cluster(name: string, timeout = "1s"): string {
  return `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: ${JSON.stringify(name)}
connect_timeout: ${timeout}
type: STATIC
load_assignment: { cluster_name: ${JSON.stringify(name)} }
`;
}
