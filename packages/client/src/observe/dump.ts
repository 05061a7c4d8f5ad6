import { type HeldState, type HeldStatus, type SourceId, shownName, type TypeUrl } from "@xdskit/protocol";
import type { ResourceViews, XdsResource } from "../resource/xds-resource.ts";

/** One name of one type at one source: what is held of it, and how it stands (B-OBS-04, A40). */
export interface ResourceState {
  readonly source: SourceId;
  readonly type: TypeUrl;
  /** Its name; of a variant with its constraints. */
  readonly key: string;
  readonly status: HeldStatus;
  /** What is in force, whatever the status. */
  readonly resource: XdsResource | undefined;
  /** When that was accepted, in milliseconds since 1970. */
  readonly acceptedAtMs: number | undefined;
  /** What went wrong last, if nothing better followed. */
  readonly failure:
    | {
        readonly code: number;
        readonly message: string;
        /** Of what was refused; "" where there is none. */
        readonly version: string;
        /** In milliseconds since 1970. */
        readonly atMs: number;
      }
    | undefined;
}

/** Every name that was asked for or came, as it stands now. */
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
