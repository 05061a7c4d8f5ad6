import type { ResourceState } from "@xdskit/protocol/internal";
import type { HolderAnswer } from "../answers/resources.ts";
import { describeError } from "../describe.ts";
import { mergeHolders } from "../merge/nodes.ts";
import { QueryError } from "../query.ts";
import { page, pageKinds, pageParameters, type Route, type Step } from "../route.ts";
import { holdersAnswer } from "../schema/resources.ts";
import type { AdminView } from "../view.ts";
import { chosenType } from "./resources.ts";

/** Which nodes have a resource. Looks only at the nodes of the page. */
export const holders: Route = {
  path: "/api/v1/holders",
  says: "every node, with the version of one resource that it has",
  parameters: { type: "the type of the resource (required)", name: "its name (required)", ...pageParameters },
  kinds: pageKinds,
  merge: mergeHolders,
  answers: { 200: holdersAnswer },
  answer({ view }, query) {
    const [type, name] = [chosenType(view, query), query.text("name")];
    if (type === undefined || name === undefined) throw new QueryError(400, "type and name are required");
    function* steps(): Iterable<Step<HolderAnswer>> {
      for (const id of view.fleet.ids) {
        yield () => {
          const state = stateAt(view, id, (one) => one.type === type && one.name === name);
          if (state === undefined) return { node: id, status: "not-subscribed" };
          const { status, resource, error } = state;
          return {
            node: id,
            status,
            ...(resource !== undefined && { version: resource.version }),
            ...(error !== undefined && { error: describeError(error) }),
          };
        };
      }
    }
    return page(query, steps());
  },
};

function stateAt(view: AdminView, id: string, isIt: (state: ResourceState) => boolean): ResourceState | undefined {
  for (const stream of view.fleet.node(id)?.streams ?? []) {
    for (const state of view.resourceStates(stream)) if (isIt(state)) return state;
  }
  return undefined;
}
