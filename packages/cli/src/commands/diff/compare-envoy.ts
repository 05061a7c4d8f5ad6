import type { EnvoyApi } from "@xdskit/envoy-api";
import type { NodeResourceAnswer } from "@xdskit/server";
import { endpointsIn, shownTypes } from "@xdskit/server/envoy-dump";
import { resourceValue } from "../../discovery/resource-value.ts";
import { differencesIn, type FieldDifference } from "./compare.ts";
import type { EnvoyResource } from "./envoy-dump.ts";

/**
 * What Envoy has of a resource, compared with what the server knows:
 *
 * - `same`: what the server says.
 * - `other-version`: something else.
 * - `missing`: the server says that Envoy has it, and Envoy does not show it.
 * - `extra`: Envoy has it from a server, and this server does not know that.
 */
export type EnvoyVerdict = "same" | "other-version" | "missing" | "extra";

export interface EnvoyComparison {
  readonly type: string;
  readonly name: string;
  readonly verdict: EnvoyVerdict;
  /** The status at the server; absent for `extra`. */
  readonly status?: NodeResourceAnswer["status"];
  readonly fields?: readonly FieldDifference[];
}

/** Compares resource by resource. Types that Envoy does not show are left out. */
export function compareWithEnvoy(
  known: readonly NodeResourceAnswer[],
  held: readonly EnvoyResource[],
  api: EnvoyApi,
): readonly EnvoyComparison[] {
  const inEnvoy = new Map(held.map((resource) => [keyOf(resource), resource]));
  const atServer = new Map<string, NodeResourceAnswer>();
  for (const resource of known)
    if (shownTypes.has(resource.shortName ?? "") && resource.version !== undefined)
      atServer.set(keyOf(resource), resource);
  const compared: EnvoyComparison[] = [];
  for (const [key, { type, shortName, name, status, version, body }] of atServer) {
    const found = inEnvoy.get(key);
    const about = { type, name, status } as const;
    if (found !== undefined) {
      const fields = found.version === version ? [] : fieldsBetween(body, found.value, { api, shortName });
      compared.push(
        fields.length === 0 ? { ...about, verdict: "same" } : { ...about, verdict: "other-version", fields },
      );
    } else if (status === "acked") compared.push({ ...about, verdict: "missing" });
  }
  for (const [key, { type, name }] of inEnvoy) if (!atServer.has(key)) compared.push({ type, name, verdict: "extra" });
  return compared.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf({ type, name }: { readonly type: string; readonly name: string }): string {
  return JSON.stringify([type, name]);
}

/** State of the World versions are of whole responses, so the content decides. */
function fieldsBetween(
  atServer: unknown,
  inEnvoy: unknown,
  { api, shortName }: { readonly api: EnvoyApi; readonly shortName: string | undefined },
): readonly FieldDifference[] {
  if (shortName === "eds") {
    const path = "endpoints";
    const [a, b] = [endpointsIn(atServer), endpointsIn(inEnvoy)];
    return a.join() === b.join() ? [] : [{ path, a, b }];
  }
  const { input } = api.readResource(inEnvoy);
  const value = input === undefined ? inEnvoy : resourceValue(input, { api, showsSecrets: false });
  return [...differencesIn(atServer, value, "")];
}
