import { canonicalName, formatResourceName, locatedTerm, type Parameters, parseResourceName } from "@xdskit/protocol";

/** What a name becomes on the way out. */
export interface TermOptions {
  /** Added to every xdstp name (C-XTP-12). */
  readonly contextParams: ReadonlyMap<string, string>;
  /** Sent with every name (C-LOC-01); undefined: names go out as they are. */
  readonly parameters: Parameters | undefined;
}

/** The term that a name is asked for by. Processing directives of xdstp names are left behind (C-XTP-03). */
export function termOf(name: string, { contextParams, parameters }: TermOptions): string {
  const whole = withContext(name, contextParams);
  return parameters === undefined ? whole : locatedTerm(whole, parameters);
}

/** What a name says itself goes before what is said of all of them. */
function withContext(name: string, contextParams: ReadonlyMap<string, string>): string {
  const parsed = contextParams.size === 0 ? undefined : parseResourceName(name);
  if (parsed === undefined) return canonicalName(name);
  return formatResourceName({ ...parsed, contextParams: new Map([...contextParams, ...parsed.contextParams]) });
}
