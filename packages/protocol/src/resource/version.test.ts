import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLUSTER, digest, ENDPOINTS } from "../../test/support/resources.ts";
import type { ResourceInput } from "./resource.ts";
import { addSums, createResource, formatVersion, subtractSums } from "./version.ts";

const largest = (1n << 128n) - 1n;
const bytes = new Uint8Array([1, 2, 3]);
const plain: ResourceInput = { type: CLUSTER, name: "c", bytes };
const versionOf = (more: Partial<ResourceInput>): string => createResource({ ...plain, ...more }, digest).version;

describe("a sum", () => {
  test("wraps around at 128 bits, in both directions", () => {
    expect(addSums(largest, 1n)).toBe(0n);
    expect(subtractSums(0n, 1n)).toBe(largest);
    expect(addSums(2n, 3n)).toBe(5n);
    expect(subtractSums(5n, 3n)).toBe(2n);
  });
});

describe("a printed version", () => {
  test.each([
    [0n, "AAAAAAAAAAAAAAAA"],
    [1n, "BAAAAAAAAAAAAAAA"],
    [63n, "_AAAAAAAAAAAAAAA"],
    [64n, "ABAAAAAAAAAAAAAA"],
    [63n << 90n, "AAAAAAAAAAAAAAA_"],
    [1n << 96n, "AAAAAAAAAAAAAAAA"],
  ])("of %d is %s", (sum, text) => {
    expect(formatVersion(sum)).toBe(text);
  });

  test("spells six bits a character", () => {
    const digits = Array.from({ length: 64 }, (_, digit) => formatVersion(BigInt(digit)).charAt(0));
    expect(digits.join("")).toBe("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
  });
});

test("a version has the digits of its sum, the lowest first", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const spelled = (sum: bigint): string =>
    Array.from({ length: 16 }, (_, place) => alphabet[Number((sum >> BigInt(6 * place)) & 63n)]).join("");
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: largest }), (sum) => {
      expect(formatVersion(sum)).toBe(spelled(sum));
    }),
  );
});

describe("a resource", () => {
  test("costs two digests, of its content and of its name and version", () => {
    const digested: (readonly (string | Uint8Array)[])[] = [];
    const { version } = createResource(plain, (parts) => {
      digested.push(parts);
      return digest(parts);
    });
    expect(digested).toEqual([[bytes], ["c", version]]);
  });

  test("has nothing but what it was given", () => {
    const version = formatVersion(digest([bytes]));
    expect(createResource(plain, digest)).toEqual({
      type: CLUSTER,
      name: "c",
      bytes,
      aliases: [],
      ttlMs: undefined,
      doNotCache: false,
      metadata: undefined,
      onDemand: false,
      references: [],
      version,
      sum: digest(["c", version]),
    });
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 315_576_000_001_000])(
    "B-TTL-19 does not enter with a ttl of %d",
    (ttlMs) => {
      const make = (): unknown => createResource({ ...plain, ttlMs }, digest);
      expect(make).toThrow(RangeError);
    },
  );

  test("keeps all that it was given", () => {
    const given: ResourceInput = {
      ...plain,
      aliases: ["b", "a"],
      ttlMs: 1_000,
      doNotCache: true,
      metadata: new Uint8Array([9]),
      onDemand: true,
      references: [{ type: ENDPOINTS, name: "c" }],
      version: "mine",
    };
    const content = digest([plain.bytes, "no-cache", new Uint8Array([9]), "a", "b"]);
    const sum = digest(["c", "mine", formatVersion(content)]);
    expect(createResource(given, digest)).toEqual({ ...given, content, sum });
  });

  test("has another version when bytes, aliases, metadata or cache control differ", () => {
    const versions = [
      versionOf({}),
      versionOf({ bytes: new Uint8Array([1, 2, 4]) }),
      versionOf({ aliases: ["a"] }),
      versionOf({ aliases: ["no-cache"] }),
      versionOf({ aliases: ["a", "b"] }),
      versionOf({ aliases: ["ab"] }),
      versionOf({ metadata: new Uint8Array([9]) }),
      versionOf({ metadata: new Uint8Array([8]) }),
      versionOf({ doNotCache: true }),
      versionOf({ doNotCache: true, aliases: ["a"] }),
      versionOf({ doNotCache: true, metadata: new Uint8Array([9]) }),
    ];
    expect(new Set(versions).size).toBe(versions.length);
  });

  test("has the same version whatever its name, ttl, references, demand, and the order of its aliases", () => {
    const same = [
      versionOf({ aliases: ["a", "b"] }),
      versionOf({ aliases: ["b", "a"] }),
      versionOf({ aliases: ["b", "a"], name: "d" }),
      versionOf({ aliases: ["b", "a"], ttlMs: 5 }),
      versionOf({ aliases: ["b", "a"], onDemand: true }),
      versionOf({ aliases: ["b", "a"], references: [{ type: ENDPOINTS, name: "c" }] }),
      versionOf({ aliases: ["b", "a"], doNotCache: false }),
    ];
    expect(new Set(same).size).toBe(1);
    expect(versionOf({ doNotCache: false, aliases: [] })).toBe(versionOf({}));
  });

  test("leaves the list of aliases that it was given as it is", () => {
    const aliases = ["b", "a"];
    versionOf({ aliases });
    expect(aliases).toEqual(["b", "a"]);
  });

  test("is the same with the version that its content has anyway", () => {
    const variant = { ...plain, constraints: { kind: "exists", key: "a" } } as const;
    for (const given of [plain, variant]) {
      const made = createResource(given, digest);
      expect(createResource({ ...given, version: made.version }, digest)).toEqual(made);
    }
  });

  test("adds another sum if only the content differs under the version that the caller set", () => {
    const sums = [plain.bytes, new Uint8Array([9])].map(
      (bytes) => createResource({ ...plain, bytes, version: "mine" }, digest).sum,
    );
    expect(new Set(sums).size).toBe(2);
  });

  test("adds a sum that differs by name and by version", () => {
    const sums = ["c", "d"].flatMap((name) =>
      ["1", "2"].map((version) => createResource({ ...plain, name, version }, digest).sum),
    );
    expect(new Set(sums).size).toBe(4);
  });
});
