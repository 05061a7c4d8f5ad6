import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { unreadable } from "./unreadable.ts";

const PLAIN = 0;
const ENCRYPTED = 1;
/** First bytes below it are kept for kinds of later versions; text does not begin with them. */
const FIRST_OF_TEXT = 0x20;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** What is done to values before etcd gets them, and undone when they come back. */
export interface Seal {
  /** `where` is bound to the value: it cannot be opened as another one. */
  close(value: Uint8Array, where: string): Buffer;
  /** Throws if the value was not closed with this key, or not here; `where` is its key in etcd. */
  open(value: Buffer, where: string): Buffer;
}

/**
 * The seal of a key: AES-256-GCM. Without one, values are as they are.
 * The key is 32 bytes, as they are or as 64 hexadecimal digits; throws a TypeError for anything else.
 */
export function sealOf(content: Buffer | undefined): Seal {
  const key = content === undefined ? undefined : readKey(content);
  return {
    close: (value, where) =>
      key === undefined ? Buffer.concat([Buffer.of(PLAIN), value]) : encrypt(value, where, key),
    open: (value, where) => {
      if (value[0] === PLAIN && key === undefined) return value.subarray(1);
      if (value[0] === PLAIN) throw new Error("the ledger in etcd is not encrypted, but there is a key file");
      if (value[0] !== ENCRYPTED) throw unreadable(where, whyNoKind(value[0]));
      if (key === undefined) throw new Error("the ledger in etcd is encrypted: a key file is needed");
      return decrypt(value, where, key);
    },
  };
}

function whyNoKind(first: number | undefined): string {
  if (first !== undefined && first < FIRST_OF_TEXT) return "it is of a newer version";
  return `expected a value that begins with the byte ${PLAIN} or ${ENCRYPTED}, got ${first ?? "none"}`;
}

function readKey(content: Buffer): Buffer {
  if (content.length === KEY_BYTES) return content;
  const text = content.toString("latin1").trim();
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new TypeError("expected a key of 32 bytes, or of 64 hexadecimal digits");
  return Buffer.from(text, "hex");
}

function encrypt(value: Uint8Array, where: string, key: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(bound(where));
  const text = Buffer.concat([cipher.update(value), cipher.final()]);
  return Buffer.concat([Buffer.of(ENCRYPTED), nonce, cipher.getAuthTag(), text]);
}

function decrypt(value: Buffer, where: string, key: Buffer): Buffer {
  const tagAt = 1 + NONCE_BYTES;
  const textAt = tagAt + TAG_BYTES;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, value.subarray(1, tagAt), { authTagLength: TAG_BYTES });
    decipher.setAAD(bound(where)).setAuthTag(value.subarray(tagAt, textAt));
    return Buffer.concat([decipher.update(value.subarray(textAt)), decipher.final()]);
  } catch (cause) {
    throw new Error("the ledger in etcd is encrypted with another key, or damaged", { cause });
  }
}

function bound(where: string): Buffer {
  return createHash("sha256").update(where).digest();
}
