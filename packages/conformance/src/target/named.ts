import { createGoControlPlane } from "./go-control-plane.ts";
import type { Target } from "./target.ts";

/** The target of a name on the command line. Undefined: it cannot run on this machine. */
export async function targetNamed(name: string): Promise<Target | undefined> {
  if (name === "ours") return (await import("./ours.ts")).createOurs();
  if (name === "go-control-plane") return createGoControlPlane();
  throw new Error(`no target is called "${name}"`);
}
