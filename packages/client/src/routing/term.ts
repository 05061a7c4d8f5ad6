import { locatedTerm, type Parameters } from "@xdskit/protocol";
import { requestedName } from "../config/authority.ts";

/** What a name becomes on the way out. */
export interface TermOptions {
  /** Added to every xdstp name (C-XTP-12). */
  readonly contextParams: ReadonlyMap<string, string>;
  /** Sent with every name (C-LOC-01); undefined: names go out as they are. */
  readonly parameters: Parameters | undefined;
}

/** The term that a name is asked for by. Processing directives of xdstp names are left behind (C-XTP-03). */
export function termOf(name: string, { contextParams, parameters }: TermOptions): string {
  const whole = requestedName(name, { nodeContextParams: contextParams });
  return parameters === undefined ? whole : locatedTerm(whole, parameters);
}
