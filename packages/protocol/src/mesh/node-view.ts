import type { Edge, GraphEntry } from "./graph.ts";
import type { MeshLink, MeshLinkState, MeshNode, MeshNodeState, NodeId } from "./mesh-node.ts";
import type { MeshOptions } from "./mesh-options.ts";

/** Returns the published form of an entry. */
export function nodeOf(entry: GraphEntry, options: MeshOptions): MeshNode {
  const { id, source, type, name, groups, inUse, next, failure } = entry;
  return {
    id,
    source,
    type,
    name,
    watches: [...groups].map(({ watch }) => watch),
    isRoot: [...groups].some(({ pins, isCollection }) => pins > 0 && !isCollection),
    state: stateOf(entry),
    resource: inUse?.resource,
    warming: next?.resource,
    links: [...((inUse ?? next)?.edges ?? [])].map((edge) => linkOf(edge, options)),
    failure,
  };
}

function stateOf({ isAbsent, inUse, next }: GraphEntry): MeshNodeState {
  if (isAbsent) return "absent";
  if (inUse !== undefined) return "ready";
  return next === undefined ? "requested" : "warming";
}

function linkOf(edge: Edge, options: MeshOptions): MeshLink {
  const { type, name, extension } = edge.dependency;
  const state = linkState(edge, options);
  return {
    type,
    name,
    watch: edge.group?.watch,
    node: nodeBehind(edge),
    state,
    ...(extension !== undefined && { extension }),
  };
}

function nodeBehind({ group }: Edge): NodeId | undefined {
  if (group === undefined || group.isCollection) return undefined;
  const [member] = group.members.keys();
  return member ?? group.asked?.id;
}

function linkState(edge: Edge, options: MeshOptions): MeshLinkState {
  const { group, dependency, state } = edge;
  if (state === "idle" || state === "by-name" || state === "unresolved") return state;
  const isThere = group !== undefined && (group.usable > 0 || (group.isCollection && group.isAnswered));
  if (isThere && isUsedBy(edge, options)) return "there";
  return dependency.extension?.fallback === undefined ? "missing" : "fallback";
}

function isUsedBy({ group, dependency, state }: Edge, options: MeshOptions): boolean {
  // Without the EDS cache, endpoints of an earlier version of the Cluster are not used (C-WRM-04).
  const isLate = state === "given-up" && dependency.isAskedAnew === true;
  if (isLate && group !== undefined && options.edsCacheOf(group.source) === "off") return false;
  const types = dependency.extension?.types ?? [];
  if (types.length === 0) return true;
  const held = [...(group?.members.values() ?? [])].flatMap(({ inUse }) => inUse?.resource ?? []);
  return held.every((resource) => {
    const configured = options.configuredTypeOf(resource);
    return configured !== undefined && types.includes(configured);
  });
}
