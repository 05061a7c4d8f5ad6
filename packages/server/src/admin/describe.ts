import type { ErrorDetail, Node, TypeUrl } from "@xdskit/protocol";
import type { DeliveryState, DialectState, StreamId, StreamState, TypeState, Wait } from "@xdskit/protocol/internal";
import type { DeliveryTimes } from "../observe/deliveries.ts";
import { printableReason } from "../observe/printable.ts";
import type {
  DeliveryAnswer,
  DeliveryFate,
  NackAnswer,
  ResponseAnswer,
  TypeAnswer,
  WaitAnswer,
} from "./answers/deliveries.ts";
import type { DialectAnswer, NodeAnswerIdentity, StreamAnswer } from "./answers/nodes.ts";
import type { ErrorDetailAnswer } from "./answers/page.ts";
import type { AdminView } from "./view.ts";

/** Converts the state of the `ServerMachine` into admin API responses. */
export class Describer {
  readonly #deliveries: DeliveryTimes;
  readonly #shortNames: ReadonlyMap<TypeUrl, string>;

  readonly #changeOf: AdminView["changeOf"];

  constructor(deliveries: DeliveryTimes, { types, changeOf }: Pick<AdminView, "types" | "changeOf">) {
    this.#deliveries = deliveries;
    this.#changeOf = changeOf;
    this.#shortNames = new Map(
      types.types.flatMap(({ type, shortName, v2Twin }) => [
        [type, shortName] as const,
        ...(v2Twin === undefined ? [] : [[v2Twin, `${shortName}-v2`] as const]),
      ]),
    );
  }

  /** The type URL, and the short name if it has one. */
  type(type: TypeUrl): { type: string; shortName?: string } {
    const shortName = this.#shortNames.get(type);
    return shortName === undefined || shortName === "" ? { type } : { type, shortName };
  }

  /** The number of the change that led to a revision of the server, by which people know it. */
  revision(revision: number): number {
    return this.#changeOf(revision);
  }

  stream(state: StreamState): StreamAnswer {
    const { stream, apiVersion, variant, isPoller, onlyType, peer, node, layers } = state;
    const times = this.#deliveries.stream(stream);
    return {
      stream,
      apiVersion,
      variant,
      ...(isPoller && { isPoller }),
      ...(onlyType !== undefined && { onlyType }),
      peer: { address: peer.address, isTls: peer.isTls, names: peer.names },
      ...(node !== undefined && { node: this.node(node) }),
      ...(state.dialect !== undefined && { dialect: describeDialect(state.dialect) }),
      layers,
      ...time("openedAt", times?.openedAt),
      ...time("lastRequestAt", times?.lastRequestAt),
      ...time("lastResponseAt", times?.lastResponseAt),
      types: state.types.map((type) => this.typeState(stream, type)),
    };
  }

  node(node: Node): NodeAnswerIdentity {
    return {
      id: node.id,
      cluster: node.cluster,
      ...(node.locality !== undefined && { locality: node.locality }),
      userAgent: userAgentOf(node),
    };
  }

  typeState(stream: StreamId, state: TypeState): TypeAnswer {
    const { isWildcard, names, doesNotExist, errors, sentRevision, sentVersion, acked, nacked, pending } = state;
    const times = this.#deliveries.type(stream, state.type);
    const describe = (response: DeliveryState): ResponseAnswer => this.#response(stream, state.type, response);
    return {
      ...this.type(state.type),
      stream,
      state: fateOf(state),
      isWildcard,
      names,
      doesNotExist,
      ...(errors.length > 0 && { errors: errors.map(({ name, error }) => ({ name, ...describeError(error) })) }),
      ...(sentRevision !== undefined && { sentRevision: this.revision(sentRevision) }),
      ...(sentVersion !== undefined && { sentVersion }),
      ...(acked !== undefined && { acked: { ...describe(acked), ...time("ackedAt", times?.ackedAt) } }),
      ...(nacked !== undefined && {
        nacked: { ...describe(nacked), ...nackOf(nacked), ...time("nackedAt", times?.nackedAt) },
      }),
      ...this.#waits(stream, state),
      ...(state.ttl !== undefined && { ttl: state.ttl }),
      pending: pending.map(describe),
    };
  }

  /** The delivery row of one type on one stream. */
  delivery(stream: StreamState, state: TypeState): DeliveryAnswer {
    const fate = fateOf(state);
    const times = this.#deliveries.type(stream.stream, state.type);
    const { doesNotExist, acked, nacked } = state;
    const isAbsent = fate === "does-not-exist";
    const about = fate === "nacked" ? nacked : fate === "pending" ? state.pending[0] : isAbsent ? undefined : acked;
    const ackedVersion = fate === "acked" || isAbsent ? undefined : acked?.version;
    const since = {
      acked: times?.ackedAt,
      nacked: times?.nackedAt,
      pending: about === undefined ? undefined : times?.sentAtOf(about.nonce),
      sent: times?.sentAt,
      requested: times?.requestedAt,
      "does-not-exist": times?.requestedAt,
    }[fate];
    return {
      node: stream.node?.id ?? "",
      userAgent: stream.node === undefined ? "" : userAgentOf(stream.node),
      ...this.type(state.type),
      stream: stream.stream,
      state: fate,
      ...(about !== undefined && {
        version: about.version,
        nonce: about.nonce,
        revision: this.revision(about.revision),
      }),
      ...(fate === "sent" && state.sentVersion !== undefined && { version: state.sentVersion }),
      ...time("since", since),
      ...(ackedVersion !== undefined && { ackedVersion }),
      ...(fate === "nacked" &&
        nacked !== undefined && { reason: printableReason(nacked.error.message), names: nacked.names }),
      ...(doesNotExist.length > 0 && { doesNotExist }),
      ...this.#waits(stream.stream, state),
      ...(state.ttl !== undefined && { ttl: state.ttl }),
    };
  }

  /** What the type waits for, and its pending removals. */
  #waits(
    stream: StreamId,
    { type, wait, waiting, pendingRemovals }: TypeState,
  ): Pick<TypeAnswer, "waits" | "pendingRemovals"> {
    const held = pendingRemovals.length > 0 && { pendingRemovals };
    if (wait === undefined) return { ...held };
    const since = time("since", this.#deliveries.type(stream, type)?.waitsSince);
    const resources = waiting.length > 0 && { resources: waiting };
    return { ...held, waits: { ...this.wait(wait), ...resources, ...since } };
  }

  /** What has to come first. */
  wait(wait: Wait): WaitAnswer {
    return { for: wait.for, ...this.#whatIsWaitedFor(wait) };
  }

  #whatIsWaitedFor(wait: Wait): Omit<WaitAnswer, "for" | "since" | "resources"> {
    switch (wait.for) {
      case "users":
        return { ...this.type(wait.type), ...(wait.isNacked && { nacked: true }) };
      case "return":
        return {};
      default:
        return { name: wait.name };
    }
  }

  #response(
    stream: StreamId,
    type: TypeUrl,
    { nonce, version, revision, resources, removed }: DeliveryState,
  ): ResponseAnswer {
    const sentAt = this.#deliveries.type(stream, type)?.sentAtOf(nonce);
    return { nonce, version, revision: this.revision(revision), resources, removed, ...time("sentAt", sentAt) };
  }
}

