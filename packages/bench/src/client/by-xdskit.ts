import { Cluster, createXdsClient } from "@xdskit/client";
import { runProgram } from "./program.ts";

// Measures @xdskit/client: node by-xdskit.js ADDRESS delta|sotw [--no-pgv]

const [, , address = "", variant] = process.argv;
const client = await createXdsClient({
  server: address,
  transport: { variant: variant === "sotw" ? "sotw" : "delta" },
  validation: { clientPgv: !process.argv.includes("--no-pgv") },
  node: "bench",
});
await runProgram((tally) => {
  const watch = (name?: string): void => {
    client.watch(Cluster, name, {
      onChange(change) {
        if (change.kind === "error") throw change.error;
        if (change.kind !== "added" && change.kind !== "changed") return;
        if (change.kind === "added") tally.bytes += change.resource.bytes.length;
        tally.told();
      },
    });
  };
  return { watchAll: () => watch(), watchEach: (names) => names.forEach(watch) };
});
await client.close();
