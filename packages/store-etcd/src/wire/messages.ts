import { ProtoWriter, readFields } from "./proto.ts";

/** The paths of the methods that the store calls. */
export const methods = {
  range: "/etcdserverpb.KV/Range",
  txn: "/etcdserverpb.KV/Txn",
  watch: "/etcdserverpb.Watch/Watch",
  leaseGrant: "/etcdserverpb.Lease/LeaseGrant",
  leaseRevoke: "/etcdserverpb.Lease/LeaseRevoke",
  leaseKeepAlive: "/etcdserverpb.Lease/LeaseKeepAlive",
  authenticate: "/etcdserverpb.Auth/Authenticate",
} as const;

export interface RangeRequest {
  readonly key: string;
  /** Keys before this one too; undefined: only `key`. */
  readonly end?: string;
  readonly limit?: number;
  /** Reads what was at this revision; undefined: now. */
  readonly revision?: bigint;
  readonly isDescending?: boolean;
  readonly keysOnly?: boolean;
}

export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
}

/** A condition of a transaction on one key. */
export type Compare =
  /** 0: there is no such key. */
  | { readonly key: string; readonly createRevision: bigint }
  | { readonly key: string; readonly modRevision: bigint }
  | { readonly key: string; readonly value: Buffer }
  | { readonly key: string; readonly exists: true };

export type Operation =
  | { readonly range: RangeRequest }
  | { readonly put: string; readonly value: Buffer; readonly lease?: bigint }
  /** Writes the value that the key has already, so that its revision is new. */
  | { readonly touch: string }
  | { readonly delete: string; readonly end?: string };

export interface Transaction {
  readonly compare?: readonly Compare[];
  readonly success: readonly Operation[];
  readonly failure?: readonly Operation[];
}

export interface ResponseHeader {
  readonly revision: bigint;
}

export interface RangeResponse {
  readonly header: ResponseHeader;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
}

export interface TransactionResponse {
  readonly header: ResponseHeader;
  readonly succeeded: boolean;
  /** What each range of the branch that was taken found, in order; of other operations an empty list. */
  readonly found: readonly (readonly KeyValue[])[];
}

export interface WatchResponse {
  readonly header: ResponseHeader;
  readonly canceled: string | undefined;
  /** The keys that were put, with their values, in order. */
  readonly puts: readonly KeyValue[];
}

const EQUAL = 0;
const GREATER = 1;
const CREATE = 1;
const MOD = 2;
const VALUE = 3;

function range({ key, end, limit, revision, isDescending, keysOnly }: RangeRequest): ProtoWriter {
  const writer = new ProtoWriter().bytes(1, key).bytes(2, end ?? "");
  writer.int(3, limit ?? 0).int(4, revision ?? 0n);
  // Descending by key; ascending is the order without asking.
  if (isDescending === true) writer.int(5, 2);
  return writer.int(8, keysOnly ?? false);
}

function compare(one: Compare): ProtoWriter {
  const writer = new ProtoWriter().int(1, "exists" in one ? GREATER : EQUAL);
  if ("modRevision" in one) return writer.int(2, MOD).bytes(3, one.key).int(6, one.modRevision);
  if ("value" in one) return writer.int(2, VALUE).bytes(3, one.key).bytes(7, one.value);
  writer.int(2, CREATE).bytes(3, one.key);
  return "createRevision" in one ? writer.int(5, one.createRevision) : writer;
}

function operation(one: Operation): ProtoWriter {
  const writer = new ProtoWriter();
  if ("range" in one) return writer.message(1, range(one.range));
  if ("delete" in one) return writer.message(3, new ProtoWriter().bytes(1, one.delete).bytes(2, one.end ?? ""));
  if ("touch" in one) return writer.message(2, new ProtoWriter().bytes(1, one.touch).int(5, true));
  const put = new ProtoWriter().bytes(1, one.put).bytes(2, one.value);
  return writer.message(2, put.int(3, one.lease ?? 0n));
}

export function encodeRange(request: RangeRequest): Buffer {
  return range(request).finish();
}

