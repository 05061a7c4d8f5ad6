import type { Parameters } from "@xdskit/protocol";
import { locatedTerm } from "@xdskit/protocol/internal";
import { requestedName } from "../config/authority.ts";

/** What is added to a name when it is requested. */
export interface TermOptions {
  /** Added to every xdstp name (C-XTP-12). */
  readonly contextParams: ReadonlyMap<string, string>;
  /** Sent with every name (C-LOC-01); undefined: names are sent unchanged. */
  readonly parameters: Parameters | undefined;
}

/** The term that requests a name, without xdstp processing directives (C-XTP-03). */
export function termOf(name: string, { contextParams, parameters }: TermOptions): string {
  const whole = requestedName(name, { nodeContextParams: contextParams });
  return parameters === undefined ? whole : locatedTerm(whole, parameters);
}
