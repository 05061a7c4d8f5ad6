import type { Body, Segment } from "../../message/body.ts";
import { type ErrorSet, noErrors } from "../../resource/error-set.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { plainName } from "../../resource/variant-name.ts";
import type { View } from "../../state/view.ts";
import { memo } from "../memory/memo.ts";
import { Recent } from "../memory/recent.ts";
import type { NameSets } from "../subscription/name-set.ts";
import type { Subscription } from "../subscription/subscription.ts";

/** How two sets of resource errors differ. */
export interface ErrorDifference {
  readonly errors: readonly Resource[];
  /** Names that have no error any more. */
  readonly lifted: readonly string[];
}

/** How many errors are kept for sets of names, for each set of errors; a client may subscribe to ever other names. */
const ERRORS_KEPT = 200_000;

/** Sets of errors, differences and bodies that serve several clients; kept while the errors stay the same. */
export class SharedErrors {
  readonly #ofSets = new WeakMap<ErrorSet, Recent<ErrorSet>>();
  readonly #news = new WeakMap<ErrorSet, WeakMap<ErrorSet, ErrorDifference>>();
  readonly #bodies = new WeakMap<Body, WeakMap<readonly Resource[], Map<string, Body>>>();
  readonly #kept: number;

  constructor(kept: number = ERRORS_KEPT) {
    this.#kept = kept;
  }

  /**
   * The errors of a view that a subscription covers. A wildcard covers all but those of glob collections (B-ERR-12).
   */
  of(view: View, type: TypeUrl, subscription: Subscription, sets: NameSets): ErrorSet {
    const all = view.errors(type);
    if (all.size === 0) return noErrors;
    return this.#recentOf(all).get(subscription.sharedKey(sets), () => {
      const { isWildcard, names, locators } = subscription;
      const isNamed = (name: string): boolean => locators?.asksFor(name) ?? names.has(name);
      const covered = [...all].filter(([name]) => isNamed(name) || (isWildcard && !isGlob(name)));
      return covered.length === 0 ? noErrors : covered.length === all.size ? all : new Map(covered);
    });
  }

  /** How many errors are kept for sets of names, of a set of errors, plus one for each set of names. */
  keptOf(all: ErrorSet): number {
    return this.#recentOf(all).size;
  }

  #recentOf(all: ErrorSet): Recent<ErrorSet> {
    return memo(this.#ofSets, all, () => new Recent<ErrorSet>(this.#kept, ({ size }) => size));
  }

  /** The difference for a client that knew the errors `before`. */
  between(before: ErrorSet, now: ErrorSet): ErrorDifference {
    if (before === now) return noNews;
    const byNow = this.#news.get(before) ?? new WeakMap<ErrorSet, ErrorDifference>();
    this.#news.set(before, byNow);
    const known = byNow.get(now);
    if (known !== undefined) return known;
    const news = {
      errors: [...now.values()].filter(({ name, version }) => before.get(name)?.version !== version),
      lifted: [...before.keys()].filter((name) => !now.has(name)),
    };
    byNow.set(now, news);
    return news;
  }

  /** A body with errors added; the same object for the same body, errors and `how`. */
  body(body: Body, { errors }: ErrorDifference, how: string, make: () => Body): Body {
    const byNews = this.#bodies.get(body) ?? new WeakMap<readonly Resource[], Map<string, Body>>();
    this.#bodies.set(body, byNews);
    const byHow = byNews.get(errors) ?? new Map<string, Body>();
    byNews.set(errors, byHow);
    const known = byHow.get(how) ?? make();
    byHow.set(how, known);
    return known;
  }
}

const noNews: ErrorDifference = { errors: [], lifted: [] };

/** How a body is changed to carry errors. */
interface Replacement {
  /** Errors to add, unless the body has the name as missing (S-ERR-03). */
  readonly news: readonly Resource[];
  /** Names to remove, because their error was lifted and they do not exist. */
  readonly lifted: readonly string[];
  /** Whether the name stays among removed or missing names as well. */
  readonly isKept: (error: Resource) => boolean;
}

/**
 * Replaces removed and missing names of a delta body by errors that say why. Returns the same body if nothing changes.
 */
export function replaceNames(body: Body, errors: ErrorSet, { news, lifted, isKept }: Replacement): Body {
  const told = new Map(news.map((error) => [error.name, error]));
  const gone = new Set(lifted);
  let isChanged = told.size + gone.size > 0;
  const replace = (name: string): boolean => {
    const error = errors.get(plainName(name));
    if (error === undefined) return false;
    told.set(error.name, error);
    isChanged = true;
    return !isKept(error);
  };
  const segments = body.segments.map((segment): Segment => {
    for (const name of segment.removed) gone.delete(name);
    if (segment.removed.length + segment.missing.length === 0) return segment;
    const removed = segment.removed.filter((name) => !replace(name));
    const missing = segment.missing.filter((name) => !replace(name));
    // A resource without a body already says it, and a name appears only once (S-ERR-03).
    for (const name of missing) told.delete(name);
    const isSame = removed.length === segment.removed.length && missing.length === segment.missing.length;
    return isSame ? segment : { ...segment, removed, missing };
  });
  if (!isChanged) return body;
  const said = { puts: [], removed: [...gone], missing: [], errors: [...told.values()] };
  return { ...body, segments: said.errors.length + gone.size === 0 ? segments : [...segments, said] };
}

/** Whether a name is that of a glob collection: `xdstp://authority/type/path/*`. */
function isGlob(name: string): boolean {
  return name.endsWith("/*");
}