/** The name and version of a client's program. */
export function userAgentOf({ userAgentName, userAgentVersion }: Node): string {
  return `${userAgentName} ${userAgentVersion}`.trim();
}

export function describeDialect({
  edition,
  editionBy,
  client,
  listener,
  clients,
  switches,
}: DialectState): DialectAnswer {
  return {
    edition,
    ...(editionBy !== undefined && { editionBy }),
    ...(client !== undefined && { client }),
    ...(listener !== undefined && { listener }),
    ...(clients !== undefined && { clients }),
    switches,
  };
}

/** The message may come from anywhere, so it is made printable. */
export function describeError({ code, message }: ErrorDetail): ErrorDetailAnswer {
  return { code, message: printableReason(message) };
}

function nackOf(nacked: NonNullable<TypeState["nacked"]>): Pick<NackAnswer, "code" | "reason" | "names"> {
  return { code: nacked.error.code, reason: printableReason(nacked.error.message), names: nacked.names };
}

/** The delivery state of the newest response. A NACK stays visible until a newer response is ACKed. */
function fateOf(state: TypeState): DeliveryFate {
  if (state.nacked !== undefined) return "nacked";
  if (state.pending.length > 0) return "pending";
  if (missesAll(state)) return "does-not-exist";
  if (state.acked !== undefined) return "acked";
  if (state.sentVersion !== undefined) return "sent";
  return state.doesNotExist.length > 0 ? "does-not-exist" : "requested";
}

/** In State of the World the client ACKs that there is nothing; then the ACKed version is that of an empty response. */
function missesAll({ isWildcard, names, doesNotExist }: TypeState): boolean {
  return !isWildcard && names > 0 && doesNotExist.length === names;
}

/** An object with a time field, or an empty one. */
export function time<K extends string>(key: K, at: number | undefined): { readonly [P in K]?: string } {
  return (at === undefined ? {} : { [key]: new Date(at).toISOString() }) as { readonly [P in K]?: string };
}
