import type { StreamState } from "@xdskit/protocol";
import type { NodeAnswer } from "../answers/nodes.ts";
import { type Describer, describeDialect, time } from "../describe.ts";
import type { AdminSources } from "../route.ts";
import { page, pageParameters, type Route, type Step } from "../route.ts";
import { chosenType } from "./resources.ts";

/** Who is connected, and where everything stands with it. */
export const nodes: Route = {
  path: "/api/v1/nodes",
  says: "connected nodes with their layers and, per type, what they hold, refused, miss",
  parameters: { id: "only this node", ...pageParameters },
  answer: (sources, query) => page(query, findNodes(sources, query.text("id"))),
};

/** By id. A stream that has not said who it is belongs to no node. */
export function* findNodes(
  { view, describe, deliveries }: Pick<AdminSources, "view" | "describe" | "deliveries">,
  id: string | undefined,
): Iterable<Step<NodeAnswer>> {
  const byId = new Map<string, StreamState[]>();
  for (const state of view.streams()) {
    yield undefined;
    if (state.node === undefined || (id !== undefined && state.node.id !== id)) continue;
    const streams = byId.get(state.node.id);
    if (streams === undefined) byId.set(state.node.id, [state]);
    else streams.push(state);
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
  says: "open streams, with those that have not said yet who they are",
  parameters: { node: "only those of this node", ...pageParameters },
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

/** The fate of what was sent: a row for each node and type (S-ACK-13, K2). */
export const deliveries: Route = {
  path: "/api/v1/deliveries",
  says: "what became of what was sent, per node and type: who has it, who refused it and why",
  parameters: {
    node: "only this node",
    type: "only this type",
    state: `only rows in this state: ${FATES.join(", ")}. requested-but-missing: all that miss something`,
    ...pageParameters,
  },
  answer({ view, describe }, query) {
    const node = query.text("node");
    const only = chosenType(view, query);
    const fate = query.oneOf("state", FATES);
    function* steps(): Iterable<Step> {
      for (const state of view.streams()) {
        yield undefined;
        if (node !== undefined && state.node?.id !== node) continue;
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
