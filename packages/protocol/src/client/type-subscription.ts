import type { ReceivedResource } from "../message/response.ts";
import type { Status } from "../message/status.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { Accepted, type AcceptedEntry } from "./accepted.ts";
import { AcceptedVersion } from "./accepted-version.ts";
import type { ClientTurn } from "./client-turn.ts";
import type { WatchStarted } from "./event.ts";
import { ExpiryTimers } from "./expiry-timers.ts";
import type { HeldFailure, HeldResource } from "./held.ts";
import { EVERYTHING, Interest, type Term } from "./interest.ts";
import { newsOf, setStanding } from "./name-state.ts";
import { confirmed, heldFrom, isSameContent } from "./received.ts";
import type { SourceSpec } from "./source.ts";
import type { AbsenceReason, FailureReason, WatchEvent } from "./watch-event.ts";

/** Called when a term was answered, whatever the answer. */
export type Answered = (term: Term) => void;

/** The most names that only failed, unless more are in the newest response or watched by their name. */
const MOST_FAILED = 1_000;

/** One type at one source, independent of streams: its watches and its accepted resources. */
export class TypeSubscription {
  readonly spec: SourceSpec;
  readonly traits: TypeTraits;
  readonly interest: Interest = new Interest();
  readonly accepted: Accepted = new Accepted();
  /** Terms without a watch that a server may still believe to be subscribed. */
  readonly leaving: Set<Term> = new Set();
  readonly version: AcceptedVersion = new AcceptedVersion();
  readonly #turn: ClientTurn;
  readonly #ttls: ExpiryTimers;

  constructor(turn: ClientTurn, spec: SourceSpec, traits: TypeTraits) {
    this.#turn = turn;
    this.spec = spec;
    this.traits = traits;
    this.#ttls = new ExpiryTimers(turn, (name) => this.#expire(name));
  }

  get type(): TypeUrl {
    return this.traits.type;
  }

  get nowMs(): number {
    return this.#turn.nowMs;
  }

  /** Whether a State of the World response deletes what it omits (C-DEL-01). */
  get isFullState(): boolean {
    return this.traits.kind === "srds" ? this.spec.dialect.srdsFullState : this.traits.isFullState;
  }

  /** Starts a watch and notifies it of what is known already (C-CLI-02). */
  start({ watch, term: text, wantsConfirmations }: WatchStarted): { readonly term: Term; readonly isFirst: boolean } {
    const started = this.interest.start(watch, text, wantsConfirmations === true);
    const { term } = started;
    this.leaving.delete(term);
    let isKnown = false;
    for (const entry of this.accepted.answering(term)) {
      isKnown = true;
      for (const news of newsOf(entry)) this.#turn.notify(watch, news);
    }
    for (const news of isKnown ? [] : newsOf({ ...term, resource: undefined })) this.#turn.notify(watch, news);
    if (term.isSynced) this.#turn.notify(watch, { kind: "synced" });
    return started;
  }

  /** Stops a watch and returns whether it was the last one of the term. */
  stop(watch: number, term: Term): boolean {
    const isLast = this.interest.stop(watch, term);
    if (isLast) this.leaving.add(term);
    return isLast;
  }

  /** Drops a term that no server believes to be subscribed, with the resources held for it alone (C-UNS-09). */
  release(term: Term): void {
    this.leaving.delete(term);
    const answering = [...this.accepted.answering(term)];
    this.interest.release(term);
    for (const { name, aliases } of answering) {
      if (this.interest.termsFor(name, aliases).length === 0) this.forget(name);
    }
    if (term.kind === "everything" || this.interest.wanted === 0) this.version.forget();
  }

  /**
   * Returns the accepted version to send to a server; undefined if there is none. With a wildcard it needs a complete
   * response first.
   */
  versionFor(server: number): string | undefined {
    return this.isEverythingUnknown ? undefined : this.version.of(server);
  }

  /** Whether the wildcard is watched and no complete response came yet. */
  get isEverythingUnknown(): boolean {
    return this.interest.isWanted(EVERYTHING) && this.interest.get(EVERYTHING)?.isSynced === false;
  }

  /** Whether a term needs no waiting, because what is held came from the server or can be confirmed by it. */
  isKnown(term: Term, server: number): boolean {
    if (term.kind !== "name") return term.isSynced || term.kind === "everything";
    for (const { resource, server: from } of this.accepted.answering(term)) {
      const isConfirmed = from === server || (this.spec.variant === "delta" && from === undefined);
      if (resource !== undefined && isConfirmed) return true;
    }
    return false;
  }

