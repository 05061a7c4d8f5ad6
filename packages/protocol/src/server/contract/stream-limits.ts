import type { DiscoveryRequest } from "../../message/request.ts";
import type { Peer } from "../../node/node-mapping.ts";

/**
 * Limits on what one client may make a stream hold; a stream beyond a limit ends with RESOURCE_EXHAUSTED. Undefined: no
 * limit.
 */
export interface StreamLimits {
  /**
   * Names subscribed to, over all types; one counts for each 256 characters that it has or begins, and further
   * parameters for everything or for a collection count as 1,000. As many more are kept for responses that were not
   * accepted.
   */
  readonly maxSubscriptionsPerStream?: number | undefined;
  /** Types requested, known and unknown. */
  readonly maxTypesPerStream?: number | undefined;
  /** Responses of one type without ACK or NACK; heartbeats do not count. */
  readonly maxUnacknowledgedPerType?: number | undefined;
}

/** Whom the use of a server counts for: the identity of a certificate, or an address. */
export interface Account {
  readonly key: string;
  readonly by: "identity" | "address";
}

/** Limits on what the streams and polls of an account hold; the one that exceeds a limit ends with RESOURCE_EXHAUSTED. */
export interface AccountLimits {
  /** Undefined: no limit. */
  readonly accountOf?: ((peer: Peer) => Account) | undefined;
  /** Names that the streams of one address subscribe to or keep, over all types, counted in the same way. */
  readonly maxSubscriptionsPerPeer?: number | undefined;
  /** The same for one identity. */
  readonly maxSubscriptionsPerIdentity?: number | undefined;
  /** Estimated bytes of memory of what all streams and waiting polls say of themselves, as it is decoded. */
  readonly maxClientBytes?: number | undefined;
  /** Of those of one address. */
  readonly maxClientBytesPerPeer?: number | undefined;
  /** The same for one identity. */
  readonly maxClientBytesPerIdentity?: number | undefined;
}

/** The name of a limit on what accounts hold. */
export type AccountLimit = Exclude<keyof AccountLimits, "accountOf">;

/**
 * Limits on what is remembered of pollers between their polls, in bytes. Beyond one, the pollers that have not polled for
 * longest are forgotten. Undefined: no limit.
 */
export interface PollerLimits extends Pick<AccountLimits, "accountOf"> {
  readonly maxPollerBytes?: number | undefined;
  /** Of the pollers at one address. */
  readonly maxPollerBytesPerPeer?: number | undefined;
  /** The same for one identity. */
  readonly maxPollerBytesPerIdentity?: number | undefined;
}

/** Why a poller is forgotten before its time. */
export interface Eviction {
  readonly limit: Exclude<keyof PollerLimits, "accountOf">;
  /** Where the poll came from that exceeded the limit. */
  readonly address: string;
  readonly message: string;
}

/** A limit that a client exceeded, with the message for its status. */
export interface PassedLimit {
  readonly limit: keyof StreamLimits | AccountLimit;
  readonly message: string;
}

/** What a stream holds after a request or a flush. */
export interface StreamUsage {
  /** Names subscribed to, over all types. */
  readonly subscriptions: number;
  /** Names kept for responses that were not accepted: given up since, without a resource, or rejected. */
  readonly kept: number;
  readonly types: number;
  /** Responses without ACK or NACK, of the type with the most of them. */
  readonly unanswered: number;
}

/** What a stream holds before its first request. */
export const noUsage: StreamUsage = { subscriptions: 0, kept: 0, types: 0, unanswered: 0 };

/**
 * How many names the subscription has at least after a request. Counted only above `most`, since that reads the list;
 * a name that is listed twice counts once (S-SUB-20).
 */
export function namesIn(request: DiscoveryRequest, most: number): number {
  const isOnlyAdding = request.kind === "sotw" || request.unsubscribe.length === 0;
  const names = request.kind === "sotw" ? request.names : request.subscribe;
  if (names.length <= most || !isOnlyAdding) return 0;
  const distinct = (request.kind === "delta" ? request.distinct : undefined) ?? new Set(names);
  return distinct.has("*") ? distinct.size - 1 : distinct.size;
}

/** The first limit that a stream exceeds; undefined: none. */
export function excessOf(
  { subscriptions, kept, types, unanswered }: StreamUsage,
  limits: StreamLimits,
): PassedLimit | undefined {
  const { maxSubscriptionsPerStream, maxTypesPerStream, maxUnacknowledgedPerType } = limits;
  if (maxSubscriptionsPerStream !== undefined && subscriptions > maxSubscriptionsPerStream) {
    const message = `subscribed to ${subscriptions} names; at most ${maxSubscriptionsPerStream} per stream are served`;
    return { limit: "maxSubscriptionsPerStream", message };
  }
  if (maxSubscriptionsPerStream !== undefined && kept > maxSubscriptionsPerStream) {
    const message = `${kept} names are kept for responses that were not accepted; at most ${maxSubscriptionsPerStream} per stream are`;
    return { limit: "maxSubscriptionsPerStream", message };
  }
  if (maxTypesPerStream !== undefined && types > maxTypesPerStream) {
    const message = `asks for ${types} types; at most ${maxTypesPerStream} per stream are served`;
    return { limit: "maxTypesPerStream", message };
  }
  if (maxUnacknowledgedPerType !== undefined && unanswered > maxUnacknowledgedPerType) {
    const message = `${unanswered} responses of a type were neither accepted nor refused; at most ${maxUnacknowledgedPerType} may be`;
    return { limit: "maxUnacknowledgedPerType", message };
  }
  return undefined;
}
