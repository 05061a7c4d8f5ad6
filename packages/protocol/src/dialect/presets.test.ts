import { describe, expect, test } from "vitest";
import { anonymousNode } from "../node/node.ts";
import type { TypeKind } from "../resource/type-kinds.ts";
import { forKind, isWildcardType, type PerKind } from "./dialect.ts";
import { dialectFor } from "./presets.ts";
import { type Edition, editions, switchFields, switchNameOf, switchTable } from "./switches.ts";

const named = (userAgentName: string): typeof anonymousNode => ({ ...anonymousNode, userAgentName });
const kinds: TypeKind[] = ["cds", "eds", "sds", "lds", "srds", "rds", "ecds", "vhds", "rtds", "leds", "trds", "opaque"];

/** The kinds for which it is so. */
function where<T>(values: PerKind<T>, value: T): readonly TypeKind[] {
  return kinds.filter((kind) => forKind(values, kind) === value);
}

describe("the dialect of a client that nobody knows", () => {
  test("is that of the newest edition", () => {
    expect(dialectFor(anonymousNode)).toEqual({
      wildcardTypes: { otherwise: true },
      wildcardSticky: false,
      prefixGlob: false,
      ignoreHints: false,
      deltaMissing: { otherwise: "removed" },
      resourceErrors: "failed",
      errorsEndWaiting: true,
      deltaRemovals: { otherwise: "at-once" },
      deltaOnePerResponse: false,
      maxResponseBytes: 3.5 * 1024 * 1024,
      maySplit: { otherwise: true },
      nackByVersion: false,
      staleNonce: "ignore",
      resumeVersion: true,
      resumeSkip: { otherwise: false },
      resendEdsOnClusterChange: true,
      unknownType: "ignore",
      requireNode: false,
      nodeChange: "ignore",
      makeBeforeBreak: { otherwise: true },
      orderLimitMs: 30_000,
      resumeGraceMs: 1_000,
      separateResumeGraceMs: 30_000,
      ackLimitMs: 30_000,
      withheldAckLimitMs: { otherwise: undefined },
      ttlDelta: { otherwise: "if-announced", vhds: "never" },
      ttlSotw: { otherwise: "if-announced", vhds: "never" },
      ttlAggregatedSotw: { otherwise: "if-announced", vhds: "never" },
      ttlWithoutFeature: false,
      restLongPoll: true,
      nackMayBeOfOlder: { otherwise: false },
      incremental2018: false,
      docAliases: true,
      lrsIgnoresFirstCluster: false,
    });
    expect(dialectFor(anonymousNode, { server: { edition: "current", dialect: {} } })).toBe(dialectFor(anonymousNode));
  });
});

