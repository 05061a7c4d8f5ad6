import { type ClientConfig, Listener, type Mesh, type MeshOptions, type XdsClient } from "@xdskit/client";
import { CommandError, exitCode } from "../exit-code.ts";

/** What is followed: all that a proxy gets, or what some targets lead to. */
export interface Roots {
  /** What a gRPC client dials; none: everything. */
  readonly targets: readonly string[];
  /** How many things that nothing else leads to have to fail before nothing can come; 0: all of them stand in the bootstrap. */
  readonly count: number;
}

/**
 * A proxy asks for everything; a client of gRPC only for the Listeners of what it dials, so these have to be said. Throws a `CommandError` if they are
 * said to the wrong one. `bootstrap` is how it is called; undefined: a server was named instead.
 */
export function rootsOf(config: ClientConfig, targets: readonly string[], bootstrap: string | undefined): Roots {
  const everything = { targets: [], count: asksNothing(config) ? 0 : isSplit(config) ? 2 : 1 };
  // Nobody knows what asks a server that is named by its address.
  if (bootstrap === undefined) return targets.length === 0 ? everything : namedBy(targets.map(listenerOf));
  if (config.mode === "proxy") {
    if (targets.length > 0) {
      const hint = "an Envoy asks for everything: leave them out";
      throw new CommandError(exitCode.usage, `${bootstrap} is of an Envoy, which dials no targets`, hint);
    }
    return everything;
  }
  if (targets.length === 0) {
    const hint = "name what it dials, such as xds:///my-service";
    throw new CommandError(exitCode.usage, `${bootstrap} is of a gRPC client, which asks only for what it dials`, hint);
  }
  return namedBy(targets);
}

function namedBy(targets: readonly string[]): Roots {
  return { targets, count: new Set(targets).size };
}

/** Without a bootstrap that says otherwise, a gRPC client that dials `xds:///NAME` asks for a Listener of that name (A47). */
function listenerOf(target: string): string {
  return target.replace(/^xds:\/\/\//, "");
}

/** Follows them. What comes from several servers is asked for at once: the one may answer while the other is away. */
export function followed(client: XdsClient, { targets }: Roots, onReport: MeshOptions["onReport"]): Mesh {
  const options: MeshOptions = { snapshots: "every", ...(onReport !== undefined && { onReport }) };
  if (targets.length > 0) return client.resolve(Listener, [...new Set(targets)], options);
  return client.mesh({ ...options, ...(isSplit(client.config) && { listeners: "at-once" }) });
}

/** Its Listeners stand in the bootstrap, and it says of nothing where everything of a type comes from. */
function asksNothing({ listeners, clusters, staticResources = [] }: ClientConfig): boolean {
  const hasListener = staticResources.some(({ type }) => type.endsWith(".Listener"));
  return listeners === undefined && clusters === undefined && hasListener;
}

function isSplit({ listeners, clusters }: Pick<ClientConfig, "listeners" | "clusters">): boolean {
  return listeners !== undefined && clusters !== undefined && listeners.source.id !== clusters.source.id;
}
