import type { EnvoyApi } from "@xdskit/envoy-api";
import type { ApiVersion, TypeUrl } from "@xdskit/protocol";

/** What follows `/v3/discovery:`; the spellings differ as they do in the protocol (requirements 1.2). */
const nouns: ReadonlyMap<string, string> = new Map([
  ["lds", "listeners"],
  ["rds", "routes"],
  ["srds", "scoped-routes"],
  ["cds", "clusters"],
  ["eds", "endpoints"],
  ["sds", "secrets"],
  ["rtds", "runtime"],
  ["ecds", "extension_configs"],
]);

/** Where resources of a type are polled, such as `/v3/discovery:clusters`; undefined for a type that has no such path. */
export function restPathOf(type: TypeUrl, version: ApiVersion, api: EnvoyApi): string | undefined {
  const entry = api.types.find((one) => one.type === type || one.v2Twin === type);
  const noun = nouns.get(entry?.shortName ?? "");
  if (noun === undefined || (version === "v2" && entry?.v2Twin === undefined)) return undefined;
  return `/${version}/discovery:${noun}`;
}
