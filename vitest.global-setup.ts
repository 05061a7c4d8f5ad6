import { rmSync } from "node:fs";
import type { TestProject } from "vitest/node";

/** The state of servers that tests start as processes goes when all tests are over. */
export function setup({ config }: TestProject): () => void {
  const directory = config.env["XDG_STATE_HOME"];
  return () => {
    if (typeof directory === "string") rmSync(directory, { recursive: true, force: true });
  };
}
