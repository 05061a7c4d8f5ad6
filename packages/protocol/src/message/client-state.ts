/**
 * The words for how something stands at a client: a name, a resource, all of a type. They are those of
 * `ClientResourceStatus` (CSDS), and four that tell apart what it calls requested:
 *
 * - `requested`: subscribed to, and nothing was sent yet.
 * - `not-sent`: new or changed, and to be sent.
 * - `waiting`: not sent before something else is ACKed (make before break).
 * - `pending`: sent, neither ACKed nor NACKed.
 * - `sent`: sent, and no ACK is awaited.
 * - `acked`, `nacked`: the client ACKed or NACKed it.
 * - `does-not-exist`: subscribed to, and there is none.
 * - `received-error`: a resource error stands in its place.
 * - `timeout`: nothing came in time.
 * - `unknown`: nothing is known of it.
 */
export type ClientState =
  | "requested"
  | "not-sent"
  | "waiting"
  | "pending"
  | "sent"
  | "acked"
  | "nacked"
  | "does-not-exist"
  | "received-error"
  | "timeout"
  | "unknown";
