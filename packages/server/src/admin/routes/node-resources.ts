import type { ResourceState, StreamId } from "@xdskit/protocol/internal";
import { printableReason } from "../../observe/printable.ts";
import type { NodeResourceAnswer } from "../answers/resources.ts";
import { inTurn } from "../merge/merge.ts";
import { QueryError } from "../query.ts";
import { type AdminSources, page, pageKinds, pageParameters, type Route, type Step } from "../route.ts";
import { nodeResourcesAnswer } from "../schema/resources.ts";
import { bodyOf, chosenType, FIELD_NAMES, type FieldNames } from "./resources.ts";

/** What a connected node has, as far as its ACKs tell. */
export const nodeResources: Route = {
  path: "/api/v1/node-resources",
  says: "resources that a connected node subscribes to, with the version that it has, or that is on its way",
  parameters: {
    node: "the id of the node",
    type: "only this type",
    body: "true: include the resource as JSON",
    "field-names": "field names in it: json (connectTimeout; the default) or proto (connect_timeout)",
    ...pageParameters,
  },
  kinds: { body: "flag", "field-names": FIELD_NAMES, ...pageKinds },
  merge: inTurn,
  answers: { 200: nodeResourcesAnswer },
  answer(sources, query) {
    const id = query.text("node");
    const only = chosenType(sources.view, query);
    const fieldNames = query.oneOf("field-names", FIELD_NAMES) ?? "json";
    const body = query.flag("body") ? fieldNames : undefined;
    const { view } = sources;
    if (id === undefined) throw new QueryError(400, "whose resources? the parameter node is missing");
    const streams = view.fleet.node(id)?.streams;
    if (streams === undefined) throw new QueryError(404, `node ${JSON.stringify(id)} is not connected`);
    return page(query, statesOf(streams));

    function* statesOf(ids: Iterable<StreamId>): Iterable<Step<NodeResourceAnswer>> {
      for (const stream of ids) {
        for (const state of view.resourceStates(stream)) {
          if (only !== undefined && state.type !== only) yield undefined;
          else yield () => describeState(stream, state, { sources, body });
        }
      }
    }
  },
};

function describeState(
  stream: StreamId,
  { type, name, status, resource, error }: ResourceState,
  { sources, body }: { readonly sources: AdminSources; readonly body: FieldNames | undefined },
): NodeResourceAnswer {
  return {
    ...sources.describe.type(type),
    name,
    stream,
    status,
    ...(resource !== undefined && { version: resource.version }),
    ...(error !== undefined && { reason: printableReason(error.message) }),
    ...(resource !== undefined && body !== undefined && bodyOf(sources.view, resource, body)),
  };
}
