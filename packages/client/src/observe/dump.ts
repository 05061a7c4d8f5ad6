import type { HeldStatus, SourceId, TypeUrl } from "@xdskit/protocol";
import { type HeldState, shownName } from "@xdskit/protocol/internal";
import type { ResourceViews, XdsResource } from "../resource/xds-resource.ts";

/** The state of one name of one type at one source (B-OBS-04, A40). */
export interface ResourceState {
  readonly source: SourceId;
  readonly type: TypeUrl;
  /** Its name; for a variant, with its constraints. */
  readonly key: string;
  readonly status: HeldStatus;
  /** The version in force, whatever the status. */
  readonly resource: XdsResource | undefined;
  /** When it was accepted, in milliseconds since 1970. */
  readonly acceptedAtMs: number | undefined;
  /** The last failure; undefined after a success. */
  readonly failure:
    | {
        readonly code: number;
        readonly message: string;
        /** The rejected version; "" if there is none. */
        readonly version: string;
        /** In milliseconds since 1970. */
        readonly atMs: number;
      }
    | undefined;
}

/** Every name that was subscribed or received, in its current state. */
export function dumpOf(
  states: Iterable<HeldState & { readonly source: SourceId }>,
  views: ResourceViews,
): readonly ResourceState[] {
  const offsetMs = Date.now() - performance.now();
  const dumped: ResourceState[] = [];
  for (const { source, type, name, status, resource, acceptedAtMs, failure } of states) {
    dumped.push({
      source,
      type,
      key: shownName(name),
      status,
      resource: resource && views.of(resource),
      acceptedAtMs: acceptedAtMs === undefined ? undefined : Math.round(acceptedAtMs + offsetMs),
      failure: failure && {
        code: failure.error.code,
        message: failure.error.message,
        version: failure.version,
        atMs: Math.round(failure.atMs + offsetMs),
      },
    });
  }
  return dumped;
}
