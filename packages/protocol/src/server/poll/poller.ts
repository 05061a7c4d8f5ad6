import type { Choices } from "../../dialect/choice.ts";
import { explainDialect } from "../../dialect/explain.ts";
import type { SotwRequest } from "../../message/request.ts";
import { type Status, statusCode } from "../../message/status.ts";
import { hostOf } from "../../node/host.ts";
import type { Node } from "../../node/node.ts";
import type { Peer } from "../../node/node-mapping.ts";
import type { ApiVersion } from "../../resource/api-version.ts";
import type { Report, RequestKind } from "../contract/effect.ts";
import type { DeliveryState, PlacedStream, StreamState, TypeState } from "../contract/inspect.ts";
import type { PollId } from "../contract/poll.ts";
import type { Standing, StragglerType } from "../contract/progress.ts";
import { bytesOfNode } from "../memory/node-cost.ts";
import type { Placeable } from "../memory/pending-placements.ts";
import type { ProgressMember } from "../progress/member.ts";
import type { PolledResponse, PolledSubscription, ResponseSummary } from "./polled-subscription.ts";
import { bytesOfPoller } from "./poller-cost.ts";

/** How many answered polls in a row without a version still count as a client that starts up. */
const EMPTY_POLLS_SUSPECTED = 2;

/** A poll that has no answer yet. */
export interface WaitingPoll {
  readonly id: PollId;
  readonly poller: Poller;
  readonly versionInfo: string | undefined;
  /** Whether the poll NACKs what the poller was given. */
  readonly isRefusal: boolean;
  readonly holdMs: number;
  /** The poll waits until the version differs from this one; undefined: not evaluated yet. */
  besides: string | undefined;
  timer: number | undefined;
  /** How the poll ends at its next evaluation, whatever the state; undefined: it may go on waiting. */
  end: "settled" | "dismissed" | undefined;
}

type PollerStart = Pick<Poller, "peer" | "node" | "apiVersion" | "choices" | "polled">;

/** Whose poll it is, as its poll says. */
type Caller = Omit<PollerStart, "polled">;

/** The newest response to a poller, and its fate. */
interface Given {
  readonly what: ResponseSummary;
  fate: "pending" | "acked" | "nacked";
}

/** How a poll was classified, and what it says about earlier responses. */
export interface ClassifiedPoll {
  readonly as: RequestKind;
  readonly reports: readonly Report[];
}

/**
 * A client that polls again and again, from one address and as one node, for the same resources. It is remembered for a
 * limited time: what it was given, and whether its later polls have that version. This is shown to people, and keeps a
 * client from polling in a tight loop. Its id is that of its first poll.
 */
export class Poller implements ProgressMember, Placeable {
  readonly id: PollId;
  readonly key: string;
  /** Of its last poll. */
  peer: Peer;
  node: Node;
  /** The API version of the messages of its last poll. */
  apiVersion: ApiVersion;
  /** The overrides behind its dialect. */
  choices: Choices;
  polled: PolledSubscription;
  placedTo: number = Number.POSITIVE_INFINITY;
  /** Its polls that have no answer yet. */
  readonly waiting: Set<WaitingPoll> = new Set();
  /** While this timer runs, the same response is not given again (S-RST-12). */
  restTimer: number | undefined;
  #given: Given | undefined;
  #acked: ResponseSummary | undefined;
  #nacked: (ResponseSummary & { readonly error: Status }) | undefined;
  #emptyPolls = 0;
  /** The cost of the node of its first poll, which the host may keep. */
  readonly #firstNodeBytes: number;
  #nodeBytes: number;

  constructor(id: PollId, key: string, { peer, node, apiVersion, choices, polled }: PollerStart) {
    this.id = id;
    this.key = key;
    this.peer = peer;
    this.node = node;
    this.apiVersion = apiVersion;
    this.choices = choices;
    this.polled = polled;
    this.#firstNodeBytes = bytesOfNode(node);
    this.#nodeBytes = this.#firstNodeBytes;
  }

