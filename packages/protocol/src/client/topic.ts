import type { ReceivedResource } from "../message/response.ts";
import type { Status } from "../message/status.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { Accepted, type Entry } from "./accepted.ts";
import { AcceptedVersion } from "./accepted-version.ts";
import type { WatchStarted } from "./event.ts";
import type { HeldFailure, HeldResource } from "./held.ts";
import { EVERYTHING, Interest, type Term } from "./interest.ts";
import type { AbsenceReason, FailureReason, News } from "./news.ts";
import { confirmed, heldFrom, isSameContent } from "./received.ts";
import type { SourceSpec } from "./source.ts";
import { newsOf, setStanding } from "./standing.ts";
import { Ttls } from "./ttl.ts";
import type { Turn } from "./turn.ts";

/** Hears that terms were answered, whatever the answer was. */
export type Answered = (term: Term) => void;

/** Everything about one type at one source but how it is talked about: who wants what, what was accepted, and who is told. */
export class Topic {
  readonly spec: SourceSpec;
  readonly traits: TypeTraits;
  readonly interest: Interest = new Interest();
  readonly accepted: Accepted = new Accepted();
  /** Terms that nobody wants any more; a server may not know that yet. */
  readonly leaving: Set<Term> = new Set();
  readonly version: AcceptedVersion = new AcceptedVersion();
  readonly #turn: Turn;
  readonly #ttls: Ttls;

  constructor(turn: Turn, spec: SourceSpec, traits: TypeTraits) {
    this.#turn = turn;
    this.spec = spec;
    this.traits = traits;
    this.#ttls = new Ttls(turn, (name) => this.#expire(name));
  }

  get type(): TypeUrl {
    return this.traits.type;
  }

  get nowMs(): number {
    return this.#turn.nowMs;
  }

  /** In State of the World, what a response leaves out is gone (C-DEL-01). */
  get isFullState(): boolean {
    return this.traits.kind === "srds" ? this.spec.dialect.srdsFullState : this.traits.isFullState;
  }

  /** A watch is told what is known already (C-CLI-02). */
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

  /** Whether nobody wants the term any more. */
  stop(watch: number, term: Term): boolean {
    const isLast = this.interest.stop(watch, term);
    if (isLast) this.leaving.add(term);
    return isLast;
  }

  /** No server believes that the term is wanted: what was held for it alone is dropped (C-UNS-09). */
  release(term: Term): void {
    this.leaving.delete(term);
    const answering = [...this.accepted.answering(term)];
    this.interest.release(term);
    for (const { name, aliases } of answering) {
      if (this.interest.termsFor(name, aliases).length === 0) this.forget(name);
    }
    if (term.kind === "everything" || this.interest.wanted === 0) this.version.forget();
  }

  /** The version that a server is told to be in force; undefined: none. One for everything counts only if everything came with it. */
  versionFor(server: number): string | undefined {
    return this.isEverythingUnknown ? undefined : this.version.of(server);
  }

  /** Everything is wanted, and was not told yet. */
  get isEverythingUnknown(): boolean {
    return this.interest.isWanted(EVERYTHING) && this.interest.get(EVERYTHING)?.isSynced === false;
  }

  /** Whether a term need not be waited for: what is held for it came from the server, or can be confirmed by it. */
  isKnown(term: Term, server: number): boolean {
    if (term.kind !== "name") return term.isSynced || term.kind === "everything";
    for (const { resource, server: from } of this.accepted.answering(term)) {
      const isConfirmed = from === server || (this.spec.variant === "delta" && from === undefined);
      if (resource !== undefined && isConfirmed) return true;
    }
    return false;
  }

