import { setImmediate as turn } from "node:timers/promises";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { createOwnConfigWriter, type OwnContent, type OwnResource } from "@xdskit/envoy-api/internal";
import type { ApiVersion, Node, TypeUrl } from "@xdskit/protocol";
import { type HeldFailure, type HeldResource, type HeldState, shownName } from "@xdskit/protocol/internal";
import { kindOf } from "../resource/kind-of.ts";

/** Options of a client status. */
export interface OwnStatusOptions {
  /**
   * The API version. v2 has only Listeners, Clusters, routes and scopes, and no resources that do not exist (B-CSD-05).
   * @default "v3"
   */
  readonly apiVersion?: ApiVersion;
  /** Tells the clients of one process apart (A71). */
  readonly scope?: string;
  /** Only names, versions and states (B-CSD-04). */
  readonly excludeResourceContents?: boolean;
  /** Cancels the call, which rejects with the abort reason. */
  readonly signal?: AbortSignal | undefined;
}

/** An object with a client status: a client. */
export interface OwnStatus {
  /**
   * Encodes a `ClientStatusResponse` with one `ClientConfig` of the current state. Concatenated, the results of several
   * clients form one response. It occupies the event loop for a few milliseconds at a time.
   */
  encodeStatus(options?: OwnStatusOptions): Promise<Uint8Array>;
}

/** The state to encode. */
export interface OwnState {
  readonly api: Pick<EnvoyApi, "traits" | "redacted">;
  readonly node: Node;
  /** Each state as of one moment. */
  readonly states: readonly HeldState[];
}

/** What to show of a resource. */
interface Showing extends Pick<OwnState, "api"> {
  /** Leave the resource itself out (B-CSD-04). */
  readonly excludeResourceContents: boolean;
}

/** The time after which other events get a turn, in milliseconds. */
const SLICE_MS = 3;

/** Encodes a state as `OwnStatus` describes. Rejects with the abort reason of the signal. */
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

/** The state of every name for the client status, with secrets redacted (B-OBS-04). */
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

/** Omits what cannot be read, because it may be a secret. */
function contentOf(
  { api, excludeResourceContents }: Showing,
  { bytes, ...rest }: Omit<OwnContent, "content"> & { readonly bytes: Uint8Array | undefined },
): OwnContent {
  const isShown = bytes !== undefined && !excludeResourceContents;
  return { ...rest, content: isShown ? api.redacted(rest.type, bytes) : undefined };
}
