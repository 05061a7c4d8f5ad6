import type { SotwRequest } from "../message/request.ts";
import { isLocated } from "../resource/variant-name.ts";
import { EVERYTHING } from "./interest.ts";
import type { TypeSubscription } from "./type-subscription.ts";

/** How a request expresses the wildcard, if there is one. */
interface Naming {
  readonly isEverything: boolean;
  /** An empty list of names is the wildcard. */
  readonly isLegacy: boolean;
  /** No names are sent besides the wildcard. */
  readonly isSticky: boolean;
}

type Named = Pick<SotwRequest, "names" | "hasLocators">;

/**
 * The names in the requests of one type on one stream: the whole set each time (C-SUB-01), and the same array while it
 * does not change.
 */
export class SotwRequestNames {
  #named: Named = { names: [] };
  #revision = -1;
  #isLegacy = false;

  of({ interest }: TypeSubscription, naming: Naming): Named {
    if (this.#revision !== interest.revision || this.#isLegacy !== naming.isLegacy) {
      this.#revision = interest.revision;
      this.#isLegacy = naming.isLegacy;
      const names = namesOf(interest.wantedTexts(), naming);
      this.#named = names.some(isLocated) ? { names, hasLocators: true } : { names };
    }
    return this.#named;
  }
}

/** Creates a State of the World request of a type without its node, which the stream adds. */
export function sotwRequest(
  { type }: TypeSubscription,
  what: Named & Pick<SotwRequest, "nonce" | "error" | "versionInfo">,
): SotwRequest {
  return { kind: "sotw", type, node: undefined, ...what };
}

/** @spec C-SUB-17 */
function namesOf(wanted: readonly string[], { isEverything, isLegacy, isSticky }: Naming): readonly string[] {
  if (!isEverything) return wanted;
  if (isLegacy) return [];
  return isSticky ? [EVERYTHING] : [EVERYTHING, ...wanted.filter((text) => text !== EVERYTHING)];
}
