import type { AllowanceOptions } from "./allowance.ts";

/** What one client may do to a connection. None is a setting: clients that mean well stay far below all of them. */

/**
 * Bytes of the receive window of a stream and of the connection. The first request of a client that reconnects names
 * all its resources, about 70 bytes each.
 */
export const RECEIVE_WINDOW_BYTES = 1_048_576;
/** The decoded fields of one request, as RFC 9113 section 6.5.2 counts them. */
export const MAX_HEADER_LIST_BYTES = 65_536;
/** The encoded fields of one request, in all its frames: more than its list may have, so that only its stream is reset. */
export const MAX_HEADER_BLOCK_BYTES = 131_072;
/** CONTINUATION frames of one request. A client that fills its frames needs eight. */
export const MAX_CONTINUATIONS = 16;
/** Answers to PING and SETTINGS that a client may leave unread (CVE-2019-9512, -9515). */
export const MAX_UNREAD_REPLIES = 1_000;
/**
 * Streams that a client resets, or makes the server reset by an error: each costs as much as a call (rapid reset,
 * CVE-2023-44487; made by errors, CVE-2025-8671).
 */
export const RESETS: AllowanceOptions = { burst: 1_000, perSecond: 100 };
/**
 * Streams that are refused, besides as many as may be open: a client that did not wait for SETTINGS may open again what
 * was refused.
 */
export const REFUSALS: AllowanceOptions = { burst: 1_000, perSecond: 100 };
/** Frames that carry nothing: DATA without bytes, PRIORITY, unknown frames, SETTINGS (CVE-2019-9513, -9518). */
export const IDLE_FRAMES: AllowanceOptions = { burst: 1_000, perSecond: 100 };
/**
 * DATA frames of fewer than `SMALL_DATA_BYTES` that a small window cuts off a message (CVE-2019-9511). Each larger frame
 * gives one back: a client that acknowledges what it has read, whatever that is, reads mostly larger ones.
 */
export const CUT_FRAMES: AllowanceOptions = { burst: 1_000, perSecond: 100 };
export const SMALL_DATA_BYTES = 256;
/** Streams that the server has reset, for which frames may still be under way. */
export const REMEMBERED_RESETS = 1_000;
