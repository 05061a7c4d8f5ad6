import { contentDigest } from "@xdskit/envoy-api";
import { createResource, type Resource } from "@xdskit/protocol";
import type { ServerEffect } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { SendQueue } from "./send-queue.ts";

type Send = Extract<ServerEffect, { readonly kind: "send" }>;

const type = "type.googleapis.com/acme.Thing";
const thing: Resource = createResource({ type, name: "a", bytes: new Uint8Array() }, contentDigest);

function response(stream: number, nonce: string, resources: number): Send {
  const puts = Array.from({ length: resources }, () => thing);
  const body = { variant: "delta", type, version: "1", segments: [{ puts, removed: [], missing: [] }] } as const;
  return { kind: "send", stream, nonce, body };
}

/** `runs`: in how many a response is encoded before it is sent. */
function queue(runs = 0): { readonly sends: SendQueue; readonly sent: string[] } {
  const sent: string[] = [];
  const encoded = new Map<string, number>();
  const encodeSome = ({ stream, nonce }: Send): boolean => {
    const done = encoded.get(`${stream} ${nonce}`) ?? 0;
    encoded.set(`${stream} ${nonce}`, done + 1);
    return done < runs;
  };
  return { sent, sends: new SendQueue(({ stream, nonce }) => void sent.push(`${stream}: ${nonce}`), encodeSome) };
}

test("each large response is sent by itself, and streams take turns", () => {
  const { sends, sent } = queue();
  for (const nonce of ["1", "2", "3"]) sends.add(response(1, nonce, 2_000));
  sends.add(response(2, "1", 2_000));
  expect([sent, sends.isEmpty]).toEqual([[], false]);
  sends.next();
  expect(sent).toEqual(["1: 1"]);
  sends.next();
  sends.next();
  sends.next();
  expect([sent, sends.isEmpty]).toEqual([["1: 1", "2: 1", "1: 2", "1: 3"], true]);
});

test("a large response is encoded some at a time before it is sent, and streams take turns in that too", () => {
  const { sends, sent } = queue(2);
  for (const nonce of ["1", "2"]) sends.add(response(1, nonce, 2_000));
  sends.add(response(2, "1", 2_000));
  const after: string[] = [];
  while (!sends.isEmpty) {
    sends.next();
    after.push(sent.join(", "));
  }
  const [first, both, all] = ["1: 1", "1: 1, 2: 1", "1: 1, 2: 1, 1: 2"];
  expect(after).toEqual(["", "", "", "", first, both, both, both, all]);
});

test("a small response is sent at once, but not before a large one of its stream", () => {
  const { sends, sent } = queue();
  sends.add(response(1, "1", 2_000));
  sends.add(response(1, "2", 1));
  sends.add(response(2, "1", 1_000));
  expect(sent).toEqual(["2: 1"]);
  sends.next();
  sends.next();
  expect(sent).toEqual(["2: 1", "1: 1", "1: 2"]);
});

test("a stream that ends is sent the rest at once; one that is gone is sent nothing", () => {
  const { sends, sent } = queue();
  for (const stream of [1, 2]) for (const nonce of ["1", "2"]) sends.add(response(stream, nonce, 2_000));
  sends.flush(1);
  sends.forget(2);
  expect([sent, sends.isEmpty]).toEqual([["1: 1", "1: 2"], true]);
});
