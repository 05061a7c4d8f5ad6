import { describe, expect, test } from "vitest";
import { cluster } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import type { Body } from "../../message/body.ts";
import { NackHistory, resourcesIn } from "./nack-history.ts";

const error = { code: 3, message: "no" };

function bodyOf(variant: Body["variant"], ...names: readonly string[]): Body {
  const segments = names.map((name) => ({ puts: [cluster(name, "1")], removed: [], missing: [] }));
  return { variant, type: CLUSTER, version: "v", segments };
}

/** A history of these NACKs, the oldest first, with nonces from 1 on. */
function nacked(...bodies: readonly Body[]): NackHistory {
  const history = new NackHistory();
  for (const [i, body] of bodies.entries()) history.add({ nonce: String(i + 1), body, error });
  return history;
}

const noncesOf = (history: NackHistory, ...names: readonly string[]): readonly (string | undefined)[] =>
  names.map((name) => history.of(name)?.nonce);

describe("the NACK of a name", () => {
  test("is the newest of a response that had it, with its resources and error", () => {
    const body = bodyOf("delta", "a");
    const history = nacked(bodyOf("delta", "a", "b"), body);
    expect(noncesOf(history, "a", "b", "c")).toEqual(["2", "1", undefined]);
    expect(history.of("a")).toMatchObject({ nonce: "2", resources: resourcesIn(body), error });
  });

  test("lasts until the name is ACKed in another response, whatever becomes of the others", () => {
    const history = nacked(bodyOf("delta", "a", "b"), bodyOf("delta", "a", "c"));
    history.accept(bodyOf("delta", "c", "x"));
    expect(noncesOf(history, "a", "b", "c")).toEqual(["2", "1", undefined]);
    history.accept(bodyOf("delta", "a"));
    expect(noncesOf(history, "a", "b", "c")).toEqual([undefined, "1", undefined]);
    history.accept(bodyOf("delta", "b"));
    expect(noncesOf(history, "a", "b", "c")).toEqual([undefined, undefined, undefined]);
  });

  test("counts again when the name is NACKed again", () => {
    const history = nacked(bodyOf("delta", "a"));
    history.accept(bodyOf("delta", "a"));
    history.add({ nonce: "9", body: bodyOf("delta", "a"), error });
    expect(noncesOf(history, "a")).toEqual(["9"]);
  });

  test("in State of the World stands for an older one of as many resources, not of more", () => {
    const [large, small] = [bodyOf("sotw", "a", "b"), bodyOf("sotw", "a")];
    const both = nacked(large, small);
    expect(noncesOf(both, "a", "b")).toEqual(["2", "1"]);
    expect(noncesOf(nacked(bodyOf("sotw", "c", "d"), large), "c", "a")).toEqual([undefined, "2"]);
    expect(noncesOf(nacked(bodyOf("delta", "c"), bodyOf("delta", "a")), "c", "a")).toEqual(["1", "2"]);
  });

  test("is forgotten with the sixteenth newer one; a repeated body takes one place", () => {
    const bodies = Array.from({ length: 17 }, (_, i) => bodyOf("delta", `n${i}`));
    expect(noncesOf(nacked(...bodies), "n0", "n1", "n16")).toEqual([undefined, "2", "17"]);
    const [first = bodyOf("delta"), ...rest] = bodies.slice(0, 16);
    const repeated = nacked(first, ...rest, ...rest.slice(-1));
    expect(noncesOf(repeated, "n0", "n15")).toEqual(["1", "17"]);
  });

  test("S-ACK-13 is not forgotten for newer ones whose names were all ACKed since", () => {
    const bodies = Array.from({ length: 31 }, (_, i) => bodyOf("delta", `n${i}`));
    const history = nacked(...bodies.slice(0, 16));
    for (const body of bodies.slice(1, 16)) history.accept(body);
    for (const [i, body] of bodies.slice(16).entries()) history.add({ nonce: String(i + 17), body, error });
    expect(noncesOf(history, "n0", "n1", "n15", "n16", "n30")).toEqual(["1", undefined, undefined, "17", "31"]);
  });
});

test("the resources of a body are listed by name, once for all who share it", () => {
  const body = bodyOf("delta", "a", "b");
  expect([...resourcesIn(body)].map(([name, { name: own }]) => [name, own])).toEqual([
    ["a", "a"],
    ["b", "b"],
  ]);
  expect(resourcesIn(body)).toBe(resourcesIn(body));
});
