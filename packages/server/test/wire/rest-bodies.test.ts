import { formatTypeUrl } from "@xdskit/protocol";
import type { Body } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { heldOf } from "../../../protocol/test/support/garbage.ts";
import { RestBodies, type RestBody } from "../../src/transport/rest/rest-bodies.ts";

const type = formatTypeUrl("acme.Thing");
const bodyOf = (version: string): Body => ({ variant: "sotw", type, version, segments: [] });

/** Bodies of so many bytes each, and the versions of the responses that were encoded. */
function bodiesOf(bytes: number): {
  readonly encoded: readonly string[];
  readonly give: (body: Body, acceptEncoding?: string) => Promise<RestBody>;
} {
  const encoded: string[] = [];
  const bodies = new RestBodies({
    encode: async ({ version }) => {
      encoded.push(version);
      return Buffer.alloc(bytes);
    },
  });
  return {
    encoded,
    give: (body, acceptEncoding) =>
      new Promise((take, fail) => {
        bodies.give(body, acceptEncoding, { take, fail });
      }),
  };
}

describe("the body of a response", () => {
  test("is made once in each coding, for those who wait for it and those who come later", async () => {
    const { encoded, give } = bodiesOf(100);
    const body = bodyOf("a");
    const [one, other] = await Promise.all([give(body), give(body)]);
    expect([other === one, (await give(body)) === one, encoded]).toEqual([true, true, ["a"]]);
    const gzipped = await give(body, "gzip");
    expect([(await give(body, "gzip, deflate")) === gzipped, encoded]).toEqual([true, ["a", "a"]]);
    expect([one, gzipped].map(({ headers }) => headers["content-encoding"])).toEqual([undefined, "gzip"]);
  });

  test("is kept while it is among the newest 8 MiB, whoever remembers the response", async () => {
    const { encoded, give } = bodiesOf(1024 * 1024);
    const responses = Array.from({ length: 20 }, (_, i) => bodyOf(String(i)));
    const made: WeakRef<RestBody>[] = [];
    for (const response of responses) made.push(new WeakRef(await give(response)));
    expect(await heldOf(made)).toBe(9);
    for (const response of responses.slice(-9)) await give(response);
    expect(encoded).toHaveLength(20);
    for (const response of responses.slice(0, 1)) await give(response);
    expect(encoded).toHaveLength(21);
  });

  test("is freed with the response", async () => {
    const { give } = bodiesOf(1);
    const made = new WeakRef(await give(bodyOf("a")));
    expect(await heldOf([made])).toBe(0);
  });

  test("of more than that is kept as long as it is the newest", async () => {
    const { encoded, give } = bodiesOf(9 * 1024 * 1024);
    const [large, other] = [bodyOf("large"), bodyOf("other")];
    for (const response of [large, large, other, other, large]) await give(response);
    expect(encoded).toEqual(["large", "other", "large"]);
  });
});
