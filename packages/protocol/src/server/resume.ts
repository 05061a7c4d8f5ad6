import type { InitialVersions } from "../message/request.ts";
import { matches, noParameters } from "../resource/constraints.ts";
import type { Resource } from "../resource/resource.ts";
import { canonicalName } from "../resource/resource-name.ts";
import type { Ttls } from "../resource/ttl.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import { locatedTerm, parseLocated } from "../resource/variant-name.ts";
import type { View } from "../state/view.ts";
import type { Locators } from "./locators.ts";
import { isAsked } from "./selection.ts";
import { isNamed, type Subscription } from "./subscription.ts";

/** How many names are compared before others get their turn: 1 to 9 ms. */
const NAMES_PER_STEP = 10_000;

/**
 * What a client that comes back holds, against what it should hold: one pass over what it sent, without a copy of it.
 *
 * @spec S-REC-09, S-REC-10
 */
export class Comparison {
  readonly puts: Resource[] = [];
  /** Listed by the client and gone. */
  readonly removed: string[] = [];
  /** Asked for, never held, and not there. */
  readonly missing: string[] = [];
  /** Of `puts`, what the client did not list. */
  readonly newcomers: Set<string> = new Set();
  readonly #view: View;
  readonly #type: TypeUrl;
  readonly #subscription: Subscription;
  readonly #initial: InitialVersions;
  readonly #trustsVersions: boolean;
  readonly #ttls: Ttls;
  #rest: Iterator<readonly [string, string]> | undefined;
  #covered = 0;
  /** What a client that speaks of parameters listed: it can say of which name, and not of which variant, it has a version. */
  readonly #listed = new Map<string, Set<string>>();
  /** Collections of the type's own that terms belong to. */
  #collections: ReadonlySet<string> | undefined;

  /**
   * `trustsVersions`: what the client reports at the current version need not be sent. Who is told of ttls is sent all the
   * same what it may hold for a time only: it may have expired, and no client asks for it again (client-behaviours E4).
   */
  constructor(
    view: View,
    type: TypeUrl,
    subscription: Subscription,
    initial: InitialVersions,
    trustsVersions: boolean,
    ttls: Ttls = "left-off",
  ) {
    this.#view = view;
    this.#type = type;
    this.#subscription = subscription;
    this.#initial = initial;
    this.#trustsVersions = trustsVersions;
    this.#ttls = ttls;
    this.#rest = initial[Symbol.iterator]();
  }

  get isDone(): boolean {
    return this.#rest === undefined;
  }

  /** Compares some more names. */
  step(): void {
    for (let i = 0; i < NAMES_PER_STEP && this.#rest !== undefined; i++) {
      const next = this.#rest.next();
      if (next.done === true) {
        this.#rest = undefined;
        const { locators } = this.#subscription;
        if (locators === undefined) this.#addUnknown();
        else this.#compareLocated(locators);
      } else this.#take(canonicalName(next.value[0]), next.value[1]);
    }
  }

  #take(name: string, version: string): void {
    if (this.#subscription.locators === undefined) this.#compare(name, version);
    else this.#listed.set(name, (this.#listed.get(name) ?? new Set()).add(version));
  }

  /** Which variant it has of a name, the version says: constraints are part of it. */
  #compareLocated(locators: Locators): void {
    const found = new Map<string, Resource>();
    for (const term of this.#subscription.names) {
      const answers = this.#view.answersTo(this.#type, term);
      for (const one of answers) found.set(one.name, one);
      if (answers.length === 0) this.missing.push(term);
    }
    if (this.#subscription.isWildcard)
      for (const member of this.#view.members(this.#type)) if (!member.onDemand) found.set(member.name, member);
    const called = new Map<string, Resource[]>();
    for (const resource of found.values()) {
      const name = resource.variant?.name ?? resource.name;
      called.set(name, [...(called.get(name) ?? []), resource]);
      const versions = this.#listed.get(name);
      if (versions === undefined) this.newcomers.add(resource.name);
      const isHeld = this.#trustsVersions && versions?.has(resource.version) === true;
      if (!isHeld || this.#mayExpire(resource.name)) this.puts.push(resource);
    }
    this.#removeGone(locators, called);
  }

  /** Of what is gone nobody knows the constraints any more: it is gone for the parameters by which it was asked for. */
  #removeGone(locators: Locators, found: ReadonlyMap<string, readonly Resource[]>): void {
    const { isWildcard, names } = this.#subscription;
    const gone = new Set<string>();
    for (const name of this.#listed.keys()) {
      const here = found.get(name) ?? [];
      const terms = locators.termsAround(name);
      if (isWildcard && terms.length === 0 && here.length === 0) gone.add(name);
      for (const term of terms) {
        const parameters = parseLocated(term)?.parameters ?? noParameters;
        const isThere = here.some(({ variant }) => variant === undefined || matches(variant.constraints, parameters));
        const told = locatedTerm(name, parameters);
        if (!isThere && !names.has(told)) gone.add(told);
      }
    }
    this.removed.push(...gone);
  }

  #compare(name: string, version: string): void {
    const now = this.#view.holder(this.#type, name);
    if (now !== undefined && isAsked(now, this.#view, this.#subscription)) {
      this.#covered++;
      if (!this.#trustsVersions || now.version !== version || this.#mayExpire(name)) this.puts.push(now);
    } else if (this.#mayBeHeld(name)) this.removed.push(name);
  }

  /** Whether it may have been given for what is asked for: by its name, or for a term of its collection. */
  #mayBeHeld(name: string): boolean {
    const { isWildcard, names, terms } = this.#subscription;
    if (isWildcard || isNamed(names, name)) return true;
    const collection = terms?.collectionOf(name);
    if (terms === undefined || collection === undefined) return false;
    this.#collections ??= new Set([...names].flatMap((term) => terms.collectionOf(term) ?? []));
    return this.#collections.has(collection);
  }

  #mayExpire(name: string): boolean {
    return this.#ttls === "told" && this.#view.mayExpire(this.#type, name);
  }

  /** What the client should hold and did not list. If it listed as many as there are, there is nothing of the kind. */
  #addUnknown(): void {
    const { isWildcard, names } = this.#subscription;
    if (names.size === 0 && this.#covered === this.#view.coveredBy(this.#type)) return;
    const listed = new Set<string>();
    for (const [name] of this.#initial) listed.add(canonicalName(name));
    const add = (resource: Resource): void => {
      if (listed.has(resource.name)) return;
      listed.add(resource.name);
      this.puts.push(resource);
      this.newcomers.add(resource.name);
    };
    if (isWildcard) for (const member of this.#view.members(this.#type)) if (!member.onDemand) add(member);
    for (const term of names) {
      const answers = this.#view.answersTo(this.#type, term);
      for (const found of answers) add(found);
      if (answers.length === 0 && !listed.has(term)) this.missing.push(term);
    }
  }
}
