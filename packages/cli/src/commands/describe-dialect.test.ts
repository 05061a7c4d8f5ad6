import { expect, test } from "vitest";
import { describeDialects } from "./describe-dialect.ts";

const stream = { apiVersion: "v3", variant: "delta", peer: "10.0.0.7:40000" } as const;

test("nothing was chosen", () => {
  const dialect = { edition: "current", switches: [] };
  expect(describeDialects([{ ...stream, stream: 1, dialect }])).toEqual(["current (the default)"]);
  expect(describeDialects([{ ...stream, stream: 1 }])).toEqual([]);
});

test("who chose what, for each stream that differs", () => {
  const usual = { edition: "2021", editionBy: "server", client: "Envoy", listener: ":18000", switches: [] };
  const old = {
    edition: "2018",
    editionBy: "listener",
    listener: ":18002",
    clients: "clients[0]",
    switches: [
      { name: "deltaMissing.rds", value: "none", by: "clients" },
      { name: "orderLimit", value: "5s", by: "server" },
    ],
  };
  const streams = [usual, old, usual].map((dialect, index) => ({ ...stream, stream: index + 1, dialect }));
  expect(describeDialects(streams)).toEqual([
    "#1, #3: 2021 (server), known as Envoy",
    "#2: 2018 (listener :18002), deltaMissing.rds=none (clients[0]), orderLimit=5s (server)",
  ]);
});
