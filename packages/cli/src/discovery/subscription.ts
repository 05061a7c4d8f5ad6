import type { PeerStream, WirePeer } from "@xdskit/conformance";
import {
  type DiscoveryMethod,
  discoveryMethods,
  type EnvoyApi,
  encodeDeltaRequest,
  encodeSotwRequest,
} from "@xdskit/envoy-api";
import type { Node, Status, TypeUrl, Variant } from "@xdskit/protocol";
import { CommandError, exitCode } from "../exit-code.ts";
import { type Answer, HeldResources } from "./held.ts";

/** What to ask for, and as whom. */
export interface SubscriptionOptions {
  readonly api: EnvoyApi;
  readonly type: TypeUrl;
  /** None: everything. */
  readonly names: readonly string[];
  readonly node: Node;
  readonly variant: Variant;
  /** A stream of its own for the type, instead of the aggregated one. */
  readonly isPerType: boolean;
  /** What is held from an earlier stream. */
  readonly held?: HeldResources;
}

/** One type asked for on one stream; every response is acknowledged. */
export interface Subscription {
  /** Ends with the stream. */
  readonly answers: AsyncIterable<Answer>;
  readonly status: Promise<Status>;
  readonly held: HeldResources;
  cancel(): void;
}

/** Opens a stream and asks. Throws a `CommandError` if the type has no stream of its own. */
export function subscribe(peer: WirePeer, options: SubscriptionOptions): Subscription {
  const { api, type, variant } = options;
  const held = options.held ?? new HeldResources(api, type, variant);
  const stream = peer.open(methodOf(options));
  stream.send(firstRequest(options, held));
  return { answers: readAnswers(stream, options, held), status: stream.status, held, cancel: () => stream.cancel() };
}

function methodOf({ type, variant, isPerType }: SubscriptionOptions): string {
  const onlyType = isPerType ? type : undefined;
  const isWanted = (one: DiscoveryMethod): boolean =>
    one.call === variant && one.onlyType === onlyType && one.apiVersion === "v3";
  const method = discoveryMethods.find(isWanted);
  if (method !== undefined) return method.path;
  throw new CommandError(exitCode.usage, `${type} has no ${variant} stream of its own`, "leave --per-type off");
}

function firstRequest({ node, type, names, variant, api }: SubscriptionOptions, held: HeldResources): Uint8Array {
  if (variant === "sotw") return encodeSotwRequest({ node, typeUrl: type, resourceNames: sotwNames(api, type, names) });
  return encodeDeltaRequest({
    node,
    typeUrl: type,
    resourceNamesSubscribe: names.length === 0 ? ["*"] : names,
    initialResourceVersions: held.versions,
  });
}

/** Every server takes an empty list for all Listeners or Clusters; of other types, all are asked for by name. */
function sotwNames(api: EnvoyApi, type: TypeUrl, names: readonly string[]): readonly string[] {
  return names.length > 0 || api.traits(type)?.isFullState === true ? names : ["*"];
}

async function* readAnswers(
  stream: PeerStream,
  { api, type, names, variant }: SubscriptionOptions,
  held: HeldResources,
): AsyncIterable<Answer> {
  for await (const message of stream.messages) {
    const answer = held.take(message);
    const { nonce: responseNonce, version: versionInfo } = answer;
    stream.send(
      variant === "delta"
        ? encodeDeltaRequest({ typeUrl: type, responseNonce })
        : encodeSotwRequest({ typeUrl: type, responseNonce, versionInfo, resourceNames: sotwNames(api, type, names) }),
    );
    yield answer;
  }
}
