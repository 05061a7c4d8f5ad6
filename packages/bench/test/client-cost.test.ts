import { expect, test } from "vitest";
import type { ClientCell } from "../src/client/cells.ts";

// The programs that are measured are processes, so what was built is run.
const built = new URL("../dist/client/client-cost.js", import.meta.url).href;

test("clients are measured in all the ways that the table has", { timeout: 60_000 }, async () => {
  const { measureClients } = (await import(built)) as typeof import("../src/client/client-cost.ts");
  const subjects = ["xdskit", "grpc-js by hand"] as const;
  const cells: readonly ClientCell[] = [
    { variant: "delta", asks: "all", clusters: 20, changes: 1, subjects, isLong: false },
    { variant: "sotw", asks: "names", clusters: 20, changes: 20, subjects, isLong: false },
  ];
  const said: string[] = [];
  const options = { cells, isLong: false, runs: 1, rounds: 1, tools: "", said: (text: string) => said.push(text) };
  const tables: string[] = [];
  for await (const table of measureClients(options)) tables.push(table);
  expect(said.filter((text) => text.includes("failed"))).toEqual([]);
  expect(
    tables.map((text) =>
      text
        .replace(/\| -?[\d.,e+]+(?= \|)/g, "| N")
        .split("\n")
        .slice(2),
    ),
  ).toEqual([
    [
      "| 20, delta, 1 change | xdskit | N | N | N | N | N | N | N | N |",
      "| 20, delta, 1 change | grpc-js by hand | N | N | N | N | N | N | N | N |",
    ],
    [
      "| 20 by name, SotW, 20 changes | xdskit | N | N | N | N | N | N | N | N |",
      "| 20 by name, SotW, 20 changes | grpc-js by hand | N | N | N | N | N | N | N | N |",
    ],
  ]);
});