describe("table 4.1", () => {
  const ordered = kinds.filter((kind) => kind !== "vhds");
  test.each<[Edition, Readonly<Record<string, unknown>>]>([
    [
      "2018",
      {
        wildcards: { sotw: ["cds", "lds"], delta: ["cds", "lds"] },
        sticky: true,
        ignoreHints: true,
        deltaMissing: { otherwise: "none" },
        nackByVersion: true,
        resumeVersion: false,
        ttls: false,
        ordered,
        resourceErrors: "off",
        incremental2018: true,
      },
    ],
    [
      "2020",
      {
        wildcards: { sotw: ["cds", "lds"], delta: ["cds", "lds"] },
        sticky: true,
        ignoreHints: false,
        deltaMissing: { otherwise: "empty-resource" },
        nackByVersion: true,
        resumeVersion: true,
        ttls: false,
        ordered: kinds,
        resourceErrors: "off",
        incremental2018: false,
      },
    ],
    [
      "2021",
      {
        wildcards: { sotw: ["cds", "lds"], delta: ["cds", "lds", "srds"] },
        sticky: true,
        ignoreHints: false,
        deltaMissing: { otherwise: "empty-resource" },
        nackByVersion: false,
        resumeVersion: true,
        ttls: true,
        ordered: kinds,
        resourceErrors: "off",
        incremental2018: false,
      },
    ],
    [
      "current",
      {
        wildcards: { sotw: kinds, delta: kinds },
        sticky: false,
        ignoreHints: false,
        deltaMissing: { otherwise: "removed" },
        nackByVersion: false,
        resumeVersion: true,
        ttls: true,
        ordered: kinds,
        resourceErrors: "failed",
        incremental2018: false,
      },
    ],
  ])("%s", (edition, expected) => {
    const dialect = dialectFor(anonymousNode, { server: { edition } });
    const wildcards = (variant: "sotw" | "delta"): unknown =>
      kinds.filter((kind) => isWildcardType(dialect, kind, variant));
    const { ttlDelta, ttlSotw, ttlAggregatedSotw } = dialect;
    expect({
      wildcards: { sotw: wildcards("sotw"), delta: wildcards("delta") },
      sticky: dialect.wildcardSticky,
      ignoreHints: dialect.ignoreHints,
      deltaMissing: dialect.deltaMissing,
      nackByVersion: dialect.nackByVersion,
      resumeVersion: dialect.resumeVersion,
      ttls: [ttlDelta, ttlSotw, ttlAggregatedSotw].some((rules) => where(rules, "never").length < kinds.length),
      ordered: where(dialect.makeBeforeBreak, true),
      resourceErrors: dialect.resourceErrors,
      incremental2018: dialect.incremental2018,
    }).toEqual(expected);
  });

  test.each(editions)("what is the same in all presets: %s", (edition) => {
    const newest = dialectFor(anonymousNode);
    const dialect = dialectFor(anonymousNode, { server: { edition } });
    const differing = switchFields.filter((field) => dialect[field] !== newest[field]);
    const may = switchFields.filter((field) => switchTable[field].older !== undefined);
    expect(differing.filter((field) => !may.includes(field))).toEqual([]);
    expect(dialect).toMatchObject({
      resumeSkip: { otherwise: false },
      resendEdsOnClusterChange: true,
      staleNonce: "ignore",
      unknownType: "ignore",
      nodeChange: "ignore",
      requireNode: false,
      deltaOnePerResponse: false,
      ttlWithoutFeature: false,
      prefixGlob: false,
    });
  });
});

describe("a known client", () => {
  test("Envoy: what it waits for, what it withholds, what it means by naming nothing", () => {
    const dialect = dialectFor(named("envoy"));
    expect(where(dialect.wildcardTypes, true)).toEqual(["cds", "lds", "srds", "vhds"]);
    expect(where(dialect.deltaMissing, "none")).toEqual(["rds", "ecds"]);
    expect(where(dialect.deltaMissing, "empty-resource")).toEqual(["vhds"]);
    expect(forKind(dialect.deltaMissing, "eds")).toBe("removed");
    expect(where(dialect.deltaRemovals, "never")).toEqual(["ecds"]);
    expect(forKind(dialect.deltaRemovals, "lds")).toBe("at-once");
    expect(where(dialect.withheldAckLimitMs, 1_000)).toEqual(["cds"]);
    expect(where(dialect.nackMayBeOfOlder, true)).toEqual(["cds"]);
    expect([dialect.resourceErrors, dialect.errorsEndWaiting]).toEqual(["failed", false]);
    expect(where(dialect.maySplit, true)).toEqual(["eds", "sds", "rds", "leds"]);
    expect(where(dialect.ttlDelta, "never")).toEqual(["ecds", "vhds"]);
    expect(where(dialect.ttlSotw, "never")).toEqual(["ecds", "vhds"]);
    expect(where(dialect.ttlAggregatedSotw, "always")).toEqual(["cds", "lds", "rtds"]);
    expect(dialect.wildcardSticky).toBe(false);
  });

  test("gRPC in any language never means everything by naming nothing", () => {
    expect(where(dialectFor(named("gRPC Go")).wildcardTypes, true)).toEqual([]);
    expect(where(dialectFor(named("gRPC C-core")).wildcardTypes, true)).toEqual([]);
  });

  test("is known by its exact name", () => {
    for (const name of ["envoys", "Envoy", "my gRPC", ""]) {
      expect(dialectFor(named(name))).toBe(dialectFor(anonymousNode));
    }
  });

  test("beats the edition where it has a word, and the edition holds elsewhere", () => {
    const dialect = dialectFor(named("gRPC Go"), { server: { edition: "2018" } });
    expect(where(dialect.wildcardTypes, true)).toEqual([]);
    expect([dialect.wildcardSticky, dialect.ignoreHints]).toEqual([true, true]);
    const envoy = dialectFor(named("envoy"), { server: { edition: "2020" } });
    expect(envoy.deltaMissing).toEqual(dialectFor(named("envoy")).deltaMissing);
  });
});