export function encodeTransaction({ compare: conditions = [], success, failure = [] }: Transaction): Buffer {
  const writer = new ProtoWriter();
  for (const one of conditions) writer.message(1, compare(one));
  for (const one of success) writer.message(2, operation(one));
  for (const one of failure) writer.message(3, operation(one));
  return writer.finish();
}

/** A watch of one key from a revision on. */
export function encodeWatch(key: string, startRevision: bigint): Buffer {
  // Without deletions.
  const create = new ProtoWriter().bytes(1, key).int(3, startRevision).int(5, 1);
  return new ProtoWriter().message(1, create).finish();
}

export function encodeLeaseGrant(ttlSeconds: number): Buffer {
  return new ProtoWriter().int(1, ttlSeconds).finish();
}

/** A request that names a lease: to renew or to revoke it. */
export function encodeLeaseId(id: bigint): Buffer {
  return new ProtoWriter().int(1, id).finish();
}

export function encodeAuthenticate(user: string, password: string): Buffer {
  return new ProtoWriter().bytes(1, user).bytes(2, password).finish();
}

function decodeHeader(message: Buffer): ResponseHeader {
  for (const { field, int } of readFields(message)) if (field === 3) return { revision: int };
  return { revision: 0n };
}

const NO_HEADER: ResponseHeader = { revision: 0n };

function decodeKeyValue(message: Buffer): KeyValue {
  let [key, value, createRevision, modRevision] = ["", Buffer.alloc(0), 0n, 0n];
  for (const { field, int, bytes } of readFields(message)) {
    if (field === 1) key = bytes.toString("utf8");
    if (field === 2) createRevision = int;
    if (field === 3) modRevision = int;
    if (field === 5) value = bytes as Buffer<ArrayBuffer>;
  }
  return { key, value, createRevision, modRevision };
}

export function decodeRange(message: Buffer): RangeResponse {
  const kvs: KeyValue[] = [];
  let header = NO_HEADER;
  let more = false;
  for (const { field, int, bytes } of readFields(message)) {
    if (field === 1) header = decodeHeader(bytes);
    if (field === 2) kvs.push(decodeKeyValue(bytes));
    if (field === 3) more = int !== 0n;
  }
  return { header, kvs, more };
}

export function decodeTransaction(message: Buffer): TransactionResponse {
  const found: (readonly KeyValue[])[] = [];
  let header = NO_HEADER;
  let succeeded = false;
  for (const { field, int, bytes } of readFields(message)) {
    if (field === 1) header = decodeHeader(bytes);
    if (field === 2) succeeded = int !== 0n;
    if (field === 3) for (const one of readFields(bytes)) found.push(one.field === 1 ? decodeRange(one.bytes).kvs : []);
  }
  return { header, succeeded, found };
}

export function decodeWatch(message: Buffer): WatchResponse {
  const puts: KeyValue[] = [];
  let header = NO_HEADER;
  let isCanceled = false;
  let reason = "";
  for (const { field, int, bytes } of readFields(message)) {
    if (field === 1) header = decodeHeader(bytes);
    if (field === 4) isCanceled = int !== 0n;
    if (field === 6) reason = bytes.toString("utf8");
    if (field === 11) for (const one of readFields(bytes)) if (one.field === 2) puts.push(decodeKeyValue(one.bytes));
  }
  return { header, canceled: isCanceled ? reason || "the watch was cancelled" : undefined, puts };
}

/** The id and the seconds to live that a lease was given; 0 seconds: there is no such lease any more. */
export function decodeLease(message: Buffer): { readonly id: bigint; readonly ttlSeconds: number } {
  let id = 0n;
  let ttlSeconds = 0;
  for (const { field, int } of readFields(message)) {
    if (field === 2) id = int;
    if (field === 3) ttlSeconds = Number(int);
  }
  return { id, ttlSeconds };
}

export function decodeToken(message: Buffer): string {
  for (const { field, bytes } of readFields(message)) if (field === 2) return bytes.toString("utf8");
  return "";
}
