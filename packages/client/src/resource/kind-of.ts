import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeKind, TypeUrl } from "@xdskit/protocol";

/** The kind of a type; `opaque` if unknown. */
export function kindOf(type: TypeUrl, api: Pick<EnvoyApi, "traits">): TypeKind {
  return api.traits(type)?.kind ?? "opaque";
}