describe("what an operator chose", () => {
  test("beats the client and the edition", () => {
    const server = { edition: "2018", dialect: { wildcardTypes: true, ignoreHints: false } } as const;
    const dialect = dialectFor(named("gRPC Go"), { server });
    expect(dialect.wildcardTypes).toEqual({ otherwise: true });
    expect([dialect.ignoreHints, dialect.wildcardSticky]).toEqual([false, true]);
  });

  test("for some clients goes before what was chosen for their listener, and that before the server's", () => {
    const choices = {
      server: { edition: "2018", dialect: { staleNonce: "honour-names", unknownType: "reject" } },
      listener: { name: "old", edition: "2020", dialect: { unknownType: "ignore", nodeChange: "reject" } },
      clients: { name: "few", edition: "2021", dialect: { nodeChange: "ignore" } },
    } as const;
    const { server, listener, clients } = choices;
    const pick = (of: typeof choices | object): readonly unknown[] => {
      const { staleNonce, unknownType, nodeChange, nackByVersion, ignoreHints } = dialectFor(anonymousNode, of);
      return [staleNonce, unknownType, nodeChange, nackByVersion, ignoreHints];
    };
    expect(pick({ server, listener, clients })).toEqual(["honour-names", "ignore", "ignore", false, false]);
    expect(pick({ server, listener })).toEqual(["honour-names", "ignore", "reject", true, false]);
    expect(pick({ server })).toEqual(["honour-names", "reject", "ignore", true, true]);
    expect(pick({})).toEqual(["ignore", "ignore", "ignore", false, false]);
  });

  test("for some kinds leaves the others as they are, for all kinds it does not", () => {
    const deltaMissing = { eds: "none" } as const;
    const some = dialectFor(named("envoy"), { server: { dialect: { deltaMissing } } });
    expect(some.deltaMissing).toEqual({
      otherwise: "removed",
      eds: "none",
      rds: "none",
      ecds: "none",
      vhds: "empty-resource",
    });
    const listener = { name: "one", dialect: { deltaMissing: "removed" } } as const;
    const all = dialectFor(named("envoy"), { listener, server: { dialect: { deltaMissing } } });
    expect(all.deltaMissing).toEqual({ otherwise: "removed" });
  });
});

test("a value for one kind beats the value for all, even if it is false", () => {
  expect(forKind({ otherwise: true, cds: false }, "cds")).toBe(false);
  expect(forKind({ otherwise: true, cds: false }, "eds")).toBe(true);
  expect(forKind<number | undefined>({ otherwise: undefined, cds: 1 }, "cds")).toBe(1);
});

test("operators call a switch by one name, without its unit", () => {
  const names = switchFields.map(switchNameOf);
  expect(new Set(names).size).toBe(switchFields.length);
  expect(names.filter((name) => /Ms$|Bytes$/.test(name))).toEqual([]);
  expect(switchNameOf("orderLimitMs")).toBe("orderLimit");
});

test("the streams of one server and one port share a dialect object", () => {
  const choices = {
    server: { dialect: { makeBeforeBreak: false } },
    listener: { name: "edge", dialect: { resumeSkip: true } },
  };
  const [one, other] = [anonymousNode, { ...anonymousNode, id: "other" }].map((node) => dialectFor(node, choices));
  expect(other).toBe(one);
  expect(dialectFor(named("envoy"), choices)).not.toBe(one);
  expect({ makeBeforeBreak: one?.makeBeforeBreak, resumeSkip: one?.resumeSkip }).toEqual({
    makeBeforeBreak: { otherwise: false },
    resumeSkip: { otherwise: true },
  });
});