  /** Whether a watched term has neither a resource nor a definite absence (C-FBK-02). */
  get isMissingSomething(): boolean {
    for (const term of this.interest.terms()) {
      if (term.watches.size === 0) continue;
      if (term.kind === "name" ? !this.#isDecided(term) : !term.isSynced) return true;
    }
    return false;
  }

  /** Applies a resource if it is subscribed (C-SUB-04). Returns whether anything changed. */
  put(received: ReceivedResource, version: string, server: number, answered: Answered): boolean {
    const { name } = received;
    const before = this.accepted.get(name);
    const terms = this.interest.termsFor(name, received.aliases);
    if (before?.resource !== undefined && before.resource.aliases.length > 0) {
      this.#endAliases(before.resource, received.aliases);
    }
    if (terms.length === 0) return before?.resource !== undefined;
    const held = heldFrom(this.type, { ...received, version, ttlMs: this.#ttlOf(received) }, before?.resource);
    const isSame = before?.resource !== undefined && isSameContent(before.resource, held);
    const isNews = !isSame || before.status === "does-not-exist";
    this.accepted.set({
      name,
      aliases: held.aliases,
      resource: held,
      status: "acked",
      failure: undefined,
      acceptedAtMs: this.nowMs,
      server,
    });
    this.#ttls.renew(name, held.ttlMs);
    for (const term of terms) {
      answered(term);
      setStanding(term, "acked");
      this.#forgetError(term.name);
      if (isNews) this.tell(term, { kind: "changed", name, resource: held });
      else this.confirm(term, { kind: "confirmed", name, resource: held });
      if (term.kind === "glob") this.sync(term);
    }
    return isNews;
  }

  /** Applies a heartbeat of a held resource (C-TTL-10). */
  beat({ name, ttlMs }: ReceivedResource, server: number, answered: Answered): void {
    const entry = this.accepted.get(name);
    if (entry?.resource === undefined) return;
    const resource = { ...confirmed(entry.resource), ttlMs };
    this.accepted.set({ ...entry, resource, server });
    this.#ttls.renew(name, ttlMs);
    for (const term of this.interest.termsFor(name, entry.aliases)) {
      answered(term);
      if (entry.resource.isRestored === true) this.confirm(term, { kind: "confirmed", name, resource });
    }
  }

  /** Applies a removal sent by the server. Returns whether a held resource changed. */
  remove(name: string, answered: Answered): boolean {
    const entry = this.accepted.get(name);
    const terms = this.interest.termsFor(name, entry?.aliases ?? []);
    for (const term of terms) answered(term);
    if (entry?.resource !== undefined) return this.endEntry(entry, "removed");
    this.forget(name);
    const glob = this.interest.get(name);
    if (glob?.kind === "glob") this.#removeGlob(glob, answered);
    for (const term of terms) if (term.kind === "name" && !this.accepted.holds(term)) this.endTerm(term);
    return false;
  }

  /**
   * Removes aliases that the server reports as not existing (S-DLT-16); other names are ignored. Returns whether a held
   * resource changed. A resource that loses many of its aliases changes once.
   */
  removeAliases(names: Iterable<string>): boolean {
    const lost = new Map<AcceptedEntry, Set<string>>();
    for (const name of names) {
      if (this.accepted.get(name)?.resource !== undefined) continue;
      for (const entry of this.accepted.known(name)) lost.set(entry, (lost.get(entry) ?? new Set()).add(name));
    }
    let isLost = false;
    for (const [entry, gone] of lost) isLost = this.#loseAliases(entry, gone) || isLost;
    return isLost;
  }

  /** Removes every held resource of the type whose name is not listed (C-DEL-01). Returns whether there was one. */
  keepOnly(names: ReadonlySet<string>): boolean {
    const gone: AcceptedEntry[] = [];
    for (const entry of this.accepted.entries()) if (!names.has(entry.name)) gone.push(entry);
    let isNews = false;
    for (const entry of gone) {
      if (entry.resource !== undefined) isNews = this.endEntry(entry, "removed") || isNews;
      else if (entry.status === "nacked") this.#endRefused(entry);
    }
    return isNews;
  }

  /**
   * Forgets what was only ever rejected, is not listed, and is not watched by its name: a server that sends invalid
   * resources with ever new names would fill the memory.
   */
  forgetRefused(names: ReadonlySet<string>): void {
    for (const name of this.accepted.empty) {
      const isRefused = this.accepted.get(name)?.status === "nacked";
      if (isRefused && !names.has(name) && !this.#isNamed(name)) this.forget(name);
    }
  }

  /**
   * Forgets the oldest of very many names that have only failed, are not listed, and are not watched by their name.
   * Nothing says that they are gone: an error is sent once, and what was rejected need not be removed.
   */
  forgetOldFailures(names: ReadonlySet<string>): void {
    const { empty } = this.accepted;
    if (empty.size <= MOST_FAILED) return;
    for (const name of empty) {
      if (empty.size <= MOST_FAILED) break;
      if (!names.has(name) && !this.#isNamed(name)) this.forget(name);
    }
  }

  /** Notifies every watch of a failure that concerns everything it watches. */
  tellFailed(why: FailureReason, error: Status): void {
    const news: WatchEvent = { kind: "failed", name: undefined, why, error, held: undefined };
    for (const term of this.interest.terms()) this.tell(term, news);
  }

  /** Notifies every watch that the outage is over. */
  tellRecovered(): void {
    for (const term of this.interest.terms()) this.tell(term, { kind: "recovered" });
  }

  /** Concludes that a name does not exist, because a complete response omitted it (C-NEX-04). */
  concludeAbsent(term: Term): void {
    if (term.status === "requested" && !this.accepted.holds(term)) this.endTerm(term);
  }

  /** Marks a wildcard or glob as known and notifies its watches. */
  sync(term: Term): void {
    if (term.isSynced) return;
    this.interest.sync(term);
    this.tell(term, { kind: "synced" });
  }

  /**
   * Ends a held resource, or only marks it as deleted where the dialect keeps it in use. Returns whether that is new.
   */
  endEntry(entry: AcceptedEntry, why: AbsenceReason, failure?: HeldFailure): boolean {
    const { name, aliases, resource } = entry;
    const isKept = why === "removed" && this.#keepsDeleted();
    if (isKept && entry.status === "does-not-exist") return false;
    if (isKept) this.accepted.set({ ...entry, status: "does-not-exist", failure });
    else this.forget(name);
    const held = isKept ? resource : undefined;
    for (const term of this.interest.termsFor(name, aliases)) {
      if (term.kind === "name" && !isKept) setStanding(term, failure ? "received-error" : "does-not-exist", failure);
      this.tell(term, { kind: "absent", name, why, held });
    }
    return true;
  }

  /** Marks a term as not existing and notifies its watches once. */
  endTerm(term: Term): void {
    if (term.status === "does-not-exist") return;
    setStanding(term, "does-not-exist");
    this.tell(term, { kind: "absent", name: term.name, why: "does-not-exist", held: undefined });
  }

  /** Drops the entry of a name. */
  forget(name: string): void {
    this.#ttls.forget(name);
    this.accepted.delete(name);
  }

  /** Notifies every watch of a term. */
  tell({ watches }: Term, news: WatchEvent): void {
    for (const watch of watches.keys()) this.#turn.notify(watch, news);
  }

  /** Notifies the watches of a term that want confirmations. */
  confirm({ watches }: Term, news: WatchEvent & { readonly kind: "confirmed"; readonly resource: HeldResource }): void {
    for (const [watch, wantsConfirmations] of watches) if (wantsConfirmations) this.#turn.notify(watch, news);
  }

  #isNamed(name: string): boolean {
    if (this.interest.isWanted(name)) return true;
    const aliases = this.accepted.get(name)?.aliases ?? [];
    return this.interest.termsFor(name, aliases).some(({ kind }) => kind === "name");
  }

  /** Drops the server's error for a requested name that is now held under another name (C-ERR-06). */
  #forgetError(name: string): void {
    const entry = this.accepted.get(name);
    if (entry?.status === "received-error" && entry.resource === undefined) this.forget(name);
  }

  /** Drops an entry that was only ever rejected and that the server no longer sends. */
  #endRefused({ name, aliases }: AcceptedEntry): void {
    this.forget(name);
    for (const term of this.interest.termsFor(name, aliases)) if (term.kind === "name") this.concludeAbsent(term);
  }

  #ttlOf({ ttlMs }: ReceivedResource): number | undefined {
    return this.spec.dialect.ttl ? ttlMs : undefined;
  }

  #expire(name: string): void {
    const entry = this.accepted.get(name);
    if (entry === undefined) return;
    const { spec, type } = this;
    this.#turn.report({ kind: "resource-expired", source: spec.id, type, name });
    this.endEntry(entry, "expired");
    this.version.forget();
  }

