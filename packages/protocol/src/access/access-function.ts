import { hostOf } from "../node/host.ts";
import type { Peer } from "../node/node-mapping.ts";
import {
  type AccessClaim,
  type AccessGrant,
  type AccessPolicy,
  type AccessRefusal,
  verdictOf,
} from "./access-policy.ts";
import type { AccessedResource, AccessFunction } from "./access-rules.ts";
import { type StatusReaders, usualAccess } from "./usual-access.ts";

export interface FunctionAccessOptions {
  readonly statusReaders: StatusReaders;
  /** Is told what the function threw. */
  readonly onThrown: (error: unknown) => void;
}

const REASONS = { allowed: "the access function allows it", hidden: "the access function denies it" };
const FAILED = "the access function failed";

/**
 * Access by a function. It is not asked about health, reflection, metrics and the admin API, whose settings hold; for
 * client status the setting and the function both have to allow.
 */
export function functionAccess(decide: AccessFunction, options: FunctionAccessOptions): AccessPolicy {
  /** Undefined: allowed. */
  const denialOf = ({ entryPoint, peer, node }: AccessClaim, resource?: AccessedResource): string | undefined => {
    try {
      return decide({ entryPoint, peer, node, resource }) === true ? undefined : REASONS.hidden;
    } catch (error) {
      options.onThrown(error);
      return FAILED;
    }
  };
  const grant = (claim: AccessClaim): AccessGrant | AccessRefusal => {
    const usual = usualAccess(claim, options.statusReaders);
    if (usual !== undefined && (claim.entryPoint !== "csds" || "denied" in usual)) return usual;
    const denied = denialOf(claim);
    if (denied !== undefined) return { denied };
    return {
      key: keyOf(claim),
      isWhole: false,
      visible: (layer, type) => (name) => denialOf(claim, { layer, type, name }) === undefined,
    };
  };
  return {
    rules: decide,
    grant,
    explain: (claim, layers, asked) => {
      const decided = grant(claim);
      if (asked === undefined || asked.name !== undefined) return verdictOf(decided, layers, asked, REASONS);
      return verdictOf(decided, layers, asked, { ...REASONS, allowed: "the access function decides by name" });
    },
  };
}

/** Everything that a pure function can tell clients apart by, but for their ports. */
function keyOf({ entryPoint, peer, node }: AccessClaim): string {
  return JSON.stringify([entryPoint, describe(peer), node]);
}

function describe({ address, ...peer }: Peer): unknown {
  return { ...peer, host: hostOf(address) };
}
