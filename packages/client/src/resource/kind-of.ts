import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeKind, TypeUrl } from "@xdskit/protocol";

/** What a type is of; `opaque` if nobody knows it. */
export function kindOf(type: TypeUrl, api: Pick<EnvoyApi, "traits">): TypeKind {
  return api.traits(type)?.kind ?? "opaque";
}