  /** @spec C-DEL-10, C-ERR-09 */
  #keepsDeleted(): boolean {
    const { dialect } = this.spec;
    const isRoot = this.traits.kind === "lds" || this.traits.kind === "cds";
    return isRoot && dialect.ignoreDeletion && !dialect.failOnDataErrors;
  }

  #removeGlob(glob: Term, answered: Answered): void {
    answered(glob);
    for (const entry of [...this.accepted.answering(glob)]) this.endEntry(entry, "removed");
    this.endTerm(glob);
    this.sync(glob);
  }

  #loseAliases(entry: AcceptedEntry, gone: ReadonlySet<string>): boolean {
    const { resource } = entry;
    if (resource === undefined) return false;
    const aliases = resource.aliases.filter((one) => !gone.has(one));
    if (aliases.length === resource.aliases.length) return false;
    this.accepted.set({ ...entry, aliases, resource: { ...resource, aliases } });
    this.#endAliases(resource, aliases);
    return true;
  }

  #isDecided(term: Term): boolean {
    if (term.status !== "requested") return true;
    for (const _ of this.accepted.answering(term)) return true;
    return false;
  }

  /** Notifies the watches of aliases that a resource lost. */
  #endAliases(old: HeldResource, left: readonly string[]): void {
    const { name, aliases } = old;
    const terms = new Set(this.interest.termsFor(name, left));
    for (const term of this.interest.termsFor(name, aliases)) {
      if (terms.has(term)) continue;
      setStanding(term, "does-not-exist");
      this.tell(term, { kind: "absent", name, why: "removed", held: undefined });
    }
    if (terms.size === 0) this.forget(name);
  }
}
