import { createBodyEncoder } from "@xdskit/envoy-api/internal";
import { formatTypeUrl } from "@xdskit/protocol";
import type { Body } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { MessageMaker } from "./message.ts";

const prefix = (byteLength: number): Uint8Array => Uint8Array.of(0, byteLength % 256);

/** A body of about so many bytes. */
function bodyOf(bytes: number): Body {
  const removed = Array.from({ length: bytes / 100 }, (_, i) => String(i).padStart(98, "x"));
  const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
  return { variant: "delta", type, version: "", segments: [{ puts: [], removed, missing: [] }] };
}

test.each([
  { bytes: 1_000, first: 1, again: 1, isShared: true },
  { bytes: 30_000, first: 3, again: 1, isShared: true },
  { bytes: 100_000, first: 5, again: 5, isShared: false },
])("a message of $bytes bytes is in $first pieces, and in $again for the streams after it", (row) => {
  const maker = new MessageMaker(createBodyEncoder({ controlPlane: "" }));
  const body = bodyOf(row.bytes);
  const [first, second, third] = [1, 2, 3].map(() => maker.make(body, "1", "v3", prefix));
  expect([first, second, third].map((one) => one?.pieces.length)).toEqual([row.first, row.again, row.again]);
  expect(third === second).toBe(row.isShared);
  expect(Buffer.concat(second?.pieces ?? [])).toEqual(Buffer.concat(first?.pieces ?? []));
});

test("a stream with another nonce gets a message of its own", () => {
  const maker = new MessageMaker(createBodyEncoder({ controlPlane: "" }));
  const body = bodyOf(30_000);
  const messages = ["1", "1", "2", "1"].map((nonce) => maker.make(body, nonce, "v3", prefix));
  expect(messages.map(({ pieces }) => pieces.length)).toEqual([3, 1, 3, 3]);
});
