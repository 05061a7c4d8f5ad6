import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import type { Body } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { contentDigest } from "../digest.ts";
import { createJsonBodyEncoder } from "./json-body-encoder.ts";

const THING = formatTypeUrl("acme.Thing");

function thing(name: string, bytes: Uint8Array = Buffer.from(name)): Resource {
  return createResource({ type: THING, name, bytes }, contentDigest);
}

function body(puts: readonly Resource[], version = "v1"): Body {
  return { variant: "sotw", type: THING, version, segments: [{ puts, removed: [], missing: [] }] };
}

function encoderThatCounts() {
  const printed: string[] = [];
  let pauses = 0;
  const encoder = createJsonBodyEncoder({
    print: (type, bytes) => {
      printed.push(Buffer.from(bytes).toString().slice(0, 5));
      return { "@type": type, value: Buffer.from(bytes).toString("base64") };
    },
    controlPlane: "cp",
    pause: async () => {
      pauses++;
    },
  });
  return {
    printed,
    get pauses() {
      return pauses;
    },
    encode: async (made: Body) => JSON.parse(Buffer.from(await encoder.encode(made)).toString()),
  };
}

test("a body is a whole DiscoveryResponse, whose nonce is its version", async () => {
  const { encode } = encoderThatCounts();
  expect(await encode(body([thing("a"), thing("b")]))).toEqual({
    versionInfo: "v1",
    resources: [
      { "@type": THING, value: "YQ==" },
      { "@type": THING, value: "Yg==" },
    ],
    typeUrl: THING,
    nonce: "v1",
    controlPlane: { identifier: "cp" },
  });
  expect(await encode(body([]))).toMatchObject({ resources: [] });
});

test("a resource is printed once, whichever bodies contain it", async () => {
  const { encode, printed } = encoderThatCounts();
  const [a, b, c] = [thing("a"), thing("b"), thing("c")];
  await encode(body([a, b]));
  await encode(body([a, c], "v2"));
  expect(printed).toEqual(["a", "b", "c"]);
});

test("others have their turn while much is printed", async () => {
  const counting = encoderThatCounts();
  await counting.encode(body(Array.from({ length: 10 }, (_, i) => thing(`n${i}`, Buffer.alloc(40_000, 0x61 + i)))));
  expect(counting.pauses).toBe(5);
});

test("a resource that cannot be printed fails the body", async () => {
  const encoder = createJsonBodyEncoder({
    print: () => {
      throw new Error("cannot");
    },
    controlPlane: "",
    pause: async () => undefined,
  });
  await expect(encoder.encode(body([thing("a")]))).rejects.toThrow("cannot");
});
