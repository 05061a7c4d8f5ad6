/** Limits of a server. A client that exceeds one gets a status that names the limit; other clients are not affected. */
export interface Limits {
  /**
   * Open connections of the whole server. A connection above the limit is closed at once. Up to an eighth more sockets are
   * open (at most 128); above that, those on which a client has said nothing yet are closed, the oldest first.
   * @default 50_000
   */
  readonly maxConnections: number;
  /**
   * Open connections of one client address (host, without port). A connection above the limit is closed at once.
   * @default 10_000
   */
  readonly maxConnectionsPerPeer: number;
  /**
   * Open connections of one identity: the first URI, DNS name or common name of a verified client certificate. Clients
   * with an identity count by it, from all addresses together, and not by address.
   * @default 10_000
   */
  readonly maxConnectionsPerIdentity: number;
  /**
   * Open discovery streams of the whole server. Other calls (health, reflection, status, load) are counted separately
   * against the same limit. A stream or call above it ends with RESOURCE_EXHAUSTED.
   * @default 50_000
   */
  readonly maxStreams: number;
  /**
   * As `maxStreams`, for one client address (host, without port).
   * @default 10_000
   */
  readonly maxStreamsPerPeer: number;
  /**
   * As `maxStreams`, for one identity.
   * @default 10_000
   */
  readonly maxStreamsPerIdentity: number;
  /**
   * Requests a second of one identity. Those above it wait, so the identity is slowed down; a stream on which more than
   * 1 MiB waits ends with RESOURCE_EXHAUSTED. 0: no limit.
   * @default 10_000
   */
  readonly maxRequestsPerSecondPerIdentity: number;
  /**
   * Names that one stream may subscribe to or list as hints, over all types; one counts for each 256 characters that it
   * has or begins, and each further term with parameters for everything, or for one collection, counts as 1,000. As many
   * more may be kept for responses that the client has not accepted: names that it gave up meanwhile, names without a
   * resource, and removals that it rejected. Above either the stream ends with RESOURCE_EXHAUSTED.
   * @default 250_000
   */
  readonly maxSubscriptionsPerStream: number;
  /**
   * Names that all streams of one client address (host, without port) may subscribe to or keep, over all types, counted
   * in the same way. The stream that exceeds it ends with RESOURCE_EXHAUSTED.
   * @default 5_000_000
   */
  readonly maxSubscriptionsPerPeer: number;
  /**
   * As `maxSubscriptionsPerPeer`, for one identity.
   * @default 5_000_000
   */
  readonly maxSubscriptionsPerIdentity: number;
  /**
   * Types that one stream may request, known or not. Above it the stream ends with RESOURCE_EXHAUSTED.
   * @default 64
   */
  readonly maxTypesPerStream: number;
  /**
   * Responses of one type that a stream may leave without ACK or NACK while it sends further requests. Above it the
   * stream ends with RESOURCE_EXHAUSTED.
   * @default 1_000
   */
  readonly maxUnacknowledgedPerType: number;
  /**
   * Bytes of one request, after decompression (B-GRP-08). Above it: RESOURCE_EXHAUSTED.
   * @default 67_108_864 (64 MiB)
   */
  readonly maxRequestBytes: number;
  /**
   * Bytes of the body of one REST request. Above it: 413.
   * @default 16_777_216 (16 MiB)
   */
  readonly maxRestRequestBytes: number;
  /**
   * Bytes of the node in a request, without its extensions, which are ignored. Above it: RESOURCE_EXHAUSTED.
   * @default 65_536 (64 KiB)
   */
  readonly maxNodeBytes: number;
  /**
   * Bytes of memory, estimated, for what clients say of themselves: the nodes of all open streams, whose metadata is
   * kept as it came, the versions that they list until they were compared, the reasons of their NACKs, and the nodes and
   * names of polls that wait, as they are decoded: up to 90 times their bytes. The stream or poll that exceeds it ends
   * with RESOURCE_EXHAUSTED, over REST 429. The nodes of clients that report load, and of those that check health, count
   * apart, against the same limits.
   * @default 1_073_741_824 (1 GiB)
   */
  readonly maxClientBytes: number;
  /**
   * As `maxClientBytes`, for one client address (host, without port).
   * @default 536_870_912 (512 MiB)
   */
  readonly maxClientBytesPerPeer: number;
  /**
   * As `maxClientBytes`, for one identity.
   * @default 536_870_912 (512 MiB)
   */
  readonly maxClientBytesPerIdentity: number;
  /**
   * Bytes of all requests that are incomplete or waiting to be processed. Above it: RESOURCE_EXHAUSTED.
   * @default 536_870_912 (512 MiB)
   */
  readonly maxReceivedBytes: number;
  /**
   * As `maxReceivedBytes`, for one client address (host, without port).
   * @default 268_435_456 (256 MiB)
   */
  readonly maxReceivedBytesPerPeer: number;
  /**
   * As `maxReceivedBytes`, for one identity.
   * @default 268_435_456 (256 MiB)
   */
  readonly maxReceivedBytesPerIdentity: number;
  /**
   * Bytes of memory for what is remembered of REST pollers between their polls: what they were given and answered, their
   * nodes and names. Above it, the pollers that have not polled for longest are forgotten: they are no longer shown, and
   * their next poll counts as that of a new client.
   * @default 33_554_432 (32 MiB)
   */
  readonly maxPollerBytes: number;
  /**
   * As `maxPollerBytes`, for the pollers at one client address (host, without port).
   * @default 16_777_216 (16 MiB)
   */
  readonly maxPollerBytesPerPeer: number;
  /**
   * As `maxPollerBytes`, for the pollers of one identity.
   * @default 16_777_216 (16 MiB)
   */
  readonly maxPollerBytesPerIdentity: number;
  /**
   * Milliseconds within which a request must arrive once it has begun. Above it: RESOURCE_EXHAUSTED, over REST 408.
   * @default 30_000
   */
  readonly maxMessageMs: number;
  /**
   * Fragments (DATA frames of HTTP/2, chunks of HTTP/1.1) in which a request may arrive if they hold fewer than 32 bytes
   * on average. Above it: RESOURCE_EXHAUSTED.
   * @default 1_000
   */
  readonly maxSmallFragments: number;
  /**
   * Bytes that may be buffered for one stream. Above it the stream is reset with RESOURCE_EXHAUSTED.
   * @default 536_870_912 (512 MiB)
   */
  readonly maxPendingBytes: number;
  /**
   * Milliseconds within which a client must read what was written to its stream (at most 256 KB). After it the stream
   * is reset.
   * @default 60_000
   */
  readonly maxBlockedMs: number;
  /**
   * Milliseconds, ±10 %, after which the server sends GOAWAY on a connection, so that clients rebalance over the
   * servers (S-CON-03). 0: never.
   * @default 0
   */
  readonly maxConnectionAgeMs: number;
  /**
   * Milliseconds that the streams of an aged connection have to close; then they end with UNAVAILABLE.
   * @default 10_000
   */
  readonly maxConnectionAgeGraceMs: number;
  /**
   * Bytes of one client status response. Above it: RESOURCE_EXHAUSTED.
   * @default 67_108_864 (64 MiB)
   */
  readonly maxStatusBytes: number;
  /**
   * Clients that report load. Above it: RESOURCE_EXHAUSTED.
   * @default 50_000
   */
  readonly maxLoadReporters: number;
  /**
   * Entries of reported load: clusters, localities, metrics, endpoints. Entries above the limit are dropped.
   * @default 100_000
   */
  readonly maxLoadEntries: number;
  /**
   * Longest pause in milliseconds after a change was sent, in which further changes are gathered and then sent together.
   * The pause is four times what sending the change cost, so it is short for few clients; a change after the pause is
   * sent at once. New subscriptions do not wait, except in State of the World in the same request as an ACK. 0: no
   * pause.
   * @default 100
   */
  readonly maxDebounceMs: number;
  /**
   * Milliseconds between keepalive PINGs to a client. 0: no PINGs.
   * @default 30_000
   */
  readonly keepaliveMs: number;
  /**
   * Milliseconds within which a PING must be answered; then the connection is closed and its state freed.
   * @default 10_000
   */
  readonly keepaliveTimeoutMs: number;
  /**
   * Milliseconds that a new connection has to start a known protocol.
   * @default 10_000
   */
  readonly handshakeTimeoutMs: number;
}

