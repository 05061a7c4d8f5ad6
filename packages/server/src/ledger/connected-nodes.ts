import {
  type ConnectedNode,
  formatConnectedNodes,
  readConnectedNodes,
  writeConnectedNodes,
} from "./connected-node-files.ts";

/** How often the file is written at most, in milliseconds. */
const EVERY_MS = 1_000;
/** After how long it is tried again, in milliseconds, if it cannot be written. */
const AGAIN_MS = 60_000;
/** After how long a node that has not come back after a restart is gone, in milliseconds. */
const RETURN_MS = 5 * 60_000;

export interface ConnectedNodesOptions {
  readonly directory: string;
  readonly connected: () => Iterable<ConnectedNode>;
  readonly now?: () => number;
  /** Called if the file cannot be written, and not again before it could be. */
  readonly onProblem: (message: string) => void;
  /** Called when the file is written again. */
  readonly onRecovered: (message: string) => void;
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
  #isFailing = false;

  private constructor(options: ConnectedNodesOptions, before: readonly ConnectedNode[]) {
    this.#options = options;
    this.#before = new Map(before.map((node) => [node.key, node]));
    this.#until = this.#now() + RETURN_MS;
  }

  /** Reads which nodes were connected when the process before ended. Rejects with the system's error. */
  static async open(options: ConnectedNodesOptions): Promise<ConnectedNodes> {
    return new ConnectedNodes(options, await readConnectedNodes(options.directory));
  }

  /** Those that were connected before the start and may come back; some of them may have. */
  get before(): Iterable<ConnectedNode> {
    return this.#now() < this.#until ? this.#before.values() : [];
  }

  /** Other nodes are connected, or they have other layers: writes that soon. */
  changed(): void {
    if (this.#isClosed) return;
    this.#writeIn(EVERY_MS);
  }

  #writeIn(ms: number): void {
    this.#timer ??= setTimeout(() => this.#write(), ms).unref();
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
    const text = formatConnectedNodes(nodes.values());
    if (text === this.#written) return;
    this.#written = text;
    this.#writing = this.#writing.then(() => this.#replace(text));
  }

  async #replace(text: string): Promise<void> {
    try {
      await writeConnectedNodes(this.#options.directory, text);
      if (this.#isFailing) this.#options.onRecovered("which nodes are connected is written down again");
      this.#isFailing = false;
    } catch (cause) {
      this.#written = undefined;
      if (!this.#isClosed) this.#writeIn(AGAIN_MS);
      if (this.#isFailing) return;
      this.#isFailing = true;
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#options.onProblem(
        `which nodes are connected cannot be written down, and is tried again every minute: ${why}`,
      );
    }
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}
