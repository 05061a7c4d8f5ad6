import { setImmediate as turn } from "node:timers/promises";
import { createOwnConfigWriter, type EnvoyApi, type OwnContent, type OwnResource } from "@xdskit/envoy-api";
import {
  type ApiVersion,
  type HeldFailure,
  type HeldResource,
  type HeldState,
  type Node,
  shownName,
  type TypeUrl,
} from "@xdskit/protocol";
import { kindOf } from "../resource/kind-of.ts";

/** How a client is to tell of itself. */
export interface OwnStatusOptions {
  /** `v3` unless given. v2 knows Listeners, Clusters, routes and scopes only, and nothing of what was asked for and is not there (B-CSD-05). */
  readonly apiVersion?: ApiVersion;
  /** What tells the clients of one process apart (A71). */
  readonly scope?: string;
  /** Only names, versions and how they stand (B-CSD-04). */
  readonly excludeResourceContents?: boolean;
  /** Gives up, with its reason. */
  readonly signal?: AbortSignal;
}

/** What can tell of itself: a client. */
export interface OwnStatus {
  /**
   * An encoded `ClientStatusResponse` with one `ClientConfig`: how all stands now. Several, one behind the other, are the response of several clients. Making it
   * takes a few milliseconds of the event loop at a time.
   */
  encodeStatus(options?: OwnStatusOptions): Promise<Uint8Array>;
}

/** What is told of. */
export interface OwnState {
  readonly api: Pick<EnvoyApi, "traits" | "redacted">;
  readonly node: Node;
  /** Each as it stood at one moment. */
  readonly states: readonly HeldState[];
}

/** What is shown of a resource. */
interface Showing extends Pick<OwnState, "api"> {
  /** Not the resource itself (B-CSD-04). */
  readonly excludeResourceContents: boolean;
}

/** Then other things may happen. */
const SLICE_MS = 3;

/** All of it as `OwnStatus` says. Rejects with the reason of the signal. */
export async function encodeOwnStatus(
  { api, node, states }: OwnState,
  { apiVersion = "v3", scope = "", excludeResourceContents = false, signal }: OwnStatusOptions,
): Promise<Uint8Array> {
  const writer = createOwnConfigWriter(apiVersion, { node, scope });
  let endsAtMs = performance.now() + SLICE_MS;
  for (const resource of ownResourcesOf(states, { api, excludeResourceContents })) {
    writer.add(resource);
    if (performance.now() < endsAtMs) continue;
    await turn();
    signal?.throwIfAborted();
    endsAtMs = performance.now() + SLICE_MS;
  }
  return writer.finish();
}

/** Where every name stands, as a client tells of itself: secrets are replaced (B-OBS-04). */
function* ownResourcesOf(states: Iterable<HeldState>, options: Showing): Iterable<OwnResource> {
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
      kind: kindOf(type, options.api),
      name: shownName(name),
      status,
      held: resource && inForce(resource, acceptedAtMs),
      failure: failure && refused(type, failure),
    };
  }
}

/** What cannot be read might be a secret, and is not shown. */
function contentOf(
  { api, excludeResourceContents }: Showing,
  { bytes, ...rest }: Omit<OwnContent, "content"> & { readonly bytes: Uint8Array | undefined },
): OwnContent {
  const isShown = bytes !== undefined && !excludeResourceContents;
  return { ...rest, content: isShown ? api.redacted(rest.type, bytes) : undefined };
}
