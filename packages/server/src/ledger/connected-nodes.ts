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

/** How often the file is written at most, in milliseconds. */
const EVERY_MS = 1_000;
/** After how long a node that has not come back after a restart is gone, in milliseconds. */
const RETURN_MS = 5 * 60_000;
const FILE = "connected.json";

export interface ConnectedNodesOptions {
  readonly directory: string;
  readonly connected: () => Iterable<ConnectedNode>;
  readonly now?: () => number;
  /** Called once if the file cannot be written. */
  readonly onProblem: (message: string) => void;
}

/**
 * Which nodes are connected, in a file: after a restart none is, and a change that takes all that they have would concern
 * nobody. Those that have not come back count as connected for five minutes.
 */
export class ConnectedNodes {
  readonly #options: ConnectedNodesOptions;
  readonly #before: ReadonlyMap<string, ConnectedNode>;
  readonly #until: number;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;
  #written: string | undefined;

  private constructor(options: ConnectedNodesOptions, before: readonly ConnectedNode[]) {
    this.#options = options;
    this.#before = new Map(before.map((node) => [node.key, node]));
    this.#until = this.#now() + RETURN_MS;
  }

  /** Reads which nodes were connected when the process before ended. Rejects with the system's error. */
  static async open(options: ConnectedNodesOptions): Promise<ConnectedNodes> {
    await mkdir(options.directory, { recursive: true, mode: 0o700 });
    return new ConnectedNodes(options, await readNodes(join(options.directory, FILE)));
  }

  /** Those that were connected before the start and may come back; some of them may have. */
  get before(): Iterable<ConnectedNode> {
    return this.#now() < this.#until ? this.#before.values() : [];
  }

  /** Other nodes are connected, or they have other layers: writes that soon. */
  changed(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => this.#write(), EVERY_MS).unref();
  }

  /** Writes which nodes are connected now, for the last time: those that the shutdown disconnects stay in the file. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#write();
    }
    await this.#writing;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const nodes = new Map<string, ConnectedNode>();
    for (const node of this.before) nodes.set(node.key, node);
    for (const node of this.#options.connected()) nodes.set(node.key, node);
    const text = JSON.stringify([...nodes.values()].map(({ key, id, layers }) => [key, id, layers]));
    if (text === this.#written) return;
    this.#written = text;
    this.#writing = this.#writing.then(() => this.#replace(text));
  }

  async #replace(text: string): Promise<void> {
    const path = join(this.#options.directory, FILE);
    try {
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    } catch (cause) {
      if (!this.#isClosed) clearTimeout(this.#timer);
      this.#isClosed = true;
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#options.onProblem(`which nodes are connected is not written down any more: ${why}`);
    }
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

/** A file that is missing or damaged has no nodes. */
async function readNodes(path: string): Promise<readonly ConnectedNode[]> {
  try {
    const lines: unknown = JSON.parse(await readFile(path, "utf8"));
    return Array.isArray(lines) ? lines.flatMap(nodeIn) : [];
  } catch (cause) {
    if (cause instanceof SyntaxError || (cause instanceof Error && "code" in cause && cause.code === "ENOENT"))
      return [];
    throw cause;
  }
}

function nodeIn(line: unknown): readonly ConnectedNode[] {
  if (!Array.isArray(line)) return [];
  const [key, id, layers] = line as readonly unknown[];
  const isNode = typeof key === "string" && typeof id === "string" && Array.isArray(layers);
  return isNode ? [{ key, id, layers: layers.map(String) }] : [];
}
