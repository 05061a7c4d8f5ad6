import { printableReason } from "../../observe/printable.ts";
import type { NodeHistoryAnswer } from "../answers/nodes.ts";
import { QueryError } from "../query.ts";
import { page, pageKinds, pageParameters, type Route, type Step } from "../route.ts";
import { nodeHistoryAnswer } from "../schema/answers.ts";

/** What a node ACKed and rejected when. */
export const nodeHistory: Route = {
  path: "/api/v1/node-history",
  says: "what a node ACKed and rejected when, newest first, as far back as memory reaches; also of nodes that are gone",
  parameters: { node: "the id of the node (required)", ...pageParameters },
  kinds: pageKinds,
  answers: { 200: nodeHistoryAnswer },
  answer({ view, describe }, query) {
    const node = query.text("node");
    if (node === undefined) throw new QueryError(400, "node is required");
    function* steps(): Iterable<Step<NodeHistoryAnswer["items"][number]>> {
      for (const { at, type, revision, reason } of view.history.of(node ?? "")) {
        yield () => ({
          at: new Date(at).toISOString(),
          ...describe.type(type),
          revision: describe.revision(revision),
          state: reason === undefined ? "acked" : "rejected",
          ...(reason !== undefined && { reason: printableReason(reason) }),
        });
      }
    }
    return page(query, steps());
  },
};
