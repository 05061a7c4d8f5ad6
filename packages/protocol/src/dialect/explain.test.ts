import { expect, test } from "vitest";
import { anonymousNode } from "../node/node.ts";
import { explainDialect, formatSwitch } from "./explain.ts";

test("nobody chose anything", () => {
  expect(explainDialect(anonymousNode, {})).toEqual({
    edition: "current",
    editionBy: undefined,
    client: undefined,
    listener: undefined,
    clients: undefined,
    switches: [],
  });
});

test("who chose what, and what of it counts", () => {
  const node = { ...anonymousNode, userAgentName: "envoy" };
  const explained = explainDialect(node, {
    server: { edition: "2018", dialect: { orderLimitMs: 5_000, deltaMissing: { rds: "removed" } } },
    listener: { name: "127.0.0.1:18002", edition: "2020", dialect: { deltaMissing: "none" } },
    clients: { name: "clients[0]", dialect: { deltaMissing: { eds: "removed" }, orderLimitMs: 90_000 } },
  });
  expect(explained).toEqual({
    edition: "2020",
    editionBy: "listener",
    client: "Envoy",
    listener: "127.0.0.1:18002",
    clients: "clients[0]",
    switches: [
      { name: "deltaMissing.eds", value: "removed", by: "clients" },
      { name: "orderLimit", value: "90s", by: "clients" },
      { name: "deltaMissing", value: "none", by: "listener" },
    ],
  });
});

test.each([
  ["orderLimitMs", 30_000, "30s"],
  ["orderLimitMs", 1_500, "1500ms"],
  ["orderLimitMs", 0, "0s"],
  ["maxResponseBytes", 3.5 * 1024 * 1024, "3584KiB"],
  ["wildcardSticky", true, "true"],
  ["deltaMissing", { otherwise: "removed", rds: "none" }, "removed, rds: none"],
  ["withheldAckLimitMs", { otherwise: undefined, cds: 1_000 }, "not set, cds: 1s"],
] as const)("%s is written as settings are", (field, value, text) => {
  expect(formatSwitch(field, value)).toBe(text);
});
