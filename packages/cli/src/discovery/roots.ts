import { type ClientConfig, Listener, type Mesh, type MeshOptions, type XdsClient } from "@xdskit/client";
import { CommandError, exitCode } from "../exit-code.ts";

/** What to follow: everything that a proxy subscribes to, or some gRPC targets. */
export interface Roots {
  /** The targets that a gRPC client dials; empty follows everything. */
  readonly targets: readonly string[];
  /**
   * How many root subscriptions must fail before nothing can arrive; 0 if all roots are static resources of the
   * bootstrap.
   */
  readonly count: number;
}

/**
 * The roots for a client: a proxy subscribes to everything; a gRPC client only to the Listeners of its targets. Throws
 * a `CommandError` for an Envoy bootstrap with targets, or a gRPC one without. `bootstrap` is its name in errors;
 * undefined if a server was named instead.
 */
export function rootsOf(config: ClientConfig, targets: readonly string[], bootstrap: string | undefined): Roots {
  const everything = { targets: [], count: asksNothing(config) ? 0 : isSplit(config) ? 2 : 1 };
  // Without a bootstrap, the type of client is unknown.
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

/** Without a bootstrap template, a gRPC client that dials `xds:///NAME` subscribes to the Listener NAME (A47). */
function listenerOf(target: string): string {
  return target.replace(/^xds:\/\/\//, "");
}

/**
 * Follows the roots. Subscribes to listeners and clusters at once if they come from different servers, as one may be
 * down.
 */
export function followed(client: XdsClient, { targets }: Roots, onReport: MeshOptions["onReport"]): Mesh {
  const options: MeshOptions = { snapshots: "every", ...(onReport !== undefined && { onReport }) };
  if (targets.length > 0) return client.resolve(Listener, [...new Set(targets)], options);
  return client.mesh({ ...options, ...(isSplit(client.config) && { listeners: "at-once" }) });
}

/** The bootstrap has static Listeners, and no source for all listeners or clusters. */
function asksNothing({ listeners, clusters, staticResources = [] }: ClientConfig): boolean {
  const hasListener = staticResources.some(({ type }) => type.endsWith(".Listener"));
  return listeners === undefined && clusters === undefined && hasListener;
}

function isSplit({ listeners, clusters }: Pick<ClientConfig, "listeners" | "clusters">): boolean {
  return listeners !== undefined && clusters !== undefined && listeners.source.id !== clusters.source.id;
}
