/**
 * The defaults with what is given in their place. A field that is undefined counts as absent: a program passes it as
 * `host: process.env.HOST`.
 */
export function withDefaults<D extends object, G extends object>(defaults: D, given: G | undefined): D & G {
  const present = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(present) } as D & G;
}
