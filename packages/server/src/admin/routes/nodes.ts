import type { Node } from "@xdskit/protocol";
import { globMatches, type StreamState, type TypeState } from "@xdskit/protocol/internal";
import type { NodeAnswer } from "../answers/nodes.ts";
import { type Describer, describeDialect, time, userAgentOf } from "../describe.ts";
import type { Query } from "../query.ts";
import type { AdminSources } from "../route.ts";
import { page, pageKinds, pageParameters, type Route, type Step } from "../route.ts";
import { deliveriesAnswer, nodesAnswer, streamsAnswer } from "../schema/answers.ts";
import { chosenType } from "./resources.ts";

/** Parameters that select nodes by their identity. */
const nodeParameters: Readonly<Record<string, string>> = {
  cluster: "only nodes whose cluster matches this glob",
  "user-agent": "only nodes whose user agent matches this glob: envoy 1.3*",
};

/** The connected nodes and the state of each of their types. */
export const nodes: Route = {
  path: "/api/v1/nodes",
  says: "connected nodes, with their layers and, per type, what they ACKed, NACKed and miss",
  parameters: {
    id: "only nodes whose id matches this glob",
    ...nodeParameters,
    type: "only this type, and nodes that subscribe to it",
    nacked: "true: only nodes and types with a NACK",
    ...pageParameters,
  },
  kinds: { nacked: "flag", ...pageKinds },
  answers: { 200: nodesAnswer },
  answer: (sources, query) => page(query, findNodes(sources, nodeChoice(sources, query))),
};

/** Filters streams by node; a stream without a node matches only if no node parameter is given. */
function nodeFilter(query: Query, idParameter: "id" | "node"): (state: StreamState) => boolean {
  const wanted: readonly (readonly [string | undefined, (node: Node) => string])[] = [
    [query.text(idParameter), ({ id }) => id],
    [query.text("cluster"), ({ cluster }) => cluster],
    [query.text("user-agent"), userAgentOf],
  ];
  return ({ node }) =>
    wanted.every(
      ([pattern, textOf]) => pattern === undefined || (node !== undefined && globMatches(pattern, textOf(node))),
    );
}

/** Selects the nodes of a list, and the types shown of each. */
export interface NodeChoice {
  readonly isWanted: (stream: StreamState) => boolean;
  /** Nodes without a shown type are omitted. Undefined: every type, and nodes without any. */
  readonly isShown: ((type: TypeState) => boolean) | undefined;
}

/** Every node with every type. */
export const everyNode: NodeChoice = { isWanted: () => true, isShown: undefined };

function nodeChoice({ view }: AdminSources, query: Query): NodeChoice {
  const isWanted = nodeFilter(query, "id");
  const only = chosenType(view, query);
  const isNacked = query.flag("nacked");
  if (only === undefined && !isNacked) return { isWanted, isShown: undefined };
  return {
    isWanted,
    isShown: ({ type, nacked }) => (only === undefined || type === only) && (!isNacked || nacked !== undefined),
  };
}

/** Groups streams by node id. A stream before its first request has no node. */
export function* findNodes(
  { view, describe, deliveries }: Pick<AdminSources, "view" | "describe" | "deliveries">,
  { isWanted, isShown }: NodeChoice,
): Iterable<Step<NodeAnswer>> {
  const byId = new Map<string, StreamState[]>();
  for (const state of view.streams()) {
    yield undefined;
    if (state.node === undefined || !isWanted(state)) continue;
    const shown = isShown === undefined ? state : { ...state, types: state.types.filter(isShown) };
    if (isShown !== undefined && shown.types.length === 0) continue;
    const streams = byId.get(state.node.id);
    if (streams === undefined) byId.set(state.node.id, [shown]);
    else streams.push(shown);
  }
  for (const nodeId of [...byId.keys()].sort()) {
    const streams = byId.get(nodeId) ?? [];
    yield () => describeNode(streams, describe, deliveries);
  }
}

function describeNode(
  streams: readonly StreamState[],
  describe: Describer,
  deliveries: AdminSources["deliveries"],
): NodeAnswer {
  const times = streams.flatMap(({ stream }) => deliveries.stream(stream) ?? []);
  const newest = streams.at(-1);
  const opened = times.map(({ openedAt }) => openedAt);
  const requested = times.flatMap(({ lastRequestAt }) => lastRequestAt ?? []);
  return {
    ...(newest?.node === undefined ? { id: "", cluster: "", userAgent: "" } : describe.node(newest.node)),
    streams: streams.map(({ stream, apiVersion, variant, isPoller, peer, dialect }) => ({
      stream,
      apiVersion,
      variant,
      ...(isPoller && { isPoller }),
      peer: peer.address,
      ...(dialect !== undefined && { dialect: describeDialect(dialect) }),
    })),
    layers: newest?.layers ?? [],
    ...time("connectedAt", opened.length === 0 ? undefined : Math.min(...opened)),
    ...time("lastRequestAt", requested.length === 0 ? undefined : Math.max(...requested)),
    types: streams.flatMap(({ stream, types }) => types.map((type) => describe.typeState(stream, type))),
  };
}

/** Every open stream. */
export const streams: Route = {
  path: "/api/v1/streams",
  says: "open streams, including those whose node is not known yet",
  parameters: { node: "only those of this node", ...pageParameters },
  kinds: pageKinds,
  answers: { 200: streamsAnswer },
  answer({ view, describe }, query) {
    const node = query.text("node");
    function* steps(): Iterable<Step> {
      for (const state of view.streams()) {
        yield node === undefined || state.node?.id === node ? () => describe.stream(state) : undefined;
      }
    }
    return page(query, steps());
  },
};

const FATES = ["acked", "pending", "nacked", "sent", "requested-but-missing", "requested"] as const;

/** Delivery status: a row per node and type (S-ACK-13, K2). */
export const deliveries: Route = {
  path: "/api/v1/deliveries",
  says: "delivery status per node and type: ACKed, NACKed and why, or pending",
  parameters: {
    node: "only nodes whose id matches this glob",
    ...nodeParameters,
    type: "only this type",
    state: `only rows in this state: ${FATES.join(", ")}. requested-but-missing: all that miss something`,
    ...pageParameters,
  },
  kinds: { state: FATES, ...pageKinds },
  answers: { 200: deliveriesAnswer },
  answer({ view, describe }, query) {
    const isWanted = nodeFilter(query, "node");
    const only = chosenType(view, query);
    const fate = query.oneOf("state", FATES);
    function* steps(): Iterable<Step> {
      for (const state of view.streams()) {
        yield undefined;
        if (!isWanted(state)) continue;
        for (const type of state.types) {
          if (only !== undefined && type.type !== only) continue;
          const row = describe.delivery(state, type);
          if (fate === undefined || row.state === fate || (fate === "requested-but-missing" && row.missing))
            yield () => row;
        }
      }
    }
    return page(query, steps());
  },
};
