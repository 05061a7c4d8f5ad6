import type { Node } from "@xdskit/protocol";
import {
  type DeltaRequest,
  finish,
  type InitialVersions,
  type ListedVersion,
  locatedTerm,
  noInitialVersions,
  type SotwRequest,
  shownName,
} from "@xdskit/protocol/internal";
import { describe, expect, test, vi } from "vitest";
import {
  type DeltaRequestMessage,
  encodeDeltaRequest,
  encodeSotwRequest,
  type SotwRequestMessage,
} from "./encode-request.ts";
import { createRequestReader, type RequestReader } from "./request-reader.ts";
import { WireError } from "./wire-error.ts";
import { WireWriter } from "./writer.ts";

const cds = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const eds = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const node: Node = {
  id: "edge-7",
  cluster: "edge",
  metadata: {},
  locality: undefined,
  userAgentName: "envoy",
  userAgentVersion: "1.39.0",
  clientFeatures: [],
};

function sotw(message: SotwRequestMessage, reader: RequestReader = createRequestReader("sotw")): SotwRequest {
  const request = reader.read(encodeSotwRequest(message));
  if (request.kind !== "sotw") throw new Error("not State of the World");
  return request;
}

function delta(message: DeltaRequestMessage, reader: RequestReader = createRequestReader("delta")): DeltaRequest {
  const request = reader.read(encodeDeltaRequest(message));
  if (request.kind !== "delta") throw new Error("not delta");
  return request;
}

test("names that alternate with other fields are read without a view for each", () => {
  const writer = new WireWriter();
  const names = Array.from({ length: 1_000 }, (_, index) => `n${index}`);
  for (const name of names) writer.string(3, name).string(1, "v");
  const bytes = Uint8Array.from(writer.finish());
  const reader = createRequestReader("sotw");
  const views = vi.spyOn(Uint8Array.prototype, "subarray");
  const read = reader.read(bytes);
  const made = views.mock.calls.length;
  views.mockRestore();
  expect(read).toMatchObject({ kind: "sotw", versionInfo: "v", names });
  expect(made).toBeLessThan(10);
});