export type LimitName = keyof Limits;

export const defaultLimits: Limits = {
  maxConnections: 50_000,
  maxConnectionsPerPeer: 10_000,
  maxConnectionsPerIdentity: 10_000,
  maxStreams: 50_000,
  maxStreamsPerPeer: 10_000,
  maxStreamsPerIdentity: 10_000,
  maxRequestsPerSecondPerIdentity: 10_000,
  maxSubscriptionsPerStream: 250_000,
  maxSubscriptionsPerPeer: 5_000_000,
  maxSubscriptionsPerIdentity: 5_000_000,
  maxTypesPerStream: 64,
  maxUnacknowledgedPerType: 1_000,
  maxRequestBytes: 64 * 1024 * 1024,
  maxRestRequestBytes: 16 * 1024 * 1024,
  maxNodeBytes: 64 * 1024,
  maxClientBytes: 1024 * 1024 * 1024,
  maxClientBytesPerPeer: 512 * 1024 * 1024,
  maxClientBytesPerIdentity: 512 * 1024 * 1024,
  maxReceivedBytes: 512 * 1024 * 1024,
  maxReceivedBytesPerPeer: 256 * 1024 * 1024,
  maxReceivedBytesPerIdentity: 256 * 1024 * 1024,
  maxPollerBytes: 32 * 1024 * 1024,
  maxPollerBytesPerPeer: 16 * 1024 * 1024,
  maxPollerBytesPerIdentity: 16 * 1024 * 1024,
  maxMessageMs: 30_000,
  maxSmallFragments: 1_000,
  maxPendingBytes: 512 * 1024 * 1024,
  maxBlockedMs: 60_000,
  maxConnectionAgeMs: 0,
  maxConnectionAgeGraceMs: 10_000,
  maxStatusBytes: 64 * 1024 * 1024,
  maxLoadReporters: 50_000,
  maxLoadEntries: 100_000,
  maxDebounceMs: 100,
  keepaliveMs: 30_000,
  keepaliveTimeoutMs: 10_000,
  handshakeTimeoutMs: 10_000,
};

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(defaultLimits, name);
}

/** The names of all limits, in the order in which they are printed. */
export const limitNames: readonly LimitName[] = Object.keys(defaultLimits).filter(isLimitName);
