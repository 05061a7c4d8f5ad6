import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { makeDirectory } from "@xdskit/disk";
import { headOf, isSameHead, recordAfter } from "./chain.ts";
import { openDirectoryLedger } from "./directory-store.ts";
import { parseRecord } from "./parse-record.ts";
import { bodiesOf } from "./retention.ts";
import type { LedgerHead, LedgerStore, StoredRecord } from "./store.ts";
import { readTextFile, removeDirectory, removeOthers, replaceTextFile } from "./store-copy-files.ts";
import { wholeOf } from "./whole-ledger.ts";

const IDENTITY = "copy.json";
/** After so many records the copy is begun again if the store has a newer snapshot, so that it does not only grow. */
const BEGUN_AGAIN_AFTER = 10_000;
/** Records that are copied together. */
const COPIED_AT_ONCE = 1_000;

/** Of which ledger a copy is, and where it stands. */
interface CopyIdentity {
  readonly form: 1;
  /** The URL of the store. */
  readonly store: string;
  readonly epoch: string;
  /** The directory of the ledger beside this file. */
  readonly ledger: string;
}

/** Where the content of records comes from: the store, or what passed by of it. */
export interface CopiedFrom {
  readonly store: LedgerStore;
  body(digest: string): Promise<Uint8Array | undefined>;
}

/**
 * A copy of a store's ledger in a directory. It is begun again in another place and takes the old one's place when it is
 * whole, so there is one at any moment.
 */
export class StoreCopy {
  readonly #directory: string;
  readonly #url: string;
  readonly #onProblem: (message: string) => void;
  #identity: CopyIdentity | undefined;
  #ledger: LedgerStore | undefined;
  /** Since it was begun, or since the store's snapshot was looked at. */
  #copied = 0;

  constructor(directory: string, url: string, onProblem: (message: string) => void) {
    this.#directory = directory;
    this.#url = url;
    this.#onProblem = onProblem;
  }

  /** The copy as a store; undefined: there is none. */
  get ledger(): LedgerStore | undefined {
    return this.#ledger;
  }

  /** The epoch of the store that it is a copy of. */
  get epoch(): string | undefined {
    return this.#identity?.epoch;
  }

  get head(): LedgerHead | undefined {
    return this.#ledger?.head;
  }

  /** Opens what there is of this store. Rejects, with the reason, if it cannot be used. */
  async open(): Promise<void> {
    const identity = await readIdentity(join(this.#directory, IDENTITY));
    if (identity === undefined) return;
    if (identity.store !== this.#url) throw new Error(`${this.#directory} has a copy of ${identity.store}`);
    const directory = join(this.#directory, identity.ledger);
    this.#ledger = await openDirectoryLedger({ directory, onProblem: this.#onProblem });
    this.#identity = identity;
  }

  /** Copies what the store has up to a record. What does not continue the copy begins it again. */
  async copyUpTo(head: LedgerHead, from: CopiedFrom): Promise<void> {
    const isOfStore = this.#identity?.epoch === from.store.epoch;
    if (this.#ledger === undefined || !isOfStore || !(await this.#continue(this.#ledger, head, from)))
      await this.#begin(head, from);
  }

  async close(): Promise<void> {
    await this.#ledger?.close();
  }

  /** False: the copy has to be begun again. */
  async #continue(ledger: LedgerStore, head: LedgerHead, from: CopiedFrom): Promise<boolean> {
    if (isSameHead(ledger.head, head)) return true;
    if (head.number <= ledger.head.number || (await this.#isLong(ledger, from))) return false;
    const group: StoredRecord[] = [];
    let last = ledger.head;
    for await (const record of from.store.read(last.number)) {
      if (record.number > head.number) break;
      if (record.number !== last.number + 1 || recordAfter(last, record.text).id !== record.id) return false;
      last = headOf(record);
      group.push(record);
      if (group.length === COPIED_AT_ONCE) await this.#append(ledger, group.splice(0), from);
    }
    await this.#append(ledger, group, from);
    return isSameHead(ledger.head, head);
  }

  async #append(ledger: LedgerStore, records: readonly StoredRecord[], from: CopiedFrom): Promise<void> {
    if (records.length === 0) return;
    const bodies = new Map<string, Uint8Array>();
    for (const stored of records) {
      const record = parseRecord(stored);
      if (!("changes" in record)) continue;
      for (const digest of bodiesOf(record.changes)) {
        if (bodies.has(digest)) continue;
        const bytes = (await ledger.body(digest)) ?? (await from.body(digest));
        if (bytes !== undefined) bodies.set(digest, bytes);
      }
    }
    const result = await ledger.append(ledger.head, { records: records.map(({ text }) => text), bodies });
    if (result.kind === "unavailable") throw new Error(result.reason);
    this.#copied += records.length;
  }

  async #isLong(ledger: LedgerStore, { store }: CopiedFrom): Promise<boolean> {
    if (this.#copied < BEGUN_AGAIN_AFTER) return false;
    this.#copied = 0;
    const [theirs, ours] = [await store.snapshot(), await ledger.snapshot()];
    return (theirs?.head.number ?? 0) > (ours?.head.number ?? 0);
  }

  async #begin(head: LedgerHead, { store, body }: CopiedFrom): Promise<void> {
    const before = this.#ledger;
    const identity: CopyIdentity = {
      ...{ form: 1, store: this.#url, epoch: store.epoch },
      ledger: `ledger-${randomBytes(6).toString("hex")}`,
    };
    makeDirectory(this.#directory, 0o700);
    const directory = join(this.#directory, identity.ledger);
    const ledger = await openDirectoryLedger({ directory, onProblem: this.#onProblem });
    try {
      const known = async (digest: string): Promise<Uint8Array | undefined> =>
        (await before?.body(digest)) ?? (await body(digest));
      const begun = await ledger.begin(await wholeOf(store, { head, body: known }));
      if (begun.kind !== "appended") throw new Error("reason" in begun ? begun.reason : begun.kind);
      await replaceTextFile(this.#directory, IDENTITY, `${JSON.stringify(identity)}\n`);
    } catch (cause) {
      await ledger.close();
      await removeDirectory(directory);
      throw cause;
    }
    this.#identity = identity;
    this.#ledger = ledger;
    this.#copied = 0;
    await before?.close();
    await removeOthers(this.#directory, "ledger-", identity.ledger);
  }
}

async function readIdentity(path: string): Promise<CopyIdentity | undefined> {
  const text = await readTextFile(path);
  if (text === undefined) return undefined;
  try {
    const { form, store, epoch, ledger } = JSON.parse(text) as CopyIdentity;
    if (form === 1 && typeof store === "string" && typeof epoch === "string" && /^ledger-[0-9a-f]+$/.test(ledger))
      return { form, store, epoch, ledger };
  } catch {
    // As any other content that is none.
  }
  throw new Error(`${path} is damaged, or of a newer version`);
}
