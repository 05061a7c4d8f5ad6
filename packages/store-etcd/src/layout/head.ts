import { type LedgerHead, NO_RECORDS } from "@xdskit/server/ledger-store";
import type { KeyValue } from "../wire/messages.ts";
import { unreadable } from "./unreadable.ts";

/** Which snapshot is in force, as its key has it. */
export interface SnapshotPointer {
  readonly head: LedgerHead;
  readonly completeAfter: number;
  readonly blob: string;
  readonly parts: number;
}

export function encodeHead({ number, id }: LedgerHead): Buffer {
  return Buffer.from(`${number} ${id}`);
}

/** Throws if the value is none of `encodeHead`; without a key there is no record. */
export function decodeHead(kv: KeyValue | undefined): LedgerHead {
  if (kv === undefined) return NO_RECORDS;
  const [, number, id] = /^([1-9]\d{0,15}) (\S+)$/.exec(kv.value.toString("utf8")) ?? [];
  const head = { number: Number(number), id };
  if (!isHead(head)) throw unreadable(kv.key, "expected the number and the id of a record");
  return head;
}

export function encodePointer(pointer: SnapshotPointer): Buffer {
  return Buffer.from(JSON.stringify(pointer));
}

/** Throws if the value is none of `encodePointer`; undefined without a key. */
export function decodePointer(kv: KeyValue | undefined): SnapshotPointer | undefined {
  if (kv === undefined) return undefined;
  const pointer = parse(kv.value.toString("utf8"));
  if (!isPointer(pointer)) throw unreadable(kv.key, "expected where a snapshot is, as JSON");
  return pointer;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isPointer(value: unknown): value is SnapshotPointer {
  if (typeof value !== "object" || value === null) return false;
  const { head, completeAfter, blob, parts } = value as Partial<Record<keyof SnapshotPointer, unknown>>;
  return isHead(head) && isCount(completeAfter) && typeof blob === "string" && blob !== "" && isCount(parts);
}

function isHead(value: unknown): value is LedgerHead {
  if (typeof value !== "object" || value === null) return false;
  const { number, id } = value as Partial<Record<keyof LedgerHead, unknown>>;
  return isCount(number) && typeof id === "string";
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
