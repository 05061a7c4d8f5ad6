import type { Node } from "@xdskit/protocol";
import { globMatches, type StreamState, type TypeState } from "@xdskit/protocol/internal";
import type { FleetNode } from "../../observe/fleet.ts";
import { NODE_CONDITIONS } from "../../observe/node-condition.ts";
import type { NodeAnswer } from "../answers/nodes.ts";
import { type Describer, describeDialect, time, userAgentOf } from "../describe.ts";
import { inTurn } from "../merge/merge.ts";
import { mergeNodes } from "../merge/nodes.ts";
import type { Query } from "../query.ts";
import type { AdminSources } from "../route.ts";
import { page, pageKinds, pageParameters, type Route, type Step } from "../route.ts";
import { deliveriesAnswer } from "../schema/deliveries.ts";
import { nodesAnswer, streamsAnswer } from "../schema/nodes.ts";
import type { AdminView } from "../view.ts";
import { readRevision } from "./progress.ts";
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
    state: `only nodes in this state: ${NODE_CONDITIONS.join(", ")}; the worst of their types counts`,
    layer: "only nodes whose view has this layer",
    has: "only nodes that have this revision: a number, or `head`",
    lacks: "only nodes that do not have this revision: a number, or `head`",
    type: "only this type, and nodes that subscribe to it",
    nacked: "true: only nodes and types with a NACK",
    ...pageParameters,
  },
  kinds: { state: NODE_CONDITIONS, nacked: "flag", ...pageKinds },
  merge: mergeNodes,
  answers: { 200: nodesAnswer },
  answer: (sources, query) => page(query, findNodes(sources, nodeChoice(sources, query))),
};

/** Tests the node for the patterns of a query; undefined: it has none. */
function nodeFilter(query: Query, idParameter: "id" | "node"): ((node: Node) => boolean) | undefined {
  const wanted: readonly (readonly [string | undefined, (node: Node) => string])[] = [
    [query.text(idParameter), ({ id }) => id],
    [query.text("cluster"), ({ cluster }) => cluster],
    [query.text("user-agent"), userAgentOf],
  ];
  const given = wanted.filter(([pattern]) => pattern !== undefined);
  if (given.length === 0) return undefined;
  return (node) => given.every(([pattern = "*", textOf]) => globMatches(pattern, textOf(node)));
}

/** Selects the nodes of a list, and the types shown of each. */
export interface NodeChoice {
  readonly isWanted: (node: FleetNode) => boolean;
  /** Nodes without a shown type are omitted. Undefined: every type, and nodes without any. */
  readonly isShown: ((type: TypeState) => boolean) | undefined;
}

/** Every node with every type. */
export const everyNode: NodeChoice = { isWanted: () => true, isShown: undefined };

function nodeChoice({ view }: AdminSources, query: Query): NodeChoice {
  const matches = nodeFilter(query, "id");
  const condition = query.oneOf("state", NODE_CONDITIONS);
  const layer = query.text("layer");
  const only = chosenType(view, query);
  const isNacked = query.flag("nacked");
  const hasRevision = revisionFilter(view, query);
  const isWanted = (one: FleetNode): boolean =>
    (matches === undefined || matches(one.node)) &&
    (condition === undefined || one.condition === condition) &&
    (layer === undefined || one.layers.includes(layer)) &&
    (!isNacked || one.condition === "nacked") &&
    (hasRevision === undefined || hasRevision(one.node.id));
  if (only === undefined && !isNacked) return { isWanted, isShown: undefined };
  return {
    isWanted,
    isShown: ({ type, nacked }) => (only === undefined || type === only) && (!isNacked || nacked !== undefined),
  };
}

/** Tests whether a node has, or lacks, the revisions of a query; undefined: it names none. */
function revisionFilter(view: AdminView, query: Query): ((id: string) => boolean) | undefined {
  const [has, lacks] = [query.text("has"), query.text("lacks")].map((text) =>
    text === undefined ? undefined : stragglersOf(view, readRevision(view, text)),
  );
  if (has === undefined && lacks === undefined) return undefined;
  return (id) => has?.has(id) !== true && lacks?.has(id) !== false;
}

/** The ids of the nodes that do not have a revision. */
function stragglersOf(view: AdminView, number: number): ReadonlySet<string> {
  const inForce = view.revisionOf(number) ?? view.revision();
  const { pending, nacked } = view.deployments.progress(inForce, { isWanted: () => true });
  return new Set([...pending, ...nacked].map(({ node }) => node.id));
}

/** The nodes that are wanted, in the order of their ids. Describes only those that are stepped into. */
export function* findNodes(
  { view, describe, deliveries }: Pick<AdminSources, "view" | "describe" | "deliveries">,
  { isWanted, isShown }: NodeChoice,
): Iterable<Step<NodeAnswer>> {
  for (const id of view.fleet.ids) {
    const one = view.fleet.node(id);
    if (one === undefined || !isWanted(one)) {
      yield undefined;
      continue;
    }
    const open = (): readonly StreamState[] => [...one.streams].flatMap((stream) => view.streamState(stream) ?? []);
    if (isShown === undefined) {
      yield () => describeNode(open(), describe, deliveries);
      continue;
    }
    const shown = open().flatMap((state) => {
      const types = state.types.filter(isShown);
      return types.length === 0 ? [] : [{ ...state, types }];
    });
    yield shown.length === 0 ? undefined : () => describeNode(shown, describe, deliveries);
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
  merge: inTurn,
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

const FATES = ["acked", "pending", "nacked", "sent", "does-not-exist", "requested"] as const;

/** Delivery status: a row per node and type (S-ACK-13). */
export const deliveries: Route = {
  path: "/api/v1/deliveries",
  says: "delivery status per node and type: ACKed, NACKed and why, or pending",
  parameters: {
    node: "only nodes whose id matches this glob",
    ...nodeParameters,
    type: "only this type",
    state: `only rows in this state: ${FATES.join(", ")}. does-not-exist: every row with a name that does not exist`,
    ...pageParameters,
  },
  kinds: { state: FATES, ...pageKinds },
  merge: inTurn,
  answers: { 200: deliveriesAnswer },
  answer({ view, describe }, query) {
    const matches = nodeFilter(query, "node");
    const only = chosenType(view, query);
    const fate = query.oneOf("state", FATES);
    function* steps(): Iterable<Step> {
      for (const state of view.streams()) {
        yield undefined;
        if (matches !== undefined && (state.node === undefined || !matches(state.node))) continue;
        for (const type of state.types) {
          if (only !== undefined && type.type !== only) continue;
          const row = describe.delivery(state, type);
          if (fate === undefined || row.state === fate || (fate === "does-not-exist" && row.doesNotExist))
            yield () => row;
        }
      }
    }
    return page(query, steps());
  },
};
