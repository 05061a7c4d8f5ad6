import { type BodyPlace, bodiesName, type Generation, historyName, snapshotName } from "./contents.ts";
import { createWhole, type LedgerFiles } from "./ledger-files.ts";
import { formatHead, formatLine, formatLongLine, HEADER, type LinePart } from "./segment-format.ts";
import type { StoredRecord, StoredSnapshot } from "./store.ts";

const WRITTEN_AT_ONCE = 128 * 1024;

export interface CompactionInput {
  readonly number: number;
  readonly epoch: string;
  readonly snapshot: StoredSnapshot;
  readonly completeAfter: number;
  readonly records: AsyncIterable<StoredRecord>;
  /** By their digests. Throws if one is damaged. */
  readonly bodies: AsyncIterable<readonly [digest: string, body: Buffer]>;
}

export const generationNames = (number: number): readonly string[] => [
  snapshotName(number),
  historyName(number),
  bodiesName(number),
];

/** Writes the three files of a generation. It counts from when the snapshot has its name, which is last. */
export async function writeGeneration(
  files: LedgerFiles,
  input: CompactionInput,
): Promise<{ readonly generation: Generation; readonly bodies: ReadonlyMap<string, BodyPlace> }> {
  const { number, epoch, snapshot, completeAfter } = input;
  try {
    const places = new Map<string, BodyPlace>();
    await writeFile(files, bodiesName(number), async (write) => {
      for await (const [digest, body] of input.bodies) {
        const part = await write("body", body.toString("latin1"));
        places.set(digest, { ...part, file: bodiesName(number), number: 0 });
      }
    });
    await writeFile(files, historyName(number), async (write) => {
      for await (const record of input.records) await write("record", `${formatHead(record)} ${record.text}`);
    });
    const text = await writeFile(files, snapshotName(number), async (write) => {
      await write("epoch", epoch);
      await write("base", formatHead(snapshot.head));
      await write("complete-after", `${completeAfter}`);
      for (const [digest, { offset, length }] of places) await write("kept", `${digest} ${offset} ${length}`);
      const part = await write("snapshot", snapshot.text);
      await write("commit", "");
      return part;
    });
    return { generation: { number, head: snapshot.head, completeAfter, text }, bodies: places };
  } catch (error) {
    for (const name of generationNames(number)) {
      for (const one of [name, `${name}.new`]) await files.remove(one).catch(() => undefined);
    }
    throw error;
  }
}

type Write = (kind: string, content: string) => Promise<LinePart>;

/** Writes a file of lines that has its name only when it is whole and durable. */
async function writeFile<T>(files: LedgerFiles, name: string, fill: (write: Write) => Promise<T>): Promise<T> {
  return await createWhole(files, name, async (file) => {
    let pending: Buffer[] = [Buffer.from(`${HEADER}\n`)];
    let pendingBytes = HEADER.length + 1;
    let offset = pendingBytes;
    const flush = async (): Promise<void> => {
      const bytes = Buffer.concat(pending);
      pending = [];
      pendingBytes = 0;
      await file.append(bytes);
    };
    const add = async (text: string): Promise<void> => {
      const bytes = Buffer.from(text);
      pending.push(bytes);
      pendingBytes += bytes.length;
      offset += bytes.length;
      if (pendingBytes >= WRITTEN_AT_ONCE) await flush();
    };
    const result = await fill(async (kind, content) => {
      const start = offset;
      if (content.length < WRITTEN_AT_ONCE) await add(formatLine(kind, content));
      else for await (const part of formatLongLine(kind, content)) await add(part);
      return { offset: start, length: offset - start - 1 };
    });
    await flush();
    return result;
  });
}
