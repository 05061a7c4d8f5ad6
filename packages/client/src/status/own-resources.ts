import type { EnvoyApi, OwnContent, OwnResource } from "@xdskit/envoy-api";
import { type HeldFailure, type HeldResource, type HeldState, shownName, type TypeUrl } from "@xdskit/protocol";

/** What is shown of a client's resources. */
export interface OwnResourceOptions {
  readonly api: Pick<EnvoyApi, "traits" | "redacted">;
  /** Not the resources themselves (B-CSD-04). */
  readonly excludeResourceContents: boolean;
}

/** Where every name stands, as a client tells of itself: secrets are replaced (B-OBS-04). */
export function* ownResourcesOf(states: Iterable<HeldState>, options: OwnResourceOptions): Iterable<OwnResource> {
  const offsetMs = Date.now() - performance.now();
  const inForce = (resource: HeldResource, atMs: number | undefined): OwnContent =>
    contentOf(options, {
      type: resource.bodyType ?? resource.type,
      bytes: resource.bytes,
      version: resource.version,
      updatedAt: atMs === undefined ? undefined : Math.round(atMs + offsetMs),
    });
  const refused = (type: TypeUrl, { bytes, version, atMs, error }: HeldFailure): OwnResource["failure"] => ({
    ...contentOf(options, { type, bytes, version, updatedAt: Math.round(atMs + offsetMs) }),
    details: error.message,
  });
  for (const { type, name, status, resource, acceptedAtMs, failure } of states) {
    yield {
      type,
      kind: options.api.traits(type)?.kind ?? "opaque",
      name: shownName(name),
      status,
      held: resource && inForce(resource, acceptedAtMs),
      failure: failure && refused(type, failure),
    };
  }
}

/** What cannot be read might be a secret, and is not shown. */
function contentOf(
  { api, excludeResourceContents }: OwnResourceOptions,
  { bytes, ...rest }: Omit<OwnContent, "content"> & { readonly bytes: Uint8Array | undefined },
): OwnContent {
  const isShown = bytes !== undefined && !excludeResourceContents;
  return { ...rest, content: isShown ? api.redacted(rest.type, bytes) : undefined };
}
