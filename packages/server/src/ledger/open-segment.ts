import { Slices } from "../slices.ts";
import { type Segment, segmentName } from "./contents.ts";
import { createWhole, type LedgerFile, type LedgerFiles } from "./ledger-files.ts";
import { LineBlock } from "./line-block.ts";
import { formatHead, formatLine, formatLongLine, HEADER, type LinePart } from "./segment-format.ts";
import type { LedgerHead } from "./store.ts";

/** Lines are written together up to this length. */
const WRITTEN_AT_ONCE = 128 * 1024;

/** Writes the lines of an append, and returns where each stands. */
export interface LineWriter {
  write(kind: string, content: string): Promise<LinePart>;
  writeBody(digest: string, body: Uint8Array): Promise<LinePart>;
}

/** The segment of a ledger that is written to: each append is durable as a whole, or is cut off. */
export class OpenSegment {
  readonly name: string;
  /** What it follows. */
  readonly base: LedgerHead;
  readonly #file: LedgerFile;
  /** What is about to be written. */
  readonly #block = new LineBlock();
  #bytes: number;
  /** Whether its end has to be cut off before the next append. */
  #isTorn = false;
  #failure: string | undefined;

  private constructor({ name, base, bytes }: Segment, file: LedgerFile) {
    this.name = name;
    this.base = base;
    this.#file = file;
    this.#bytes = bytes;
  }

  /** Begins a segment of a ledger at its head. */
  static async begin(files: LedgerFiles, epoch: string, head: LedgerHead): Promise<OpenSegment> {
    const name = segmentName(head.number);
    const text = `${HEADER}\n${formatLine("epoch", epoch)}${formatLine("base", formatHead(head))}`;
    await createWhole(files, name, (file) => file.append(Buffer.from(text)));
    return await OpenSegment.goOn(files, { name, base: head, head, bytes: text.length, isSealed: false });
  }

  /** Goes on with a segment that is not sealed. */
  static async goOn(files: LedgerFiles, segment: Segment): Promise<OpenSegment> {
    return new OpenSegment(segment, await files.open(segment.name, "append"));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Why nothing can be appended any more. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** What can be read of it, with the newest record. */
  upTo(head: LedgerHead): Segment {
    return { name: this.name, base: this.base, head, bytes: this.#bytes, isSealed: false };
  }

  /** Makes its end what the last append left. Throws if it cannot be. */
  async mend(): Promise<void> {
    if (this.#isTorn) await this.cut();
    else await this.#expectSize(this.#bytes);
  }

  /** Cuts off what is behind the last append. */
  async cut(): Promise<void> {
    await this.#file.truncate(this.#bytes);
    await this.#file.sync();
    this.#isTorn = false;
  }

  /** Appends what `fill` writes, and the line that ends an append. */
  async append(fill: (writer: LineWriter) => Promise<void>): Promise<void> {
    const slices = new Slices();
    const block = this.#block;
    let bytes = this.#bytes;
    block.clear();
    const added = async (length: number): Promise<void> => {
      bytes += length;
      // What is written may be done within the same turn.
      if (slices.count(length)) await slices.next();
      if (block.length < WRITTEN_AT_ONCE) return;
      await this.#file.append(block.bytes);
      block.clear();
    };
    const partFrom = (offset: number): LinePart => ({ offset, length: bytes - offset - 1 });
    const writer: LineWriter = {
      async write(kind, content) {
        const offset = bytes;
        if (content.length < WRITTEN_AT_ONCE) await added(block.addText(formatLine(kind, content)));
        else for await (const part of formatLongLine(kind, content)) await added(block.addText(part));
        return partFrom(offset);
      },
      async writeBody(digest, body) {
        const offset = bytes;
        await added(block.addBody(digest, body));
        return partFrom(offset);
      },
    };
    try {
      await fill(writer);
      bytes += block.addText(formatLine("commit", ""));
      await this.#file.append(block.bytes);
      await this.#file.sync();
    } catch (error) {
      this.#isTorn = true;
      await this.cut().catch(() => undefined);
      throw error;
    }
    await this.#expectSize(bytes);
    this.#bytes = bytes;
  }

  /** Ends it. The line `sealed` shows another process that this one was here, and the other way round. */
  async seal(head: LedgerHead): Promise<Segment> {
    const line = formatLine("sealed", "");
    try {
      await this.#file.append(Buffer.from(line));
      await this.#file.sync();
    } catch (error) {
      this.#isTorn = true;
      throw error;
    }
    await this.#file.close();
    return { ...this.upTo(head), bytes: this.#bytes + line.length, isSealed: true };
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** With another size another process writes here, and what it wrote must stay as it is. */
  async #expectSize(bytes: number): Promise<void> {
    if ((await this.#file.size()) === bytes) return;
    this.#failure = `another process writes to ${this.name}`;
    throw new Error(this.#failure);
  }
}
