import type { DiscoveryRequest } from "../../message/request.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { shownName } from "../../resource/variant-name.ts";
import { NAMES_SHOWN } from "../ack/body-names.ts";
import type { TypeState } from "../contract/inspect.ts";
import type { StragglerType } from "../contract/progress.ts";

interface Withheld {
  readonly request: DiscoveryRequest;
  readonly missing: readonly string[];
}

/** The types of a stream of which a request waits for content that is not at hand. */
export class WithheldTypes {
  readonly #types = new Map<TypeUrl, Withheld>();

  get isEmpty(): boolean {
    return this.#types.size === 0;
  }

  has(type: TypeUrl): boolean {
    return this.#types.has(type);
  }

  set(type: TypeUrl, request: DiscoveryRequest, missing: readonly string[]): void {
    this.#types.set(type, { request, missing: missing.slice(0, NAMES_SHOWN) });
  }

  /** The request of a type came through. Returns false if none was withheld. */
  end(type: TypeUrl): boolean {
    return this.#types.delete(type);
  }

  /** What keeps the client from any revision. */
  behind(): readonly StragglerType[] {
    return [...this.#types].map(([type, withheld]) => {
      return { type, state: "not-sent", wait: waitOf(withheld), names: namesOf(withheld), error: undefined };
    });
  }

  /** The states of types, with those in which a request is withheld. */
  describeWith(types: readonly TypeState[]): readonly TypeState[] {
    const known = new Set(types.map(({ type }) => type));
    const described = types.map((state) => {
      const withheld = this.#types.get(state.type);
      return withheld === undefined ? state : { ...state, ...waiting(withheld) };
    });
    const others = [...this.#types].filter(([type]) => !known.has(type));
    return [...described, ...others.map(([type, withheld]) => unopened(type, withheld))];
  }
}

function waiting(withheld: Withheld): Pick<TypeState, "wait" | "waiting"> {
  return { wait: waitOf(withheld), waiting: namesOf(withheld) };
}

function waitOf({ missing }: Withheld): TypeState["wait"] {
  return { for: "content", name: shownName(missing[0] ?? "") };
}

function namesOf({ missing }: Withheld): readonly string[] {
  return missing.map(shownName);
}

/** A type of which the stream has no request but those that are withheld. */
function unopened(type: TypeUrl, withheld: Withheld): TypeState {
  const { request } = withheld;
  const names = request.kind === "sotw" ? request.names : request.subscribe;
  const nothing = { doesNotExist: [], errors: [], pendingRemovals: [], pending: [] } as const;
  const never = {
    sentRevision: undefined,
    sentVersion: undefined,
    ttl: undefined,
    acked: undefined,
    nacked: undefined,
  };
  const isWildcard = names.length === 0 || names.includes("*");
  return {
    type,
    isWildcard,
    names: names.filter((name) => name !== "*").length,
    ...nothing,
    ...never,
    ...waiting(withheld),
  };
}
