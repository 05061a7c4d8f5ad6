/** Replaces `platform.ts` in a browser. */
import type * as platform from "./platform.ts";

/** The caller of `createEnvoyApi` passes the descriptors. */
export const hasDescriptors: typeof platform.hasDescriptors = false;

/** Returns an empty descriptor set. */
export const readDescriptors: typeof platform.readDescriptors = () => new Uint8Array();

const CHUNK_BYTES = 32 * 1024; // as many arguments as every engine takes

export const encodeBase64: typeof platform.encodeBase64 = (bytes) => {
  let text = "";
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK_BYTES));
  }
  return btoa(text);
};

export const decodeBase64Digits: typeof platform.decodeBase64Digits = (text) => {
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(standard), (character) => character.charCodeAt(0));
};

const latin1 = new TextDecoder("latin1");

export const asciiText: typeof platform.asciiText = (bytes) => latin1.decode(bytes);

const utf8 = new TextEncoder();

export const utf8Length: typeof platform.utf8Length = (text) => utf8.encode(text).length;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

export const isUtf8: typeof platform.isUtf8 = (bytes) => {
  try {
    strictUtf8.decode(bytes);
    return true;
  } catch {
    return false; // it says so in no other way
  }
};
