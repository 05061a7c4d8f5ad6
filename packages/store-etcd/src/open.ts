import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { LedgerStore } from "@xdskit/server";
import { EndpointFaultError, EtcdClient } from "./client/etcd-client.ts";
import { type EtcdTls, type EtcdTlsOptions, readTlsFiles } from "./client/tls-files.ts";
import { Keys } from "./layout/keys.ts";
import { type Seal, sealOf } from "./layout/seal.ts";
import { type EtcdLedger, EtcdLedgerStore } from "./store/etcd-store.ts";

/** Which etcd, and how it is reached. */
export interface EtcdStoreOptions {
  /**
   * `host:port` of the members, also as `http://host:port` or, for TLS, `https://host:port`; the next is asked when one
   * does not answer. At least one.
   */
  readonly endpoints: readonly string[];
  /** All keys of the ledger begin with it; ledgers with different prefixes know nothing of each other. @default "xdskit/" */
  readonly prefix?: string;
  /** @default none: not encrypted */
  readonly tls?: EtcdTlsOptions;
  /** @default none */
  readonly auth?: { readonly user: string; readonly password: string };
  /**
   * A file with 32 bytes, or 64 hexadecimal digits: records, bodies and snapshots are encrypted with that key
   * (AES-256-GCM) before etcd gets them. All servers of a ledger need the same. @default none: not encrypted
   */
  readonly keyFile?: string;
  /**
   * Writes nothing, so a user that may only read will do; a ledger that was never begun is an empty one.
   * @default false
   */
  readonly isReadOnly?: boolean;
  /** How long a request may take, with all its attempts, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number;
}

/**
 * Opens the ledger in etcd, or begins one unless it is only to be read. Throws, with the reason, if etcd does not answer, refuses the credentials, or
 * has a ledger that is encrypted with another key; and a TypeError if an option cannot be used.
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<LedgerStore> {
  const { auth, timeoutMs = 10_000 } = options;
  const prefix = options.prefix || "xdskit/";
  const { endpoints, isSecure } = readEndpoints(options.endpoints);
  if (!(timeoutMs >= 1)) throw new TypeError(`timeoutMs: expected a number of at least 1, got ${timeoutMs}`);
  const readTls = (former?: EtcdTls): EtcdTls => readTlsFiles(options.tls ?? {}, former);
  const keys = new Keys(prefix);
  const seal = readSeal(options.keyFile);
  const usesTls = isSecure || options.tls !== undefined;
  const client = new EtcdClient({ endpoints, timeoutMs, ...(usesTls && { readTls }), ...(auth && { auth }) });
  try {
    const ledger = { client, keys, seal };
    const begun = seal.close(Buffer.from(randomBytes(16).toString("hex")), keys.epoch);
    const isReadOnly = options.isReadOnly === true;
    const epoch = (isReadOnly ? await readEpoch(ledger) : await beginEpoch(ledger, begun)) ?? begun;
    const text = seal.open(epoch, keys.epoch).toString("utf8");
    const store = new EtcdLedgerStore({ ...ledger, epoch, isReadOnly }, text);
    await store.start();
    return store;
  } catch (cause) {
    client.close();
    if (cause instanceof EndpointFaultError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the ledger in etcd (${endpoints.join(", ")}) cannot be used: ${reason}`, { cause });
  }
}

/** What `openEtcdStore` needs of a ledger before it is known which one it is. */
type Unopened = Pick<EtcdLedger, "client" | "keys">;

/** The value of the key of the epoch, made now if there is none. Undefined: it is the one that was made. */
async function beginEpoch({ client, keys }: Unopened, begun: Buffer): Promise<Buffer | undefined> {
  const { found } = await client.transaction({
    compare: [{ key: keys.epoch, createRevision: 0n }],
    success: [{ put: keys.epoch, value: begun }, { range: { key: keys.epoch } }],
    failure: [{ range: { key: keys.epoch } }],
  });
  return found.at(-1)?.[0]?.value;
}

/** The value of the key of the epoch. Undefined: the ledger was never begun. */
async function readEpoch({ client, keys }: Unopened): Promise<Buffer | undefined> {
  const { kvs } = await client.range({ key: keys.epoch });
  return kvs[0]?.value;
}

function readEndpoints(given: readonly string[]): {
  readonly endpoints: readonly string[];
  readonly isSecure: boolean;
} {
  if (given.length === 0) throw new TypeError("endpoints: expected at least one host:port, got none");
  const endpoints = given.map((endpoint) => {
    const [, host] = /^(?:https?:\/\/)?([^/@]+:\d+)\/?$/.exec(endpoint) ?? [];
    // A password may be before the host.
    const shown = endpoint.replace(/.*@/s, "***@");
    if (host === undefined) throw new TypeError(`endpoints: expected host:port, got ${shown}`);
    return host;
  });
  return { endpoints, isSecure: given.some((endpoint) => endpoint.startsWith("https://")) };
}

function readSeal(file: string | undefined): Seal {
  try {
    return sealOf(readOptional(file));
  } catch (cause) {
    if (cause instanceof TypeError) throw new TypeError(`${file}: ${cause.message}`, { cause });
    throw cause;
  }
}

function readOptional(file: string | undefined): Buffer | undefined {
  return file === undefined ? undefined : readFileSync(file);
}
