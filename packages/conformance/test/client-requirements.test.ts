import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { clientSwitchTable } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { clientCases } from "../src/cases/client/cases.ts";
import { clientRequirements } from "../src/requirement/client/rules.ts";
import { clientPoints } from "../src/requirement/client-further.ts";
import { coverageOf, idsOf, isMissing } from "../src/requirement/coverage.ts";
import { renderClientPage } from "../src/requirement/page.ts";
import { requirements } from "../src/requirement/requirements.ts";
import { readProofs } from "./support/proofs.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const coverage = coverageOf(clientRequirements, clientCases, await readProofs("client"), clientPoints);

describe("the client's requirements", () => {
  test("are all proved, but for those whose time has not come", () => {
    expect(coverage.filter(isMissing).map(({ id }) => id)).toEqual([]);
  });

  test("have no id twice", () => {
    const ids = coverage.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  test("that wait for later have no proof yet", () => {
    const early = coverage.filter(
      ({ later, cases, proofs }) => later !== undefined && cases.length + proofs.length > 0,
    );
    expect(early.map(({ id }) => id)).toEqual([]);
  });

  test("bind the client, and speak of every rule that binds both sides", () => {
    const ids = new Set(clientRequirements.map(({ id }) => id));
    expect([...ids].filter((id) => !/^[BC]-/.test(id))).toEqual([]);
    expect(requirements.map(({ id }) => id).filter((id) => id.startsWith("B-") && !ids.has(id))).toEqual([]);
  });

  test("stand on their reference page as they are here", () => {
    expect(readFileSync(`${root}docs/spec/client-requirements.md`, "utf8")).toBe(renderClientPage(clientRequirements));
  });

  test("are those that the client's switches cite", () => {
    const known = new Set(coverage.map(({ id }) => id));
    const cited = Object.values(clientSwitchTable).flatMap(({ ids }) => ids);
    expect(cited.filter((id) => !known.has(id))).toEqual([]);
  });
});

describe("the client's cases", () => {
  test("prove nothing that is not listed", () => {
    const known = new Set(coverage.map(({ id }) => id));
    expect(clientCases.flatMap(idsOf).filter((id) => !known.has(id))).toEqual([]);
  });

  test("have names of their own", () => {
    const names = clientCases.map(({ id, variant }) => `${id} ${variant}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });
});
