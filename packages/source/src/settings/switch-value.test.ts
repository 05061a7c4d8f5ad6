import { formatSwitch, switchFields, switchNameOf, switchTable } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { settingTable } from "./setting-table.ts";
import { readServerSwitches, readSwitch } from "./switch-value.ts";

describe("switches as flags give them", () => {
  test("come to one dialect; of the same the last counts, and one for all replaces those of some", () => {
    const { overrides, troubles } = readServerSwitches([
      "deltaMissing.rds=none",
      "deltaMissing=removed",
      "deltaMissing.eds=empty-resource",
      "wildcardSticky=false",
      "wildcardSticky=true",
      "wildcardTypes.srds=delta",
      "wildcardTypes.rds=false",
      "resumeGrace=2s",
    ]);
    expect(troubles).toEqual([]);
    expect(overrides).toEqual({
      deltaMissing: { otherwise: "removed", eds: "empty-resource" },
      wildcardSticky: true,
      wildcardTypes: { srds: "delta", rds: false },
      resumeGraceMs: 2_000,
    });
  });

  test("may be wrong in their name, kind or value; each is told", () => {
    const { overrides, troubles } = readServerSwitches([
      "deltaMising=none",
      "deltaMissing.rsd=none",
      "deltaMissing=nothing",
      "ignoreHints.cds=true",
      "ignoreHints",
      "makeBeforeBreak=false",
      "ttlWithoutFeature=true",
      "somethingElse=1",
      "staleNonce=ignore",
    ]);
    expect(overrides).toEqual({ staleNonce: "ignore" });
    expect(troubles.slice(0, -1)).toEqual([
      '"deltaMising=none": expected a switch, got "deltaMising" (did you mean "deltaMissing"?)',
      '"deltaMissing.rsd=none": expected a kind of resource, got "rsd" (did you mean "rds"?)',
      '"deltaMissing=nothing": expected one of removed, empty-resource, none, got "nothing"',
      '"ignoreHints.cds=true": ignoreHints is the same for every kind of resource',
      '"ignoreHints": expected NAME=VALUE, got "ignoreHints" (such as deltaMissing=none or deltaMissing.rds=none)',
      '"makeBeforeBreak=false": makeBeforeBreak has a setting of its own for the whole server (write make-before-break: false)',
      '"ttlWithoutFeature=true": ttlWithoutFeature has a setting of its own for the whole server (write ttl-without-feature: true)',
    ]);
    expect(troubles.at(-1)).toMatch(
      /^"somethingElse=1": expected a switch, got "somethingElse" \(there are wildcardTypes, /,
    );
  });
});

test("every value that a switch has in an edition can be written, and is read as it was", () => {
  for (const field of switchFields) {
    const { current, older = {} } = switchTable[field];
    for (const value of [current, ...Object.values(older)]) {
      const each = typeof value === "object" ? Object.entries(value) : [["otherwise", value] as const];
      for (const [kind, one] of each.filter(([, given]) => given !== undefined)) {
        const name = kind === "otherwise" ? switchNameOf(field) : `${switchNameOf(field)}.${kind}`;
        const read = readSwitch(name, formatSwitch(field, one));
        expect([name, "value" in read && String(read.value)]).toEqual([name, String(one)]);
      }
    }
  }
});

test("a setting that is a switch has the default of the newest edition", () => {
  const settings = switchFields.flatMap((field) => {
    const { setting, current } = switchTable[field];
    return setting === undefined ? [] : [[setting, formatSwitch(field, current)] as const];
  });
  expect(settings.length).toBeGreaterThan(3);
  for (const [key, value] of settings) {
    const row = settingTable.find((one) => one.key === key);
    expect([key, row?.default ?? "false"]).toEqual([key, value]);
  }
});
