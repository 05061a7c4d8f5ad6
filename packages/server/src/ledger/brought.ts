import type { StoredRecord } from "./store.ts";

/** What is written together. */
const BYTES_AT_ONCE = 4 * 1024 * 1024;
const ITEMS_AT_ONCE = 1_000;

/** The records up to a number. */
export async function* recordsUpTo(records: AsyncIterable<StoredRecord>, last: number): AsyncIterable<StoredRecord> {
  for await (const record of records) {
    if (record.number > last) return;
    yield record;
  }
}

/** Bodies as they stand in a file. */
export async function* encodedBodies(
  bodies: AsyncIterable<readonly [digest: string, bytes: Uint8Array]>,
): AsyncIterable<readonly [digest: string, body: Buffer]> {
  const written = new Set<string>();
  for await (const [digest, bytes] of bodies) {
    if (written.has(digest)) continue;
    written.add(digest);
    yield [digest, Buffer.from(`${digest} ${Buffer.from(bytes).toString("base64")}`, "latin1")];
  }
}

/** Bodies that are written together. */
export async function* bodyGroups(
  bodies: AsyncIterable<readonly [digest: string, bytes: Uint8Array]>,
): AsyncIterable<ReadonlyMap<string, Uint8Array>> {
  let group = new Map<string, Uint8Array>();
  let length = 0;
  for await (const [digest, bytes] of bodies) {
    group.set(digest, bytes);
    length += bytes.byteLength;
    if (length < BYTES_AT_ONCE && group.size < ITEMS_AT_ONCE) continue;
    yield group;
    group = new Map();
    length = 0;
  }
  if (group.size > 0) yield group;
}

/** The records after a number, some at a time. */
export async function* recordGroups(
  records: AsyncIterable<StoredRecord>,
  after: number,
): AsyncIterable<readonly StoredRecord[]> {
  let group: StoredRecord[] = [];
  let length = 0;
  for await (const record of records) {
    if (record.number <= after) continue;
    group.push(record);
    length += record.text.length;
    if (length < BYTES_AT_ONCE && group.length < ITEMS_AT_ONCE) continue;
    yield group;
    group = [];
    length = 0;
  }
  if (group.length > 0) yield group;
}