describe("a request", () => {
  test("in State of the World is plain data", () => {
    const message = {
      versionInfo: "v1",
      node,
      resourceNames: ["a", "", "a"],
      typeUrl: cds,
      responseNonce: "7",
      errorDetail: { code: 13, message: "no" },
    };
    expect(sotw(message)).toEqual({
      kind: "sotw",
      type: cds,
      node,
      nonce: "7",
      error: { code: 13, message: "no" },
      versionInfo: "v1",
      names: ["a", "", "a"],
    });
  });

  test("in delta is plain data", () => {
    const request = delta({
      node,
      typeUrl: eds,
      resourceNamesSubscribe: ["*", "a"],
      resourceNamesUnsubscribe: ["b"],
      initialResourceVersions: [
        ["a", "1"],
        ["b", ""],
      ],
      responseNonce: "7",
      errorDetail: { code: 13, message: "no" },
    });
    expect({ ...request, initialVersions: [...request.initialVersions] }).toEqual({
      kind: "delta",
      type: eds,
      node,
      nonce: "7",
      error: { code: 13, message: "no" },
      subscribe: ["*", "a"],
      unsubscribe: ["b"],
      initialVersions: [
        ["a", "1"],
        ["b", ""],
      ],
    });
  });

  test("without anything has undefined for every text and node", () => {
    expect([sotw({}), delta({})]).toEqual([
      {
        kind: "sotw",
        type: undefined,
        node: undefined,
        nonce: undefined,
        error: undefined,
        versionInfo: undefined,
        names: [],
      },
      {
        kind: "delta",
        type: undefined,
        node: undefined,
        nonce: undefined,
        error: undefined,
        subscribe: [],
        unsubscribe: [],
        initialVersions: noInitialVersions,
      },
    ]);
  });

  test("is a NACK when it has an error, whatever the error says (S-ACK-05)", () => {
    const errorDetail = { code: 0, message: "" };
    expect([sotw({ errorDetail }).error, delta({ errorDetail }).error]).toEqual([errorDetail, errorDetail]);
  });

  test.each([
    "envoy.config.cluster.v3.Cluster",
    "/envoy.config.cluster.v3.Cluster",
    "example.org/envoy.config.cluster.v3.Cluster",
  ])("may write its type as %s", (typeUrl) => {
    expect([sotw({ typeUrl }).type, delta({ typeUrl }).type]).toEqual([cds, cds]);
  });

  test("B-LOC-11 may name resources by locators, of which those without parameters are plain names", () => {
    const locators = [{ name: "l", dynamicParameters: { k: "v", a: "b" } }, { name: "m" }];
    const l = locatedTerm(
      "l",
      new Map([
        ["a", "b"],
        ["k", "v"],
      ]),
    );
    const listed = sotw({ resourceNames: ["a"], resourceLocators: locators });
    expect([listed.names, listed.hasLocators]).toEqual([["a", l, "m"], true]);
    expect(sotw({ resourceNames: ["a"] }).hasLocators).toBeUndefined();
    const request = delta({
      resourceNamesSubscribe: ["a"],
      resourceLocatorsSubscribe: locators,
      resourceLocatorsUnsubscribe: [{ name: "n" }],
    });
    expect([request.subscribe, request.unsubscribe, request.hasLocators]).toEqual([["a", l, "m"], ["n"], true]);
  });

  test("B-LOC-09 has one term for equal names and parameters, however they are written", () => {
    const name = "xdstp://a/T/x?b=2&a=1";
    const [first, second] = [
      delta({ resourceLocatorsSubscribe: [{ name, dynamicParameters: { k: "v", a: "b" } }] }),
      delta({
        resourceLocatorsSubscribe: [{ name: "xdstp://a/T/x?a=1&b=2", dynamicParameters: { a: "b", k: "v" } }],
      }),
    ];
    expect(first.subscribe).toEqual(second.subscribe);
    expect(first.subscribe.map(shownName)).toEqual(["xdstp://a/T/x?a=1&b=2 {a=b, k=v}"]);
  });

  test("is refused with more parameters than anybody has", () => {
    const dynamicParameters = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`k${i}`, ""]));
    expect(() => sotw({ resourceLocators: [{ name: "l", dynamicParameters }] })).toThrow(WireError);
  });

  test("B-MSC-09 may have fields that nobody knows, between the others too", () => {
    const message = new WireWriter()
      .string(3, "a")
      .integer(999, 7)
      .string(3, "b")
      .string(998, "x")
      .string(4, cds)
      .string(3, "c")
      .message(5000, (inner) => inner.double(1, 0.5))
      .finish();
    expect(createRequestReader("sotw").read(message)).toMatchObject({ names: ["a", "b", "c"], type: cds });
  });
});

describe("what a client says again", () => {
  test("is the same node, without being read again", () => {
    const reader = createRequestReader("sotw");
    const first = sotw({ node, typeUrl: cds }, reader);
    const withoutNode = sotw({ typeUrl: eds }, reader);
    const again = sotw({ node, typeUrl: cds, responseNonce: "1" }, reader);
    expect([first.node === again.node, withoutNode.node]).toEqual([true, undefined]);
  });

  test("is the same array of names, per type", () => {
    const reader = createRequestReader("sotw");
    const clusters = sotw({ typeUrl: cds, resourceNames: ["a", "b"] }, reader);
    const endpoints = sotw({ typeUrl: eds, resourceNames: ["a"] }, reader);
    const acks = [
      sotw({ typeUrl: cds, resourceNames: ["a", "b"], versionInfo: "1", responseNonce: "1" }, reader),
      sotw({ typeUrl: eds, resourceNames: ["a"], versionInfo: "1", responseNonce: "2" }, reader),
    ];
    expect([acks[0]?.names === clusters.names, acks[1]?.names === endpoints.names]).toEqual([true, true]);
  });

  test("but with other names is another array", () => {
    const reader = createRequestReader("sotw");
    const first = sotw({ typeUrl: cds, resourceNames: ["a", "b"] }, reader);
    const second = sotw({ typeUrl: cds, resourceNames: ["b", "a"] }, reader);
    const third = sotw({ typeUrl: cds, resourceNames: ["ab"] }, reader);
    const none = sotw({ typeUrl: cds }, reader);
    const back = sotw({ typeUrl: cds, resourceNames: ["a", "b"] }, reader);
    expect([second.names === first.names, second.names, third.names, none.names, back.names]).toEqual([
      false,
      ["b", "a"],
      ["ab"],
      [],
      ["a", "b"],
    ]);
  });

  test("is shared with every stream that says the same, if it is long", () => {
    const resourceNames = Array.from({ length: 1000 }, (_, i) => `cluster-${i}`);
    const first = sotw({ typeUrl: cds, resourceNames });
    const second = sotw({ typeUrl: eds, resourceNames, node, responseNonce: "1" });
    const other = sotw({ typeUrl: cds, resourceNames: resourceNames.toReversed() });
    expect([second.names === first.names, first.names, other.names]).toEqual([
      true,
      resourceNames,
      resourceNames.toReversed(),
    ]);
  });

  test("takes a stream that asks for a thousand types no more memory than for 64", () => {
    const reader = createRequestReader("sotw");
    const first = sotw({ typeUrl: "t0", resourceNames: ["a"] }, reader);
    for (let i = 1; i <= 1000; i++) sotw({ typeUrl: `t${i}`, resourceNames: ["a"] }, reader);
    const forgotten = sotw({ typeUrl: "t0", resourceNames: ["a"] }, reader);
    expect([forgotten.names, forgotten.names === first.names]).toEqual([["a"], false]);
  });
});

