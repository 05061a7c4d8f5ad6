import type { EnvoyApi } from "@xdskit/envoy-api";
import { anonymousNode, type Resource, type ResourceInput, type TypeUrl } from "@xdskit/protocol";
import {
  ClientMachine,
  clientDialect,
  opaqueTraits,
  type ReceivedResource,
  type SourceSpec,
  type TypeTraits,
} from "@xdskit/protocol/internal";

/** The traits of any type; unknown ones are opaque. */
export function traitsIn(api: EnvoyApi): (type: TypeUrl) => TypeTraits {
  return (type) => api.traits(type) ?? opaqueTraits(type);
}

/** Creates a client machine. */
export function createClientMachine(api: EnvoyApi, nodeId: string): ClientMachine {
  return new ClientMachine({ traits: traitsIn(api), node: { ...anonymousNode, id: nodeId } });
}

/** A source with one server and the default timers. */
export function sourceWith(
  what: Pick<SourceSpec, "id" | "access" | "variant" | "isAggregated" | "nodeIn">,
): SourceSpec {
  return {
    servers: 1,
    failover: "cycle",
    absenceMs: 15_000,
    backOff: { baseMs: 500, maxMs: 30_000 },
    rateLimit: undefined,
    dialect: clientDialect(),
    ...what,
  };
}

/** A received resource after validation; one that fails it carries the problem. */
export function judged(api: EnvoyApi, resource: Resource | ResourceInput, version: string): ReceivedResource {
  const { type, name, bytes, aliases = [], references = [] } = resource;
  const received = { name, aliases, version, bytes, ttlMs: undefined, references };
  const [problem] = api.validate(type, bytes);
  return problem === undefined ? received : { ...received, problem: `${problem.path.join(".")}: ${problem.message}` };
}
