import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import type { TypeKind } from "@xdskit/protocol/internal";

/** The kind of a type; `opaque` if unknown. */
export function kindOf(type: TypeUrl, api: Pick<EnvoyApi, "traits">): TypeKind {
  return api.traits(type)?.kind ?? "opaque";
}