describe("initial versions", () => {
  const pairs = Array.from({ length: 1000 }, (_, i) => [`cluster-${i}`, `version-${i}`] as const);

  test("are counted, and can be walked more than once", () => {
    const message = encodeDeltaRequest({ typeUrl: cds, initialResourceVersions: pairs });
    const { initialVersions } = createRequestReader("delta").read(message) as DeltaRequest;
    expect(initialVersions.byteLength).toBe(message.byteLength);
    expect([initialVersions.size, [...initialVersions], [...initialVersions]]).toEqual([1000, pairs, pairs]);
  });

  test("have equal keys if and only if their bytes are equal, whatever else the requests say", () => {
    const one = delta({ typeUrl: cds, node, initialResourceVersions: pairs }).initialVersions;
    const same = delta({ typeUrl: eds, resourceNamesSubscribe: ["*"], initialResourceVersions: pairs }).initialVersions;
    const other = delta({ typeUrl: cds, initialResourceVersions: pairs.slice(1) }).initialVersions;
    expect([one.key === same.key, one.key === other.key, one.key === noInitialVersions.key]).toEqual([
      true,
      false,
      false,
    ]);
  });

  /** The pairs in the order of a list, with their numbers. */
  function numbersIn(list: InitialVersions): readonly (readonly [number, ListedVersion])[] {
    const cursor = list.numbered?.read();
    const found: (readonly [number, ListedVersion])[] = [];
    while (cursor?.next() === true) found.push([cursor.number, cursor.pair]);
    return found;
  }

  test("have numbers: the same for the same pair in any list, and no other pair has it", () => {
    const lists = [
      pairs,
      [...pairs].reverse(),
      [...pairs, ["cluster-1", "version-2"] as const, ["cluster-", "1version-1"] as const],
    ].map((list) => delta({ typeUrl: cds, initialResourceVersions: list }).initialVersions);
    const found = lists.flatMap((list) => numbersIn(list).map(([number, pair]) => `${number} ${pair.join(" ")}`));
    expect([found.length, new Set(found).size]).toEqual([3_002, 1_002]);
    expect(new Set(lists.map((list) => list.numbered?.numbering)).size).toBe(1);
    expect([...(lists[1] ?? [])]).toEqual([...pairs].reverse());
  });

  test("have no number in a short list, and if they are long, not plain, or too many", () => {
    const short = delta({ typeUrl: cds, initialResourceVersions: pairs.slice(0, 255) }).initialVersions;
    expect(short.numbered).toBeUndefined();
    const odd = new WireWriter();
    for (const [name, version] of pairs) odd.message(5, (entry) => entry.string(1, name).string(2, version));
    odd.message(5, (entry) => entry.string(2, "1").string(1, "turned"));
    odd.message(5, (entry) => entry.string(1, "more").string(2, "1").integer(9, 1));
    odd.message(5, (entry) => entry.string(1, "n".repeat(200)).string(2, "1"));
    odd.string(2, cds);
    const { initialVersions } = createRequestReader("delta").read(odd.finish()) as DeltaRequest;
    expect(numbersIn(initialVersions).slice(1_000)).toEqual([
      [-1, ["turned", "1"]],
      [-1, ["more", "1"]],
      [-1, ["n".repeat(200), "1"]],
    ]);
    const many = Array.from({ length: 140_000 }, (_, i) => [`name-${i}`, "1"] as const);
    const large = delta({ typeUrl: cds, initialResourceVersions: many }).initialVersions;
    const numbers = numbersIn(large).flatMap(([number]) => (number < 0 ? [] : [number]));
    expect([large.size, new Set(numbers).size]).toEqual([140_000, numbers.length]);
    expect(numbers.length).toBeLessThanOrEqual(131_072);
    expect(numbersIn(large).map(([number]) => number)).toEqual(numbersIn(large).map(([number]) => number));
  });

  test("may stand between other fields, and in any order inside", () => {
    const message = new WireWriter()
      .message(5, (entry) => entry.string(2, "1").string(1, "a"))
      .string(3, "x")
      .message(5, (entry) => entry.string(1, "b"))
      .string(2, cds)
      .message(5, (entry) => entry.string(2, "3").integer(9, 1))
      .finish();
    const request = createRequestReader("delta").read(message);
    if (request.kind !== "delta") throw new Error("not delta");
    expect({ ...request, initialVersions: [...request.initialVersions] }).toMatchObject({
      type: cds,
      subscribe: ["x"],
      initialVersions: [
        ["a", "1"],
        ["b", ""],
        ["", "3"],
      ],
    });
  });

  test("are refused as a whole when one of them is malformed", () => {
    const message = new WireWriter()
      .message(5, (entry) => entry.string(1, "a"))
      .bytes(5, Uint8Array.of(0x0a, 0x05, 0x61))
      .finish();
    expect(() => createRequestReader("delta").read(message)).toThrow(WireError);
  });
});

