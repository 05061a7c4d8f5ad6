/** An invalid regular expression; the message tells the peer why. */
export class RegexError extends Error {
  override readonly name = "RegexError";
}

/** A condition between two characters; undefined where there is none on that side. */
export type Assertion = (before: string | undefined, after: string | undefined) => boolean;

/** A piece of a regular expression. */
export type Part =
  | { readonly kind: "character"; readonly matches: (character: string) => boolean }
  | { readonly kind: "assertion"; readonly holds: Assertion }
  | { readonly kind: "sequence"; readonly parts: readonly Part[] }
  | { readonly kind: "choice"; readonly parts: readonly Part[] }
  | { readonly kind: "repetition"; readonly part: Part; readonly least: number; readonly most: number };
