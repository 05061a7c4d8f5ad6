import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { anonymousNode } from "@xdskit/protocol";
import {
  dialectFor,
  forKind,
  isPerKind,
  type PerKind,
  type SwitchField,
  switchFields,
  switchTable,
} from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import type { Case } from "../src/case.ts";
import { serverCases } from "../src/cases/server/cases.ts";
import { inV3 } from "../src/content/catalog.ts";
import { clientRequirements } from "../src/requirement/client/rules.ts";
import { clientPoints } from "../src/requirement/client-further.ts";
import { coverageOf, idsOf, isMissing } from "../src/requirement/coverage.ts";
import { editionRows } from "../src/requirement/editions.ts";
import { renderPage } from "../src/requirement/page.ts";
import { proofsIn, provesFor } from "../src/requirement/proofs.ts";
import { requirements } from "../src/requirement/requirements.ts";
import { readProofs } from "./support/proofs.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const coverage = coverageOf(requirements, serverCases, await readProofs("server"));

describe("the requirements", () => {
  test("are all proved, but for those whose time has not come", () => {
    expect(coverage.filter(isMissing).map(({ id }) => id)).toEqual([]);
  });

  test("have no id twice", () => {
    const ids = coverage.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  test("that wait for later have no proof yet", () => {
    const early = coverage.filter(
      ({ later, cases, proofs: tests }) => later !== undefined && cases.length + tests.length > 0,
    );
    expect(early.map(({ id }) => id)).toEqual([]);
  });

  test("stand on the reference page as they are here", () => {
    expect(readFileSync(`${root}docs/spec/requirements.md`, "utf8")).toBe(renderPage(requirements));
  });
});

describe("the cases", () => {
  test("prove nothing that is not listed", () => {
    const known = new Set(coverage.map(({ id }) => id));
    const unknown = serverCases.flatMap(idsOf).filter((id) => !known.has(id));
    expect(unknown).toEqual([]);
  });

  test("all wait for something that the server does", () => {
    const idle = serverCases.filter(({ steps }) =>
      steps.every(
        ({ sends = [], ends = {}, reports = [] }) => sends.length + Object.keys(ends).length + reports.length === 0,
      ),
    );
    expect(idle.map(({ id }) => id)).toEqual([]);
  });
});

/** What a switch is for the clients of a case, by the type that the case is about. */
function valueIn({ setup, steps, type }: Case, field: SwitchField): unknown {
  const agent = steps
    .flatMap((step) => ("opens" in step ? Object.values(step.opens) : []))
    .flatMap(({ node }) => (typeof node === "object" ? (node.agent ?? []) : []))[0];
  const node = { ...anonymousNode, userAgentName: agent ?? "" };
  const value: unknown = dialectFor(node, { server: setup })[field];
  return isPerKind(field) ? forKind(value as PerKind<unknown>, inV3(type)) : value;
}

describe("rows on which editions disagree", () => {
  test("name the switches that say that they are for them", () => {
    const claimed = switchFields.flatMap((field) =>
      switchTable[field].ids.filter((id) => /^E[0-9]/.test(id)).map((id) => `${id} ${field}`),
    );
    expect(editionRows.flatMap(({ id, switches }) => switches.map((field) => `${id} ${field}`)).sort()).toEqual(
      claimed.sort(),
    );
    expect(editionRows.map(({ id }) => id)).toEqual(Array.from({ length: 34 }, (_, i) => `E${i + 1}`));
  });

  test("and every switch cites requirements that there are", () => {
    const known = new Set(coverage.map(({ id }) => id));
    const cited = switchFields.flatMap((field) => switchTable[field].ids);
    expect(cited.filter((id) => !known.has(id))).toEqual([]);
  });

  const switched = editionRows.flatMap(({ id, switches }) => switches.map((field) => [id, field] as const));
  test.each(switched)("%s: cases show %s both ways", (id, field) => {
    const values = serverCases.filter((each) => idsOf(each).includes(id)).map((each) => valueIn(each, field));
    expect(new Set(values).size).toBeGreaterThan(1);
  });

  test("are not proved where there is nothing to prove", () => {
    const idle = coverage.filter(
      ({ elsewhere, cases, proofs: tests }) => elsewhere !== undefined && cases.length + tests.length > 0,
    );
    expect(idle.map(({ id }) => id)).toEqual([]);
  });
});

describe("the proofs in test files", () => {
  test("are the ids of names that begin with one", () => {
    // Put together, so that this file proves nothing by its own text.
    const names = [
      '"S-FS-14 a reader never fails"',
      '"B-GEN-01 T-I5 what is %s, with E25"',
      "`C-TTL-03 of a kind`",
      '"without an id, though S-FS-15 is named"',
      '"S-FS-1 too short an id"',
    ];
    const text = names.map((name) => `test(${name}, () => {});`).join("\n");
    expect(proofsIn("a.test.ts", text).map(({ id, name }) => `${id}: ${name}`)).toEqual([
      "S-FS-14: S-FS-14 a reader never fails",
      "B-GEN-01: B-GEN-01 T-I5 what is %s, with E25",
      "T-I5: B-GEN-01 T-I5 what is %s, with E25",
      "E25: B-GEN-01 T-I5 what is %s, with E25",
      "C-TTL-03: C-TTL-03 of a kind",
    ]);
  });

  test("name only ids that exist", async () => {
    const known = new Set([...coverage, ...clientRequirements, ...clientPoints].map(({ id }) => id));
    const all = [...(await readProofs("server")), ...(await readProofs("client"))];
    expect(all.filter(({ id }) => !known.has(id)).map(({ id, test: file }) => `${id} in ${file}`)).toEqual([]);
  });

  test.each([
    ["packages/server/test/wire/rest.test.ts", true, false],
    ["packages/protocol/src/server/order.test.ts", true, false],
    ["packages/client/test/rest.test.ts", false, true],
    ["packages/protocol/test/mesh-warming.test.ts", false, true],
    ["packages/protocol/test/property/load.test.ts", false, true],
    ["packages/conformance/test/client-library.test.ts", false, true],
    ["packages/envoy-api/test/additions.test.ts", true, true],
  ])("of %s count for the server: %s, for the client: %s", (test, server, client) => {
    expect([provesFor("server", test), provesFor("client", test)]).toEqual([server, client]);
  });
});