describe("a request is refused", () => {
  test.each(["sotw", "delta"] as const)("in %s when it is cut off", (variant) => {
    const whole =
      variant === "sotw" ? encodeSotwRequest({ node, typeUrl: cds }) : encodeDeltaRequest({ node, typeUrl: cds });
    expect(() => createRequestReader(variant).read(whole.subarray(0, -1))).toThrow(WireError);
  });

  test.each(["sotw", "delta"] as const)("in %s when its type URL is longer than any type's", (variant) => {
    const encode = variant === "sotw" ? encodeSotwRequest : encodeDeltaRequest;
    const read = (typeUrl: string): unknown => createRequestReader(variant).read(encode({ typeUrl })).type;
    const longest = `type.googleapis.com/${"t".repeat(1_004)}`;
    expect(read(longest)).toBe(longest);
    expect(() => read(`${longest}t`)).toThrow("type URL of 1025 characters, at most 1024");
  });

  test("when it has more than a million names", () => {
    const names = (tag: number, count: number): Uint8Array => {
      const bytes = new Uint8Array(2 * count);
      for (let i = 0; i < bytes.length; i += 2) bytes[i] = tag;
      return bytes;
    };
    expect(createRequestReader("sotw").read(names(0x1a, 1_000_000))).toMatchObject({ kind: "sotw" });
    expect(() => createRequestReader("sotw").read(names(0x1a, 1_000_001))).toThrow(WireError);
    expect(() => createRequestReader("delta").read(names(0x1a, 1_000_001))).toThrow(WireError);
    expect(() => createRequestReader("delta").read(names(0x22, 1_000_001))).toThrow(WireError);
  });
});

test("a large delta request is read some fields at a time, and is the same request with the set of its names", () => {
  const message = encodeDeltaRequest({
    typeUrl: cds,
    resourceNamesSubscribe: Array.from({ length: 20_000 }, (_, i) => `name-${i >> 1}`),
    resourceNamesUnsubscribe: ["old"],
    initialResourceVersions: new Map([["name-1", "1"]]),
  });
  const steps = createRequestReader("delta").readInSteps(message);
  let pauses = 0;
  let last = steps.next();
  for (; last.done !== true; last = steps.next()) pauses++;
  expect(pauses).toBe(2_500);
  const { initialVersions, ...rest } = createRequestReader("delta").read(message) as DeltaRequest;
  const distinct = new Set(rest.subscribe);
  expect({ ...last.value, initialVersions }).toEqual({ ...rest, distinct, initialVersions });
  expect([...(last.value as DeltaRequest).initialVersions]).toEqual([...initialVersions]);
});

test("a request that is not valid ends the reading in steps as it does at once", () => {
  const message = encodeDeltaRequest({ typeUrl: cds, resourceNamesSubscribe: Array(10_000).fill("name") as string[] });
  const steps = createRequestReader("delta").readInSteps(message.subarray(0, -1));
  expect(() => finish(steps)).toThrow(WireError);
});
