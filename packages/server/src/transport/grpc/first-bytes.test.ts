import { expect, test } from "vitest";
import { recogniseProtocol } from "./first-bytes.ts";

test.each([
  ["", undefined],
  ["P", undefined],
  ["PRI", undefined],
  ["PRI * HTTP/2.0\r\n", "http2"],
  ["POST", undefined],
  ["POST /v3/discovery:clusters HTTP/1.1", "http1"],
  ["GET / HTTP/1.1", "http1"],
  ["M-SEARCH * HTTP/1.1", "http1"],
  ["get /", "unknown"],
  ["\x16\x03\x01", "unknown"],
  ["AAAAAAAAAAAAAAAAAAAAAAAAA", "unknown"],
  [" ", "unknown"],
])("%j is %s", (text, protocol) => {
  expect(recogniseProtocol(Buffer.from(text, "latin1"))).toBe(protocol);
});
