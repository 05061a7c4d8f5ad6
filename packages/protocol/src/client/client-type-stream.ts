import type { DiscoveryRequest } from "../message/request.ts";
import type { DiscoveryResponse } from "../message/response.ts";
import type { Status } from "../message/status.ts";
import type { Node } from "../node/node.ts";
import { Absence } from "./absence.ts";
import type { ClientTurn } from "./client-turn.ts";
import { CoveredNames } from "./covered-names.ts";
import { confirmListed, deltaRequest } from "./delta.ts";
import type { ClientReport } from "./effect.ts";
import { expectNoLonger } from "./failing.ts";
import { takeResponse } from "./intake.ts";
import { EVERYTHING } from "./interest.ts";
import type { RequestContents, RequestReply } from "./request-contents.ts";
import { confirmRestored } from "./restored.ts";
import { SotwRequestNames, sotwRequest } from "./sotw.ts";
import type { TypeSubscription } from "./type-subscription.ts";
import { WantedNames } from "./wanted-names.ts";

/** A due request and its purpose. */
export interface DueRequest {
  readonly request: DiscoveryRequest;
  readonly as: Extract<ClientReport, { kind: "request-sent" }>["as"];
  /** Subscriptions changed, so a poll in progress is cancelled for it (C-RST-20). */
  readonly isUrgent: boolean;
}

const nothing: { readonly added: readonly string[]; readonly dropped: readonly string[] } = { added: [], dropped: [] };

/**
 * One type on one stream (B-ADS-01): its subscriptions, pending ACKs and NACKs, and nonce. It ends with the stream
 * (C-NON-03).
 */
export class ClientTypeStream {
  readonly topic: TypeSubscription;
  /** The node of the last request of the type that carried one. */
  node: Node | undefined;
  readonly #turn: ClientTurn;
  readonly #server: number;
  readonly #isOutdone: () => boolean;
  readonly #wants = new WantedNames();
  readonly #absence: Absence;
  readonly #covered: CoveredNames;
  readonly #names = new SotwRequestNames();
  readonly #answers: RequestReply[] = [];
  #hasAsked = false;
  #isLegacy = true;
  #nonce: string | undefined;
  #version: string | undefined;
  #isJudging = false;
  #isWithheld = false;
  #isPollDue = false;
  #isRestoredConfirmed = false;

  constructor(
    turn: ClientTurn,
    topic: TypeSubscription,
    { server, isOutdone }: { server: number; isOutdone: () => boolean },
  ) {
    this.#turn = turn;
    this.topic = topic;
    this.#server = server;
    this.#isOutdone = isOutdone;
    this.#absence = new Absence(turn);
    this.#covered = new CoveredNames(topic);
  }

