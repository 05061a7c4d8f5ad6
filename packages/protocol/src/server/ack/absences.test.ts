import { describe, expect, test } from "vitest";
import { cluster } from "../../../test/support/layers.ts";
import { CLUSTER } from "../../../test/support/resources.ts";
import type { Body } from "../../message/body.ts";
import { absencesIn, withoutAbsences } from "./absences.ts";

const puts = [cluster("p", "1")];
const body: Body = {
  ...{ variant: "delta", type: CLUSTER, version: "v" },
  segments: [
    { puts, removed: ["r", "s"], missing: [] },
    { puts: [], removed: [], missing: ["m".repeat(257)], errors: [cluster("e", "1"), cluster("f", "1")] },
  ],
};
const none = (): boolean => false;

describe("the absences in a body", () => {
  test("are removals that answer a request, missing names, and errors of subscribed names", () => {
    const answered = new Set(["r"]);
    expect(absencesIn(body, answered, (name) => name === "e")).toEqual({ answered, counted: 4 });
    expect(absencesIn(body, undefined, none)).toEqual({ answered: new Set(), counted: 2 });
  });

  test("are none where there are only resources and their removals", () => {
    expect(absencesIn({ ...body, segments: body.segments.slice(0, 1) }, undefined, none)).toBeUndefined();
  });

  test("are left out of the body that is remembered", () => {
    const absences = { answered: new Set(["r"]), counted: 4 };
    expect(withoutAbsences(body, absences).segments).toEqual([
      { puts, removed: ["s"], missing: [] },
      { puts: [], removed: [], missing: [] },
    ]);
  });

  test("S-TTL-12 stay in one that heartbeats repeat: a State of the World with TTLs", () => {
    const absences = { answered: new Set<string>(), counted: 2 };
    const isKept = (what: Partial<Body>): boolean => {
      const whole: Body = { ...body, ...what };
      return withoutAbsences(whole, absences) === whole;
    };
    expect([
      isKept({ variant: "sotw", ttls: "told" }),
      isKept({ variant: "sotw" }),
      isKept({ variant: "delta", ttls: "told" }),
    ]).toEqual([true, false, false]);
  });
});
