/**
 * Platform functions outside the language. Bundlers for browsers replace this file by `platform.browser.ts` (`browser`
 * in package.json), so only this file and the digest import from Node, and the decoders do not depend on `Buffer`.
 */
import { isUtf8 as isUtf8OnNode } from "node:buffer";
import { brotliDecompressSync } from "node:zlib";
import type { ApiVersion } from "@xdskit/protocol";
import { packedDescriptors } from "../gen/descriptors.js";

/** Whether descriptors come with the package. */
export const hasDescriptors: boolean = true;

/** Unpacks the descriptor set of one API version that comes with the package. */
export function readDescriptors(version: ApiVersion): Uint8Array {
  return brotliDecompressSync(Buffer.from(packedDescriptors[version], "base64"));
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
