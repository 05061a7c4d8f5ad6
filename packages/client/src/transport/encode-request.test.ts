import { noInitialVersions } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { CLUSTER, nodeBytes, request } from "../../test/support/sources.ts";
import { encodeRequest } from "./encode-request.ts";

test.each(["sotw", "delta"])("the text of a NACK is cut to what its server can take, %s", (variant) => {
  const bytesOf = (message: string): number => {
    const nack = { type: CLUSTER, node: undefined, nonce: "n", error: { code: 3, message } };
    const delta = {
      ...nack,
      kind: "delta",
      subscribe: [],
      unsubscribe: [],
      initialVersions: noInitialVersions,
    } as const;
    return encodeRequest(variant === "sotw" ? request(CLUSTER, nack) : delta, () => nodeBytes).length;
  };
  const longest = bytesOf("x".repeat(100_000));
  expect(longest).toBeGreaterThan(100_000);
  expect(bytesOf("x".repeat(10_000_000))).toBe(longest + Buffer.byteLength("…"));
});