  /** Whether the type was requested on this stream (C-TYP-13). */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  /** Whether a request is due. */
  get isDue(): boolean {
    if (this.#isJudging || this.#isWithheld) return false;
    if (!this.#hasAsked) return this.topic.interest.wanted > 0;
    return this.#hasAnswerDue || this.#isChangeDue;
  }

  /** Whether the server, from the requests sent so far, believes that a term is subscribed. */
  believes(term: string): boolean {
    return this.#wants.isTold(term);
  }

  add(term: string): void {
    const isUnnamed = this.#isEverythingUnnamed;
    if (this.#isStickyWildcard || (isUnnamed && this.#covered.take(term))) {
      this.#await([term]);
      return;
    }
    if (isUnnamed) this.#uncover();
    const isDelta = this.topic.spec.variant === "delta";
    this.#wants.add(term, isDelta ? "again" : "once");
    // Watched again before the server was sent the unsubscribe, so it is subscribed already.
    if (!isDelta && this.#wants.isTold(term)) this.#await([term]);
  }

  drop(term: string): void {
    this.#absence.end(term);
    if (this.#covered.drop(term)) return;
    if (term === EVERYTHING) this.#uncover();
    if (!this.#isStickyWildcard) this.#wants.drop(term);
    else if (term !== EVERYTHING) this.#wants.forget(term);
  }

  /** Takes the next due request. */
  next(): DueRequest {
    const isFirst = !this.#hasAsked;
    if (isFirst) this.#version = this.#resumedVersion();
    const isChange = !isFirst && this.#isChangeDue;
    const said = this.#said(isFirst);
    this.#hasAsked = true;
    this.#isLegacy = said.isLegacy;
    this.#isPollDue = false;
    this.#await(isFirst ? [...said.added, ...this.#covered.names] : said.added);
    if (isFirst && this.topic.spec.variant === "delta") confirmListed(this.topic, this.#server);
    return {
      request: this.#request(said),
      as: this.#nameOf(said),
      isUrgent: isChange && this.topic.spec.access === "poll",
    };
  }

  /** Marks that a response is being validated (C-ACK-09). */
  judge(): void {
    this.#isJudging = true;
  }

  /** The delay after the last poll is over (C-RST-08). */
  pollIsDue(): void {
    this.#isPollDue = true;
  }

  /** Nothing is warming any more (C-ACK-15). */
  endWarming(): void {
    this.#isWithheld = false;
  }

  /** Applies a validated response and queues its ACK or NACK. */
  receive(response: DiscoveryResponse): void {
    this.#isJudging = false;
    if (response.nonce !== "") this.#nonce = response.nonce;
    const { error, isNews } = takeResponse(this.#turn, this.topic, response, {
      server: this.#server,
      isPureWildcard: this.#isStickyWildcard,
      believes: (term) => this.#wants.isTold(term),
      answered: (term) => this.#absence.end(term.text),
    });
    if (error === undefined) this.#confirmRestored();
    if (error === undefined && response.kind === "sotw") {
      this.#version = response.version;
      if (this.#isEverythingUnnamed && !this.#covered.answered()) this.#uncover();
    }
    this.#owe({ nonce: response.nonce, version: this.#version, error });
    // A NACK is not withheld: what was taken of the response may have nothing to warm.
    if (isNews && error === undefined && this.#withholdsWhileWarming) this.#isWithheld = true;
  }

  /** Ends the validation of a response that was never requested (C-TYP-13). */
  ignore(): void {
    this.#isJudging = false;
  }

  /** Queues the NACK of a message that could not be decoded (C-RST-18). */
  refuse(error: Status): void {
    this.#isJudging = false;
    this.#owe({ nonce: "", version: this.#version, error });
  }

  /** Stops waiting for responses, because the stream ended. */
  end(): void {
    this.#absence.endAll();
  }

  get #hasAnswerDue(): boolean {
    return this.topic.spec.access === "poll" ? this.#isPollDue : this.#answers.length > 0;
  }

  get #isChangeDue(): boolean {
    return this.#wants.isDirty && !this.#cannotSay;
  }

  /** Whether the wildcard is subscribed by an empty list of names. */
  get #isEverythingUnnamed(): boolean {
    return this.#isLegacy && this.topic.interest.isWanted(EVERYTHING) && this.#wants.isTold(EVERYTHING);
  }

  /** Whether the wildcard is sticky, so no further names are sent (E1). */
  get #isStickyWildcard(): boolean {
    return this.topic.spec.dialect.wildcardSticky && this.#wants.isTold(EVERYTHING);
  }

  /**
   * State of the World cannot unsubscribe from a wildcard made by an empty list of names without subscribing to
   * something else. The server goes on sending, so the client keeps applying responses until the stream ends.
   */
  get #cannotSay(): boolean {
    const { spec, interest } = this.topic;
    return spec.variant === "sotw" && this.#isLegacy && this.#wants.isTold(EVERYTHING) && interest.wanted === 0;
  }

  get #withholdsWhileWarming(): boolean {
    const { spec, traits } = this.topic;
    return spec.dialect.cdsAckWhenWarm && spec.isAggregated && traits.kind === "cds";
  }

  #said(isFirst: boolean): RequestContents {
    const answer = this.#answers.shift();
    const { added, dropped } = this.#tell(isFirst);
    return { isFirst, answer, isLegacy: this.#isLegacy && this.#namesNothing(isFirst, added), added, dropped };
  }

  /** Sends the covered names, because the wildcard no longer covers them. */
  #uncover(): void {
    for (const name of this.#covered.end()) this.#wants.add(name, "once");
  }

  #tell(isFirst: boolean): typeof nothing {
    if (!isFirst) return this.#cannotSay ? nothing : this.#wants.tell();
    const added = this.#covered.begin(this.topic.interest.wantedTexts());
    this.#wants.begin(added);
    return { added, dropped: [] };
  }

