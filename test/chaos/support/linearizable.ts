import { spawnSync } from "node:child_process";
import { peerCommand } from "../../e2e/support/peers.ts";

/** What the checker says of a history, in its own lines: `Ok`, `Illegal`, or `Unknown` if it did not find out in time. */
export function linearizable(lines: string): unknown {
  const [checker = "checker"] = peerCommand("porcupine") ?? [];
  const { stdout, stderr } = spawnSync(checker, { input: lines, encoding: "utf8" });
  if (stderr !== "") throw new Error(stderr);
  return (JSON.parse(stdout) as { readonly result: unknown }).result;
}
