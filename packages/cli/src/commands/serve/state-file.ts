import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Replaces a file of the state directory. The server reports it if the directory cannot be used. */
export async function replaceStateFile(stateDir: string | undefined, name: string, text: string): Promise<void> {
  if (stateDir === undefined) return;
  const path = join(stateDir, name);
  await writeFile(`${path}.new`, text, { mode: 0o600 })
    .then(() => rename(`${path}.new`, path))
    .catch(() => undefined);
}
