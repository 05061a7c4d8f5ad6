import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A node that is connected, or was when the process before ended. */
export interface ConnectedNode {
  /** Tells nodes apart. */
  readonly key: string;
  readonly id: string;
  /** Top-most first. */
  readonly layers: readonly string[];
}

const FILE = "connected.json";

/** Reads the nodes; a file that is missing or damaged has none. Rejects with the system's error. */
export async function readConnectedNodes(directory: string): Promise<readonly ConnectedNode[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  try {
    const lines: unknown = JSON.parse(await readFile(join(directory, FILE), "utf8"));
    return Array.isArray(lines) ? lines.flatMap(nodeIn) : [];
  } catch (cause) {
    if (cause instanceof SyntaxError || (cause instanceof Error && "code" in cause && cause.code === "ENOENT"))
      return [];
    throw cause;
  }
}

/** The content of the file. */
export function formatConnectedNodes(nodes: Iterable<ConnectedNode>): string {
  return JSON.stringify([...nodes].map(({ key, id, layers }) => [key, id, layers]));
}

/** Replaces the file as a whole. Rejects with the system's error. */
export async function writeConnectedNodes(directory: string, text: string): Promise<void> {
  const path = join(directory, FILE);
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

function nodeIn(line: unknown): readonly ConnectedNode[] {
  if (!Array.isArray(line)) return [];
  const [key, id, layers] = line as readonly unknown[];
  const isNode = typeof key === "string" && typeof id === "string" && Array.isArray(layers);
  return isNode ? [{ key, id, layers: layers.map(String) }] : [];
}
