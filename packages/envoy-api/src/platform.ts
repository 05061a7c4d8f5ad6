/**
 * Platform functions outside the language. Bundlers for browsers replace this file by `platform.browser.ts` (`browser`
 * in package.json), so only this file and the digest import from Node, and the decoders do not depend on `Buffer`.
 */
import { isUtf8 as isUtf8OnNode } from "node:buffer";
import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";

/** Whether the descriptors in the package can be read. */
export const hasFiles: boolean = true;

/**
 * Reads and unpacks a descriptor set of `gen/`.
 *
 * @throws any error of reading or unpacking
 */
export function readGenerated(name: string): Uint8Array {
  // The same place from src and from dist.
  return brotliDecompressSync(readFileSync(new URL(`../gen/${name}`, import.meta.url)));
}

/** Encodes standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Decodes base64 that was checked before: standard or URL-safe, with or without padding. */
export function decodeBase64Digits(text: string): Uint8Array {
  // A copy, because small Buffers share one pool, which a kept resource would hold in memory.
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** Returns a text in which each ASCII byte is its character; the others are unspecified. */
export function asciiText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** Returns the length of a text in UTF-8 bytes. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** Whether bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  return isUtf8OnNode(bytes);
}
