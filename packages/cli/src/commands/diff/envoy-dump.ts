import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import { type DumpedResource, readConfigDump } from "@xdskit/server/envoy-dump";

/** A resource that Envoy was given by a server. */
export interface EnvoyResource extends DumpedResource {
  readonly type: TypeUrl;
}

/** The dynamic resources in the answer of `/config_dump?include_eds`, of types that are known; undefined if it is none. */
export function envoyResourcesIn(dump: unknown, api: EnvoyApi): readonly EnvoyResource[] | undefined {
  return readConfigDump(dump)?.flatMap((resource) => {
    const type = api.typeNamed(resource.shortName);
    return type === undefined ? [] : [{ ...resource, type }];
  });
}
