/**
 * What this package needs and the language does not have. Bundlers for browsers put `platform.browser.ts` in its place (`browser` in
 * package.json), so nothing but this and the digest imports anything of Node, and what decodes resources knows no `Buffer` either.
 */
import { isUtf8 as isUtf8OnNode } from "node:buffer";
import { brotliDecompressSync } from "node:zlib";
import type { ApiVersion } from "@xdskit/protocol";
import { packedDescriptors } from "../gen/descriptors.js";

/** Whether descriptors come with the package. */
export const hasDescriptors: boolean = true;

/** The descriptor set of one version of the API that comes with the package, unpacked. */
export function readDescriptors(version: ApiVersion): Uint8Array {
  return brotliDecompressSync(Buffer.from(packedDescriptors[version], "base64"));
}

/** Standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Reads base64 that was checked before: standard or URL-safe, with or without padding. */
export function decodeBase64Digits(text: string): Uint8Array {
  // A copy: small Buffers share one pool, which a kept resource would hold on to.
  return new Uint8Array(Buffer.from(text, "base64"));
}

/** A text in which each byte of ASCII is its character; what the others become is left open. */
export function asciiText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** How many bytes a text takes in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** Whether bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  return isUtf8OnNode(bytes);
}
