import type { Resource, TypeUrl } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import { forKind } from "../../src/dialect/dialect.ts";
import type { ModelClient } from "./model-client.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, traits } from "./resources.ts";
import type { World } from "./world.ts";

/** Versions by type and name, with what tells them apart where a caller set them. */
export type Holdings = Readonly<Record<string, string>>;

/**
 * What a client holds and should hold, but for names whose newest word it refused, for Clusters and their endpoints that
 * something it refused to replace may use, for what is told late and, in SotW, for what cannot be taken back.
 */
export function holdingsOf(world: World, client: ModelClient): { held: Holdings; wanted: Holdings } {
  const held: Record<string, string> = {};
  const wanted: Record<string, string> = {};
  const refusedUsers = [LISTENER, ROUTE].some((type) => (client.types.get(type)?.refused.size ?? 0) > 0);
  for (const type of [CLUSTER, ENDPOINTS, LISTENER, ROUTE]) {
    const state = client.types.get(type);
    const expected = world.expected(client, type);
    const errors = world.expectedErrors(client, type);
    for (const [name, one] of expected) if (!state?.refused.has(name)) wanted[`${type}/${name}`] = contentOf(one);
    for (const [name, one] of errors) {
      if (state?.refused.has(name) || state?.refusedErrors.has(name)) continue;
      wanted[`why not ${type}/${name}`] = one.version;
      held[`why not ${type}/${name}`] = state?.errors.get(name)?.version ?? "not told";
    }
    const cannotBeSaid =
      (client.variant === "sotw" && (type === ENDPOINTS || type === ROUTE)) ||
      (client.variant === "delta" && isToldLate(world, type)) ||
      ((type === CLUSTER || type === ENDPOINTS) && refusedUsers);
    for (const [name, one] of state?.resources ?? []) {
      if (state?.refused.has(name) || (cannotBeSaid && !expected.has(name))) continue;
      // What failed for the moment is kept.
      if (errors.get(name)?.error?.code === statusCode.INTERNAL) continue;
      held[`${type}/${name}`] = contentOf(one);
    }
  }
  return { held, wanted };
}

/** What is gone is not told while something may refer to it, or never. */
function isToldLate({ dialect }: World, type: TypeUrl): boolean {
  const kind = traits(type)?.kind;
  return kind !== undefined && forKind(dialect.deltaRemovals, kind) !== "at-once";
}

function contentOf({ version, content }: Resource): string {
  return content === undefined ? version : `${version} ${content}`;
}
