import type { CallerAnswer } from "../answers/caller.ts";
import type { Route } from "../route.ts";
import { callerAnswer } from "../schema/caller.ts";

/** Who asks, for pages that offer only what the caller may do. */
export const whoAsks: Route = {
  path: "/api/v1/caller",
  says: "who asks, with which role, and whether it may change something",
  parameters: {},
  answers: { 200: callerAnswer },
  answer({ author, role, mayChange }) {
    const value: CallerAnswer = { name: author, ...(role !== undefined && { role }), mayChange: mayChange() };
    return { kind: "json", value };
  },
};
