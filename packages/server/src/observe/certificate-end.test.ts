import { describe, expect, test } from "vitest";
import { endOfCas, endOfChain, isExpiring } from "./certificate-end.ts";

const DAY = 24 * 60 * 60 * 1_000;

describe("a certificate is expiring", () => {
  test.each([
    ["of a year, 15 days before its end", 365 * DAY, 15 * DAY, false],
    ["of a year, 14 days before its end", 365 * DAY, 14 * DAY, true],
    ["of a day, 5 hours before its end", DAY, (5 / 24) * DAY, false],
    ["of a day, 4 hours before its end", DAY, (4 / 24) * DAY, true],
    ["of a year, after its end", 365 * DAY, -1, true],
  ])("%s", (_, lifeMs, leftMs, expected) => {
    const validToMs = Date.parse("2026-01-01");
    const dates = { subject: "a", validFromMs: validToMs - lifeMs, validToMs };
    expect(isExpiring(dates, validToMs - leftMs)).toBe(expected);
  });
});

test("what is no certificate has no end", () => {
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  expect([endOfChain(""), endOfChain("no PEM"), endOfCas(broken)]).toEqual([undefined, undefined, undefined]);
});
