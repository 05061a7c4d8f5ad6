// SPDX-License-Identifier: Apache-2.0
// The tests that are run against mutants, as one file, so that they are loaded once: those of the server's half of the
// protocol, and the cases in memory. Left out are tests of tests (gates) and of speed (budgets), which take most of the time.
import fc from "fast-check";
import { describe } from "vitest";

// One counterexample detects a mutant; the smallest takes longer.
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });

const files = import.meta.glob([
  "../../packages/protocol/src/{server,state}/**/*.test.ts",
  "../../packages/protocol/test/**/*.test.ts",
  "../../packages/conformance/test/in-memory.test.ts",
  "!../../packages/protocol/test/{bare-context,budgets,fuses,ledger-*,mesh*}.test.ts",
  "!../../packages/protocol/test/property/{fuses,gates,ledger-state,load,mesh}.test.ts",
]);

for (const [path, load] of Object.entries(files)) describe(path.replace("../../packages/", ""), load);
