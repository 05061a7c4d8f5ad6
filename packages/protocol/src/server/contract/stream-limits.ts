/** How much of what its client decides one stream may have; beyond it the stream ends with RESOURCE_EXHAUSTED. */
export interface StreamLimits {
  /** Names subscribed to, over all types. */
  readonly maxSubscriptionsPerStream?: number | undefined;
  /** Types asked for, be they known or not. */
  readonly maxTypesPerStream?: number | undefined;
  /** Responses of one type that the client neither accepted nor refused; heartbeats do not count. */
  readonly maxUnacknowledgedPerType?: number | undefined;
}

/** A limit that a client passed, in words. */
export interface PassedLimit {
  readonly limit: keyof StreamLimits;
  readonly message: string;
}

/** What a stream has after a request or a turn. */
export interface StreamUsage {
  /** Names subscribed to, over all types. */
  readonly subscriptions: number;
  readonly types: number;
  /** Responses that are not answered, of the type that has most of them. */
  readonly unanswered: number;
}

/** What a stream has too much of; undefined: nothing. */
export function excessOf(
  { subscriptions, types, unanswered }: StreamUsage,
  limits: StreamLimits,
): PassedLimit | undefined {
  const { maxSubscriptionsPerStream, maxTypesPerStream, maxUnacknowledgedPerType } = limits;
  if (maxSubscriptionsPerStream !== undefined && subscriptions > maxSubscriptionsPerStream) {
    const message = `subscribed to ${subscriptions} names; at most ${maxSubscriptionsPerStream} per stream are served`;
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
