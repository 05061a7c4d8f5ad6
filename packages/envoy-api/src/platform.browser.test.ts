import fc from "fast-check";
import { expect, test } from "vitest";
import * as inBrowser from "./platform.browser.ts";
import * as onNode from "./platform.ts";

const anyBytes = fc.uint8Array({ maxLength: 100 });

test("base64 is the same both ways, URL-safe or without padding too", () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const text = onNode.encodeBase64(bytes);
      expect(inBrowser.encodeBase64(bytes)).toBe(text);
      const urlSafe = text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
      for (const form of [text, urlSafe]) expect(inBrowser.decodeBase64Digits(form)).toEqual(bytes);
    }),
  );
});

test("base64 of more than a browser takes at once", () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
  expect(inBrowser.encodeBase64(bytes)).toBe(onNode.encodeBase64(bytes));
});

test("ASCII in bytes is itself", () => {
  const bytes = Uint8Array.from({ length: 128 }, (_, byte) => byte);
  expect(inBrowser.asciiText(bytes)).toBe(onNode.asciiText(bytes));
});

test("a text has the same length in UTF-8", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 20 }),
      (text) => inBrowser.utf8Length(text) === onNode.utf8Length(text),
    ),
  );
});

test("UTF-8 is told from other bytes", () => {
  const bytes = fc.oneof(
    fc.uint8Array(),
    fc.string({ unit: "binary", maxLength: 20 }).map((text) => new TextEncoder().encode(text)),
  );
  fc.assert(fc.property(bytes, (one) => inBrowser.isUtf8(one) === onNode.isUtf8(one)));
});

test("no descriptors can be read", () => {
  expect([inBrowser.hasDescriptors, inBrowser.readDescriptors("v3")]).toEqual([false, new Uint8Array()]);
});
