import type { Body } from "../../message/body.ts";

/** How often the resources of unsettled responses are walked through before their names are collected. */
const WALKS = 4;

/** By body, as the streams that are sent one share it; only those that ask keep it. */
const collected = new WeakMap<Body, WeakRef<ReadonlySet<string>>>();

type Responses = readonly { readonly body: Body }[];

/** Which resources unsettled responses contain: whoever asks about each of thousands does not walk through thousands for it. */
export class BroughtNames {
  readonly #of: Responses;
  #walks = 0;
  #names: readonly ReadonlySet<string>[] | undefined;

  constructor(of: Responses) {
    this.#of = of;
  }

  isOf(pending: Responses): boolean {
    return this.#of === pending;
  }

  hasAny(names: readonly string[]): boolean {
    if (this.#names === undefined && this.#walks++ < WALKS) return this.#walk(new Set(names));
    this.#names ??= this.#of.map(({ body }) => namesOf(body));
    return this.#names.some((brought) => names.some((name) => brought.has(name)));
  }

  #walk(names: ReadonlySet<string>): boolean {
    return this.#of.some(({ body }) => body.segments.some(({ puts }) => puts.some((put) => names.has(put.name))));
  }
}

function namesOf(body: Body): ReadonlySet<string> {
  const known = collected.get(body)?.deref();
  if (known !== undefined) return known;
  const names = new Set<string>();
  for (const { puts } of body.segments) for (const { name } of puts) names.add(name);
  collected.set(body, new WeakRef(names));
  return names;
}
