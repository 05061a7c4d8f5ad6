import { describe, expect, test } from "vitest";
import { encodeMessage, formatTrailers, parseHeaders, parseTimeout } from "./metadata.ts";

test.each([
  ["1H", 3_600_000],
  ["2M", 120_000],
  ["10S", 10_000],
  ["99999999m", 99_999_999],
  ["500u", 0.5],
  ["1n", 1e-6],
  ["0S", 0],
  ["123456789S", undefined],
  ["S", undefined],
  ["-1S", undefined],
  ["1s", undefined],
  ["", undefined],
])("the timeout %s is %d ms", (text, ms) => {
  expect(parseTimeout(text)).toBe(ms);
});

test.each([
  ["plain text", "plain text"],
  ["100% ü\n", "100%25 %C3%BC%0A"],
  ["✋", "%E2%9C%8B"],
])("the message %s is written as %s", (message, encoded) => {
  expect(encodeMessage(message)).toBe(encoded);
});

test("trailers of a status: a long message is cut", () => {
  expect(formatTrailers({ code: 0, message: "" })).toEqual({ "grpc-status": "0" });
  expect(formatTrailers({ code: 3, message: "x".repeat(5_000) })).toEqual({
    "grpc-status": "3",
    "grpc-message": "x".repeat(2_000),
  });
});

describe("headers", () => {
  const headers = { ":method": "POST", ":path": "/a.B/C", "content-type": "application/grpc" };
  test.each(["application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"])(
    "with %s are a call",
    (type) => {
      expect(parseHeaders({ ...headers, "content-type": type })).toEqual({
        path: "/a.B/C",
        compression: "identity",
        timeoutMs: undefined,
      });
    },
  );

  test.each([
    [{ "content-type": "application/grpc-web" }, { headers: { ":status": 415 } }],
    [{ "content-type": undefined }, { headers: { ":status": 415 } }],
    [{ ":method": "GET" }, { headers: { ":status": 405 } }],
    [{ "grpc-encoding": "br" }, { code: 12 }],
    [{ "grpc-timeout": "soon" }, { code: 13 }],
  ])("with %o are refused", (changed, refusal) => {
    expect(parseHeaders({ ...headers, ...changed })).toMatchObject(refusal);
  });
});