  /** Of something that is wanted nothing is known: neither what it is, nor that there is none (C-FBK-02). */
  get isMissingSomething(): boolean {
    for (const term of this.interest.terms()) {
      if (term.watches.size === 0) continue;
      if (term.kind === "name" ? !this.#isDecided(term) : !term.isSynced) return true;
    }
    return false;
  }

  /** Takes a resource, if somebody asked for it (C-SUB-04). Whether anything is not as before. */
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

  /** What is held is alive (C-TTL-10). */
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

  /** A server said that there is none. Whether one was held. */
  remove(name: string, answered: Answered): boolean {
    const entry = this.accepted.get(name);
    const terms = this.interest.termsFor(name, entry?.aliases ?? []);
    for (const term of terms) answered(term);
    if (entry?.resource !== undefined) return this.endEntry(entry, "removed");
    this.forget(name);
    const lost = this.#removeAlias(name);
    const glob = this.interest.get(name);
    if (glob?.kind === "glob") this.#removeGlob(glob, answered);
    for (const term of terms) if (term.kind === "name" && !this.accepted.holds(term)) this.endTerm(term);
    return lost;
  }

  /** Of everything of the type that is held, what is not among these names is gone (C-DEL-01). Whether anything is. */
  keepOnly(names: ReadonlySet<string>): boolean {
    const gone: Entry[] = [];
    for (const entry of this.accepted.entries()) if (!names.has(entry.name)) gone.push(entry);
    let isNews = false;
    for (const entry of gone) {
      if (entry.resource !== undefined) isNews = this.endEntry(entry, "removed") || isNews;
      else if (entry.status === "nacked") this.#endRefused(entry);
    }
    return isNews;
  }

  /** Everybody who watches is told of what concerns all they watch. */
  tellFailed(why: FailureReason, error: Status): void {
    const news: News = { kind: "failed", name: undefined, why, error, held: undefined };
    for (const term of this.interest.terms()) this.tell(term, news);
  }

  /** Everybody who watches is told that the outage is over. */
  tellRecovered(): void {
    for (const term of this.interest.terms()) this.tell(term, { kind: "recovered" });
  }

  /** A response left it out, and it is known that it would be there (C-NEX-04). */
  concludeAbsent(term: Term): void {
    if (term.status === "requested" && !this.accepted.holds(term)) this.endTerm(term);
  }

  /** Of everything, or of a glob, what there is is known. */
  sync(term: Term): void {
    if (term.isSynced) return;
    this.interest.sync(term);
    this.tell(term, { kind: "synced" });
  }

  /** What is held is not any more, or is only said not to be. Whether that is new. */
  endEntry(entry: Entry, why: AbsenceReason, failure?: HeldFailure): boolean {
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

  /** A term was asked for in vain. Told once. */
  endTerm(term: Term): void {
    if (term.status === "does-not-exist") return;
    setStanding(term, "does-not-exist");
    this.tell(term, { kind: "absent", name: term.name, why: "does-not-exist", held: undefined });
  }

  /** Nothing is known of a name any more. */
  forget(name: string): void {
    this.#ttls.forget(name);
    this.accepted.delete(name);
  }

  /** Everybody who watches a term is told. */
  tell({ watches }: Term, news: News): void {
    for (const watch of watches.keys()) this.#turn.notify(watch, news);
  }

  /** Whoever watches a term and wants to know of confirmations is told. */
  confirm({ watches }: Term, news: News & { readonly kind: "confirmed"; readonly resource: HeldResource }): void {
    for (const [watch, wantsConfirmations] of watches) if (wantsConfirmations) this.#turn.notify(watch, news);
  }

  /** What a server had an error for is there now, under another name than it was asked for (C-ERR-06). */
  #forgetError(name: string): void {
    const entry = this.accepted.get(name);
    if (entry?.status === "received-error" && entry.resource === undefined) this.forget(name);
  }

  /** What was refused, and never held, is not offered any more. */
  #endRefused({ name, aliases }: Entry): void {
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

  /** A server says that nothing answers to a name by which something was known (S-DLT-16). */
  #removeAlias(alias: string): boolean {
    let isLost = false;
    for (const entry of [...this.accepted.known(alias)]) {
      const { resource } = entry;
      if (resource === undefined || !resource.aliases.includes(alias)) continue;
      isLost = true;
      const aliases = resource.aliases.filter((one) => one !== alias);
      this.accepted.set({ ...entry, aliases, resource: { ...resource, aliases } });
      this.#endAliases(resource, aliases);
    }
    return isLost;
  }

  #isDecided(term: Term): boolean {
    if (term.status !== "requested") return true;
    for (const _ of this.accepted.answering(term)) return true;
    return false;
  }

  /** Those who know a resource by a name that it has no more are told that it is gone. */
  #endAliases(old: HeldResource, left: readonly string[]): void {
    const { name, aliases } = old;
    const terms = this.interest.termsFor(name, left);
    for (const term of this.interest.termsFor(name, aliases)) {
      if (terms.includes(term)) continue;
      setStanding(term, "does-not-exist");
      this.tell(term, { kind: "absent", name, why: "removed", held: undefined });
    }
    if (terms.length === 0) this.forget(name);
  }
}
