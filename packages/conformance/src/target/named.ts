import type { ClientTarget } from "./client-target.ts";
import { createGoControlPlane } from "./go-control-plane.ts";
import { createProgramTarget } from "./program.ts";
import type { Target } from "./target.ts";

/** The client target of a name on the command line; undefined if the name is not a client's. */
export async function clientTargetNamed(name: string): Promise<ClientTarget | undefined> {
  return name === "our-client" ? (await import("./our-client.ts")).createOurClient() : undefined;
}

/**
 * The server target of a name on the command line; a name with a slash is a program. Undefined if it cannot run on this
 * machine.
 */
export async function targetNamed(name: string): Promise<Target | undefined> {
  if (name === "ours") return (await import("./ours.ts")).createOurs();
  if (name === "go-control-plane") return createGoControlPlane();
  if (name.includes("/")) return createProgramTarget(name, name, { deadlineMs: 1_000, quietMs: 150, hasFence: false });
  throw new Error(`expected "ours", "go-control-plane" or the path of a program, got "${name}"`);
}