  /** Whether an empty list of names in a request is the wildcard. */
  #namesNothing(isFirst: boolean, added: readonly string[]): boolean {
    const { spec } = this.topic;
    if (spec.dialect.explicitWildcard) return false;
    if (!isFirst) return added.length === 0;
    return added.includes(EVERYTHING) && (added.length === 1 || spec.dialect.wildcardSticky);
  }

  #request(said: RequestContents): DiscoveryRequest {
    const { topic } = this;
    if (topic.spec.variant === "delta") {
      return deltaRequest(topic, said, { server: this.#server, isSticky: this.#isStickyWildcard });
    }
    // Polls are stateless: a version accepted for some names says nothing about the wildcard (S-RST-14), nor about what
    // was dropped since.
    const isVoid = topic.spec.access === "poll" && topic.versionFor(this.#server) === undefined;
    const versionInfo = isVoid ? undefined : said.answer === undefined ? this.#version : said.answer.version;
    const nonce = said.answer === undefined || said.answer.nonce === "" ? this.#nonce : said.answer.nonce;
    const error = said.answer?.error;
    const isEverything = topic.interest.isWanted(EVERYTHING) || this.#isStickyWildcard;
    const named = this.#names.of(topic, { isEverything, isLegacy: said.isLegacy, isSticky: this.#isStickyWildcard });
    return sotwRequest(topic, { nonce, error, versionInfo: versionInfo === "" ? undefined : versionInfo, ...named });
  }

  #nameOf({ isFirst, answer }: RequestContents): DueRequest["as"] {
    if (isFirst) return "initial";
    if (answer?.error !== undefined) return "nack";
    if (this.topic.spec.access === "poll") return "poll";
    return answer === undefined ? "subscription" : "ack";
  }

  #resumedVersion(): string | undefined {
    const { spec } = this.topic;
    const isResumed = spec.dialect.resumeVersion || spec.access === "poll";
    return isResumed ? this.topic.versionFor(this.#server) : undefined;
  }

  /**
   * Files have no server to ACK to (C-FS-05). In State of the World an answer replaces one that still waits: to the
   * server an older nonce is stale.
   */
  #owe(answer: RequestReply): void {
    const { access, variant } = this.topic.spec;
    if (access === "file") return;
    if (variant === "sotw") this.#answers.length = 0;
    this.#answers.push(answer);
  }

  #confirmRestored(): void {
    if (this.#isRestoredConfirmed) return;
    this.#isRestoredConfirmed = true;
    if (this.topic.spec.variant === "delta") confirmRestored(this.topic, this.#server);
  }

  /** Starts to wait for requested terms that are not held (C-NEX-03). */
  #await(terms: readonly string[]): void {
    const { spec, interest } = this.topic;
    if (!spec.dialect.absenceTimer || spec.absenceMs === 0) return;
    const unknown = terms.filter((text) => {
      const term = interest.get(text);
      return term !== undefined && !this.topic.isKnown(term, this.#server);
    });
    const ms = spec.absenceMs * (spec.dialect.timerIsTransient ? 2 : 1);
    this.#absence.wait(unknown, ms, (late) => this.#tellAbsent(late));
  }

  #tellAbsent(terms: readonly string[]): void {
    if (this.#isOutdone()) {
      this.#await(terms);
      return;
    }
    const { spec, type } = this.topic;
    const names = terms.filter((term) => expectNoLonger(this.topic, term, this.#server));
    if (names.length > 0) this.#turn.report({ kind: "absence-timeout", source: spec.id, type, names });
  }
}
