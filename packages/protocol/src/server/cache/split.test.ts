import { describe, expect, test } from "vitest";
import { CLUSTER, digest, ENDPOINTS, failure, resource, traits } from "../../../test/support/resources.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { Body, Segment } from "../../message/body.ts";
import { anonymousNode } from "../../node/node.ts";
import type { Resource } from "../../resource/resource.ts";
import { opaqueTraits } from "../../resource/type-traits.ts";
import { createResource } from "../../resource/version.ts";
import { cutFor, ResponseSplitter, type SplitLimit } from "./split.ts";

const MEBIBYTE = 1024 * 1024;

function sized(name: string, bytes: number): Resource {
  return createResource({ type: ENDPOINTS, name, bytes: new Uint8Array(bytes) }, digest);
}

function segment(...puts: readonly Resource[]): Segment {
  return { puts, removed: [], missing: [] };
}

function bodyOf(...segments: readonly Segment[]): Body {
  return { variant: "delta", type: ENDPOINTS, version: "v", segments };
}

/** The names of each part. */
function namesIn(parts: readonly Body[]): readonly string[] {
  return parts.map(({ segments }) =>
    segments
      .flatMap(({ puts, missing, removed }) => [
        ...puts.map((put) => put.name),
        ...missing.map((name) => `?${name}`),
        ...removed.map((name) => `-${name}`),
      ])
      .join(),
  );
}

describe("a body", () => {
  test("within the limit is its own only part", () => {
    const body = bodyOf(segment(sized("a", 100)));
    expect(new ResponseSplitter().of(body, MEBIBYTE)).toEqual([body]);
    expect(new ResponseSplitter().of(body, MEBIBYTE)[0]).toBe(body);
    const empty = bodyOf();
    expect(new ResponseSplitter().of(empty, 0)[0]).toBe(empty);
    expect(new ResponseSplitter().of(empty, "each-alone")[0]).toBe(empty);
  });

  test("above it is as few parts as hold it, in order", () => {
    const body = bodyOf(segment(...["a", "b", "d", "e", "f"].map((name) => sized(name, 1_000))));
    const parts = new ResponseSplitter().of(body, 2_500);
    expect(namesIn(parts)).toEqual(["a,b", "d,e", "f"]);
    expect(parts.map(({ segments }) => segments.length)).toEqual([1, 1, 1]);
  });

  test("whose resource alone is above the limit has that one alone", () => {
    const body = bodyOf(segment(sized("a", 10), sized("large", 5_000), sized("b", 10)));
    expect(namesIn(new ResponseSplitter().of(body, 1_000))).toEqual(["a", "large", "b"]);
  });

  test("is cut in names that are missing or removed too", () => {
    const names = (prefix: string): readonly string[] => ["1", "2"].map((digit) => prefix + digit.repeat(100));
    const body = bodyOf({ puts: [sized("a", 1_000)], missing: names("m"), removed: names("r") });
    const parts = new ResponseSplitter().of(body, 1_300);
    expect(
      parts.map(({ segments }) => segments.map((one) => [one.puts.length, one.missing.length, one.removed.length])),
    ).toEqual([[[1, 0, 0]], [[0, 1, 0]], [[0, 1, 0]], [[0, 0, 1]], [[0, 0, 1]]]);
  });

  test("keeps its segments whole where they fit", () => {
    const [one, two, three] = ["a", "b", "d"].map((name) => segment(sized(name, 1_000)));
    const body = bodyOf(...[one, two, three].flatMap((each) => each ?? []));
    const parts = new ResponseSplitter().of(body, 2_500);
    expect(parts.map((part) => part.segments)).toEqual([[one, two], [three]]);
    expect(parts[0]?.segments[0]).toBe(one);
  });

  test("keeps a segment of just the limit whole, and has errors as parts too", () => {
    const put = sized("a", 1_000);
    const [just, other] = [segment(put), segment(sized("b", 1_000))];
    const limit = put.bytes.length + ENDPOINTS.length + 3 * (put.name.length + put.version.length) + 48;
    const parts = new ResponseSplitter().of(bodyOf(just, other), limit);
    expect(parts.map(({ segments }) => segments[0])).toEqual([just, other]);
    expect(parts[0]?.segments[0]).toBe(just);
    const errors = [failure(ENDPOINTS, "x", 13), failure(ENDPOINTS, "y", 13, "z".repeat(1_000))];
    const alone = new ResponseSplitter().of(bodyOf({ ...just, removed: ["r"], errors }), "each-alone");
    expect(alone.map(({ segments }) => segments)).toEqual([
      [{ puts: [put], removed: [], missing: [] }],
      [{ puts: [], removed: ["r"], missing: [] }],
      [{ puts: [], removed: [], missing: [], errors }],
    ]);
    const apart = new ResponseSplitter().of(bodyOf({ ...segment(), errors }), 1_000);
    expect(apart.map(({ segments }) => segments[0]?.errors?.map(({ name }) => name))).toEqual([["x"], ["y"]]);
  });

  test("says in each part what it is of", () => {
    const body = bodyOf(segment(sized("a", 10), sized("b", 10)));
    const parts = new ResponseSplitter().of(body, 1);
    expect(parts.map(({ variant, type, version }) => ({ variant, type, version }))).toEqual([
      { variant: "delta", type: ENDPOINTS, version: "v" },
      { variant: "delta", type: ENDPOINTS, version: "v" },
    ]);
  });
});