  /** What it costs to remember it, in bytes, besides the names that it asks for. */
  get bytes(): number {
    return bytesOfPoller(this.key, this.#nacked?.error.message) + this.#nodeBytes;
  }

  /** It polls again. An equal node is not kept in place of the first one: others hold on to that. */
  comesAgain({ peer, node, apiVersion, choices }: Caller): void {
    this.peer = peer;
    this.apiVersion = apiVersion;
    this.choices = choices;
    if (JSON.stringify(node) === JSON.stringify(this.node)) return;
    this.node = node;
    this.#nodeBytes = this.#firstNodeBytes + bytesOfNode(node);
  }

  /** The version of the last response that it was given. */
  get givenVersion(): string | undefined {
    return this.#given?.what.version;
  }

  /**
   * Whether it ever ACKed or NACKed: who polls without a version, as with curl, says nothing about its response, however
   * often it polls.
   */
  get answers(): boolean {
    return this.#acked !== undefined || this.#nacked !== undefined;
  }

  /**
   * The newest revision whose content it is known to have. Of names without resources there is nothing to have, and a
   * client never says that it knows: it polls on with its former version, or no more, as Envoy for a deleted cluster.
   */
  get reached(): number {
    const isCurrent = this.#hasNothingToTake || this.#acked?.version === this.polled.response().body.version;
    return Math.min(isCurrent ? this.polled.current.revision : (this.#acked?.revision ?? -1), this.placedTo);
  }

  standing(revision: number): Standing {
    if (this.reached >= revision) return "deployed";
    if (this.placedTo < revision) return "pending";
    return this.#given?.fate === "nacked" && this.hasRefused(this.polled.response()) ? "nacked" : "pending";
  }

  behind(revision: number): readonly StragglerType[] {
    const standing = this.standing(revision);
    if (standing === "deployed") return [];
    const about = { type: this.polled.traits.type, wait: undefined } as const;
    if (standing === "nacked")
      return [{ ...about, state: "nacked", names: this.#nacked?.names ?? [], error: this.#nacked?.error }];
    const isGiven = this.#given?.fate === "pending";
    return [{ ...about, state: isGiven ? "pending" : "not-sent", names: [], error: undefined }];
  }

  /**
   * Classifies a poll by what it says about the last response: its version is an ACK, an error or an older version a
   * NACK. An older version without an error is only suspected to be a NACK; real clients reject that way
   * (client-behaviours I4).
   */
  classify({ versionInfo, error, nonce }: SotwRequest, current: () => PolledResponse): ClassifiedPoll {
    const isFirst = this.#given === undefined && this.#acked === undefined && this.#nacked === undefined;
    this.#emptyPolls = versionInfo === undefined ? this.#emptyPolls + 1 : 0;
    if (error !== undefined) return this.#refuse(error, nonce, current);
    if (versionInfo !== undefined && versionInfo === this.#given?.what.version) return this.#accept();
    if (this.#given !== undefined && this.#given.fate !== "acked" && this.#isSuspicious(versionInfo)) {
      return this.#suspect(this.#given, versionInfo);
    }
    if (!isFirst) return { as: "repeat", reports: [] };
    // The poller may have got this version before the server remembered it, or from another server.
    if (versionInfo === undefined || versionInfo !== current().body.version) return { as: "initial", reports: [] };
    this.#acked = current().summary;
    return { as: "ack", reports: [] };
  }

  /** Whether the poller NACKed this content last. */
  hasRefused({ body }: PolledResponse): boolean {
    return this.#nacked?.version === body.version;
  }

  /**
   * Whether other content was given since and NACKed. Parts of it may be in use all the same (client-behaviours A5), so
   * the content that the client names as its version is given again.
   */
  hasRefusedOther({ body }: PolledResponse): boolean {
    return this.#given?.fate === "nacked" && this.#given.what.version !== body.version;
  }

  /** Whether this content was given last. */
  wasGiven({ body }: PolledResponse): boolean {
    return this.#given?.what.version === body.version;
  }

  /** Notes that this content is given, perhaps again. */
  give({ summary }: PolledResponse): Report {
    if (this.#given?.what.version !== summary.version || this.#given.fate === "acked") {
      this.#given = { what: summary, fate: "pending" };
    }
    const { type, nonce, version, revision, resources, removed } = summary;
    const { id: stream, node } = this;
    return { kind: "response-sent", stream, node, type, nonce, version, revision, resources, removed };
  }

  get placed(): PlacedStream {
    const { peer, node, polled } = this;
    return {
      ...{ onlyType: polled.traits.type, peer, node, layers: polled.layers, isPoller: true },
      ...(!this.answers && { isUnconfirmed: true }),
    };
  }

  describe(): StreamState {
    const { id, peer, node, apiVersion, choices } = this;
    return {
      ...this.placed,
      stream: id,
      apiVersion,
      variant: "sotw",
      // All polls as that node from that address.
      client: `polls ${hostOf(peer.address)} ${node.id}`,
      dialect: explainDialect(node, choices),
      types: [this.#describeType()],
    };
  }

  /** Whether none of the names that it polls for has a resource, or an error in place of one. */
  get #hasNothingToTake(): boolean {
    const { subscription, traits } = this.polled;
    if (subscription.isWildcard || traits.isFullState) return false;
    const { resources, errors } = this.polled.response().summary;
    return resources === 0 && errors.length === 0;
  }

  #describeType(): TypeState {
    const { traits, subscription, current } = this.polled;
    const last = this.#given?.what ?? this.#acked;
    const isPending = this.answers && this.#given?.fate === "pending" && !this.#hasNothingToTake;
    return {
      type: traits.type,
      isWildcard: subscription.isWildcard,
      names: subscription.names.size,
      doesNotExist: last?.missing ?? [],
      errors: last?.errors ?? [],
      sentRevision: last?.revision,
      sentVersion: last?.version,
      wait: undefined,
      waiting: [],
      pendingRemovals: [],
      // No heartbeat renews a TTL for a poller.
      ttl: current.view.timed(traits.type).resources.length > 0 ? "unsafe" : undefined,
      pending: isPending && this.#given !== undefined ? [deliveryOf(this.#given.what)] : [],
      acked: this.#acked && deliveryOf(this.#acked),
      nacked: this.#nacked && {
        ...deliveryOf(this.#nacked),
        error: this.#nacked.error,
        names: this.#nacked.names,
      },
    };
  }

  #accept(): ClassifiedPoll {
    const given = this.#given;
    if (given === undefined || given.fate === "acked") return { as: "repeat", reports: [] };
    given.fate = "acked";
    this.#acked = given.what;
    this.#nacked = undefined;
    const { type, nonce, version } = given.what;
    const { id: stream, node } = this;
    return { as: "ack", reports: [{ kind: "response-acked", stream, node, type, nonce, version }] };
  }

  #refuse(error: Status, nonce: string | undefined, current: () => PolledResponse): ClassifiedPoll {
    const given = this.#given?.what;
    if (given !== undefined && (nonce === undefined || nonce === given.nonce)) return this.#noteRefusal(given, error);
    // Nonces are versions, so a response of another server can be NACKed here.
    const { summary } = current();
    return nonce === summary.nonce ? this.#noteRefusal(summary, error) : { as: "stale", reports: [] };
  }

  /** Books a suspected NACK when it is first noticed; after that, only counts it for each poll. */
  #suspect(given: Given, versionInfo: string | undefined): ClassifiedPoll {
    const { type, version } = given.what;
    const { id: stream, node } = this;
    const count: Report = { kind: "polled-at-old-version", stream, node, type, version };
    if (given.fate === "nacked") return { as: "nack", reports: [count] };
    const { as, reports } = this.#noteRefusal(given.what, suspicionOf(versionInfo));
    return { as, reports: [...reports, count] };
  }

  #noteRefusal(what: ResponseSummary, error: Status): ClassifiedPoll {
    if (this.#given?.what === what) this.#given.fate = "nacked";
    this.#nacked = { ...what, error };
    const { type, nonce, version, names } = what;
    const { id: stream, node } = this;
    return {
      as: "nack",
      reports: [{ kind: "response-nacked", stream, node, type, nonce, version, error, names }],
    };
  }

  #isSuspicious(versionInfo: string | undefined): boolean {
    if (versionInfo !== undefined) return true;
    // A real client says who it is.
    return this.node.id !== "" && this.#emptyPolls > EMPTY_POLLS_SUSPECTED && (this.#given?.what.resources ?? 0) > 0;
  }
}

function suspicionOf(versionInfo: string | undefined): Status {
  const holds = versionInfo === undefined ? "no version" : `version ${JSON.stringify(versionInfo)}`;
  return {
    code: statusCode.UNKNOWN,
    message: `suspected: it polls on with ${holds} after it was given another one; polling clients do not say why`,
  };
}

function deliveryOf({ nonce, version, revision, resources, removed }: ResponseSummary): DeliveryState {
  return { nonce, version, revision, resources, removed };
}
