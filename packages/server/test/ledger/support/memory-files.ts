import type { LedgerFile, LedgerFiles } from "../../../src/ledger/ledger-files.ts";

/** What was done to a directory. */
export type Operation =
  | { readonly kind: "create" | "remove" | "sync"; readonly name: string }
  | { readonly kind: "append"; readonly name: string; readonly bytes: Uint8Array }
  | { readonly kind: "truncate"; readonly name: string; readonly size: number }
  | { readonly kind: "rename"; readonly name: string; readonly to: string };

interface Content {
  bytes: Buffer;
}

/** A directory in memory that remembers what was done to it, and fails on demand. */
export class MemoryFiles implements LedgerFiles {
  readonly operations: Operation[] = [];
  readonly contents = new Map<string, Content>();
  /** How many bytes have been read, by file. */
  readonly bytesRead = new Map<string, number>();
  /** Throws to let an operation fail. */
  before: (operation: Operation) => void = () => undefined;

  list(): Promise<readonly string[]> {
    return Promise.resolve([...this.contents.keys()]);
  }

  async create(name: string): Promise<LedgerFile> {
    await this.do({ kind: "create", name });
    return this.#file(name);
  }

  open(name: string): Promise<LedgerFile> {
    if (!this.contents.has(name)) return Promise.reject(new Error(`ENOENT: ${name}`));
    return Promise.resolve(this.#file(name));
  }

  async rename(from: string, to: string): Promise<void> {
    await this.do({ kind: "rename", name: from, to });
  }

  async remove(name: string): Promise<void> {
    await this.do({ kind: "remove", name });
  }

  /** Performs an operation; of an append that fails, half stays. */
  do(operation: Operation): Promise<void> {
    try {
      this.before(operation);
    } catch (error) {
      if (operation.kind === "append") this.#perform({ ...operation, bytes: halfOf(operation.bytes) });
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    this.#perform(operation);
    return Promise.resolve();
  }

  #perform(operation: Operation): void {
    this.operations.push(operation);
    const { kind, name } = operation;
    if (kind === "create") this.contents.set(name, { bytes: Buffer.alloc(0) });
    else if (kind === "remove") this.contents.delete(name);
    else if (kind === "rename") {
      this.contents.set(operation.to, this.#content(name));
      this.contents.delete(name);
    } else if (kind === "append") {
      const content = this.#content(name);
      content.bytes = Buffer.concat([content.bytes, operation.bytes]);
    } else if (kind === "truncate") {
      const content = this.#content(name);
      content.bytes = content.bytes.subarray(0, operation.size);
    }
  }

  /** The same files, apart from these. */
  copy(): MemoryFiles {
    const copy = new MemoryFiles();
    for (const [name, { bytes }] of this.contents) copy.contents.set(name, { bytes: Buffer.from(bytes) });
    return copy;
  }

  get size(): number {
    return [...this.contents.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  text(name: string): string {
    return this.#content(name).bytes.toString();
  }

  write(name: string, text: string): void {
    this.contents.set(name, { bytes: Buffer.from(text) });
  }

  #content(name: string): Content {
    const content = this.contents.get(name);
    if (content === undefined) throw new Error(`ENOENT: ${name}`);
    return content;
  }

  /** By the content, which a new name does not change. */
  #file(opened: string): LedgerFile {
    const content = this.#content(opened);
    const nameNow = (): string => [...this.contents].find(([, one]) => one === content)?.[0] ?? opened;
    return {
      size: () => Promise.resolve(this.contents.get(opened) === content ? content.bytes.length : undefined),
      read: (offset, length) => {
        const bytes = Buffer.from(content.bytes.subarray(offset, offset + length));
        this.bytesRead.set(opened, (this.bytesRead.get(opened) ?? 0) + bytes.length);
        return Promise.resolve(bytes);
      },
      append: (bytes) => this.do({ kind: "append", name: nameNow(), bytes: Uint8Array.from(bytes) }),
      sync: () => this.do({ kind: "sync", name: nameNow() }),
      truncate: (size) => this.do({ kind: "truncate", name: nameNow(), size }),
      close: () => Promise.resolve(),
    };
  }
}

const halfOf = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, Math.floor(bytes.length / 2));