describe("parts", () => {
  test("are made once for a body", () => {
    const parts = new ResponseSplitter();
    const body = bodyOf(segment(sized("a", 10), sized("b", 10)));
    for (const cut of [1, "each-alone"] satisfies SplitLimit[]) {
      expect(parts.of(body, cut)).toBe(parts.of(body, cut));
      expect(parts.of(body, cut).length).toBe(2);
    }
  });

  test("of a segment that bodies share are shared by them", () => {
    const parts = new ResponseSplitter();
    const shared = segment(...["a", "b", "d"].map((name) => sized(name, 1_000)));
    const bodies = ["x", "y"].map((own) => bodyOf(shared, segment(sized(own, 100))));
    const [first, second] = bodies.map((body) => parts.of(body, 1_500));
    expect([namesIn(first ?? []), namesIn(second ?? [])]).toEqual([
      ["a", "b", "d,x"],
      ["a", "b", "d,y"],
    ]);
    expect(new Set([first, second].flatMap((all) => all?.flatMap((part) => part.segments) ?? [])).size).toBe(5);
  });

  test("count names and aliases at the size that they may have", () => {
    const umlauts = "ü".repeat(100);
    const plain = { type: ENDPOINTS, name: "a", bytes: new Uint8Array(0) };
    const limit = 500;
    const isAlone = (input: object): boolean => {
      const body = bodyOf(segment(createResource({ ...plain, ...input }, digest), sized("b", 0)));
      return new ResponseSplitter().of(body, limit).length === 2;
    };
    expect(isAlone({})).toBe(false);
    expect([{ name: umlauts }, { aliases: [umlauts] }, { metadata: new Uint8Array(200) }].map(isAlone)).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe("an answer is cut", () => {
  const current = dialectFor(anonymousNode);
  const [cds, eds] = [CLUSTER, ENDPOINTS].map((type) => traits(type) ?? opaqueTraits(type));
  const cutsOf = (dialect: typeof current): unknown =>
    (["delta", "sotw"] as const).map((variant) => [cds, eds].map((one) => one && cutFor(variant, one, dialect)));

  test("in delta, and in State of the World where it need not hold everything", () => {
    const limit = current.maxResponseBytes;
    expect(limit).toBeLessThan(4 * MEBIBYTE);
    expect(cutsOf(current)).toEqual([
      [limit, limit],
      [undefined, limit],
    ]);
  });

  test("for an Envoy where it waits for each name", () => {
    const limit = current.maxResponseBytes;
    expect(cutsOf(dialectFor({ ...anonymousNode, userAgentName: "envoy" }))).toEqual([
      [undefined, limit],
      [undefined, limit],
    ]);
  });

  test("into single resources where an edition of delta wants that", () => {
    expect(cutsOf({ ...current, deltaOnePerResponse: true, maySplit: { otherwise: false } })).toEqual([
      ["each-alone", "each-alone"],
      [undefined, undefined],
    ]);
  });
});

test("a resource is not larger than it is counted", () => {
  const one = resource(ENDPOINTS, "a", "1");
  const body = bodyOf(segment(one, one));
  const counted = 2 * (one.bytes.length + ENDPOINTS.length + 3 * (1 + one.version.length) + 48);
  expect(new ResponseSplitter().of(body, counted).length).toBe(1);
  expect(new ResponseSplitter().of(body, counted - 1).length).toBe(2);
});
