import { describe, expect, test } from "vitest";
import { anonymousNode } from "../node/node.ts";
import type { TypeKind } from "../resource/type-traits.ts";
import { forKind, type PerKind } from "./dialect.ts";
import { dialectFor, type Edition } from "./presets.ts";

const named = (userAgentName: string): typeof anonymousNode => ({ ...anonymousNode, userAgentName });
const kinds: TypeKind[] = ["cds", "eds", "sds", "lds", "srds", "rds", "ecds", "vhds", "rtds", "leds", "trds", "opaque"];

/** The kinds for which it is so. */
function where<T>(values: PerKind<T>, value: T): readonly TypeKind[] {
  return kinds.filter((kind) => forKind(values, kind) === value);
}

describe("the dialect of a client that nobody knows", () => {
  test("is that of the newest edition", () => {
    expect(dialectFor(anonymousNode)).toEqual({
      legacyWildcard: { otherwise: true },
      wildcardSticky: false,
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
      resumeSkip: { otherwise: false },
      resendEdsOnClusterChange: true,
      unknownType: "ignore",
      nodeChange: "ignore",
      makeBeforeBreak: true,
      orderLimitMs: 30_000,
      resumeGraceMs: 1_000,
      separateResumeGraceMs: 30_000,
      ackLimitMs: 30_000,
      withheldAckLimitMs: { otherwise: undefined },
      ttl: {
        delta: { otherwise: "if-announced", vhds: "never" },
        sotw: { otherwise: "if-announced", vhds: "never" },
        "aggregated-sotw": { otherwise: "if-announced", vhds: "never" },
      },
      ttlWithoutFeature: false,
      restLongPoll: true,
      nackMayBeOfOlder: { otherwise: false },
    });
    expect(dialectFor(anonymousNode, "current", {})).toEqual(dialectFor(anonymousNode));
  });
});

describe("an edition", () => {
  test.each<[Edition, readonly TypeKind[], boolean, boolean, string, boolean]>([
    ["2018", ["cds", "lds"], true, true, "none", true],
    ["2020", ["cds", "lds"], true, false, "empty-resource", true],
    ["2021", ["cds", "lds", "srds"], true, false, "empty-resource", false],
    ["current", kinds, false, false, "removed", false],
  ])(
    "%s differs from the newest where its text does",
    (edition, wildcards, sticky, ignoreHints, missing, byVersion) => {
      const dialect = dialectFor(anonymousNode, edition);
      expect(where(dialect.legacyWildcard, true)).toEqual(wildcards);
      expect(dialect).toMatchObject({ wildcardSticky: sticky, ignoreHints, nackByVersion: byVersion });
      expect(dialect.deltaMissing).toEqual({ otherwise: missing });
      expect(dialect.resourceErrors).toBe(edition === "current" ? "failed" : "off");
    },
  );
});

describe("a known client", () => {
  test("Envoy: what it waits for, what it withholds, what it means by naming nothing", () => {
    const dialect = dialectFor(named("envoy"));
    expect(where(dialect.legacyWildcard, true)).toEqual(["cds", "lds", "srds", "vhds"]);
    expect(where(dialect.deltaMissing, "none")).toEqual(["rds", "ecds"]);
    expect(where(dialect.deltaMissing, "empty-resource")).toEqual(["vhds"]);
    expect(forKind(dialect.deltaMissing, "eds")).toBe("removed");
    expect(where(dialect.deltaRemovals, "when-unreferenced")).toEqual(["ecds"]);
    expect(forKind(dialect.deltaRemovals, "lds")).toBe("at-once");
    expect(where(dialect.withheldAckLimitMs, 1_000)).toEqual(["cds"]);
    expect(where(dialect.nackMayBeOfOlder, true)).toEqual(["cds"]);
    expect([dialect.resourceErrors, dialect.errorsEndWaiting]).toEqual(["failed", false]);
    expect(where(dialect.maySplit, true)).toEqual(["eds", "sds", "rds", "leds"]);
    expect(where(dialect.ttl.delta, "never")).toEqual(["ecds", "vhds"]);
    expect(where(dialect.ttl.sotw, "never")).toEqual(["ecds", "vhds"]);
    expect(where(dialect.ttl["aggregated-sotw"], "always")).toEqual(["cds", "lds", "rtds"]);
    expect(dialect.wildcardSticky).toBe(false);
  });

  test("gRPC in any language never means everything by naming nothing", () => {
    expect(where(dialectFor(named("gRPC Go")).legacyWildcard, true)).toEqual([]);
    expect(where(dialectFor(named("gRPC C-core")).legacyWildcard, true)).toEqual([]);
  });

  test("is known by its exact name", () => {
    for (const name of ["envoys", "Envoy", "my gRPC", ""]) {
      expect(dialectFor(named(name))).toEqual(dialectFor(anonymousNode));
    }
  });

  test("beats the edition where it has a word, and the edition holds elsewhere", () => {
    const dialect = dialectFor(named("gRPC Go"), "2018");
    expect(where(dialect.legacyWildcard, true)).toEqual([]);
    expect([dialect.wildcardSticky, dialect.ignoreHints]).toEqual([true, true]);
    expect(dialectFor(named("envoy"), "2020").deltaMissing).toEqual(dialectFor(named("envoy")).deltaMissing);
  });
});

test("what an operator switched beats the client and the edition", () => {
  const dialect = dialectFor(named("gRPC Go"), "2018", { legacyWildcard: { otherwise: true }, ignoreHints: false });
  expect(dialect.legacyWildcard).toEqual({ otherwise: true });
  expect([dialect.ignoreHints, dialect.wildcardSticky]).toEqual([false, true]);
});

test("a value for one kind beats the value for all, even if it is false", () => {
  expect(forKind({ otherwise: true, cds: false }, "cds")).toBe(false);
  expect(forKind({ otherwise: true, cds: false }, "eds")).toBe(true);
  expect(forKind<number | undefined>({ otherwise: undefined, cds: 1 }, "cds")).toBe(1);
});
