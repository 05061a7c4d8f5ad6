import { mergeSamples } from "../merge/live.ts";
import type { Route } from "../route.ts";
import { samplesAnswer } from "../schema/live.ts";

/** What changes, as it changes. */
export const events: Route = {
  path: "/api/v1/events",
  says: "server-sent events: server, source, ledger, progress of the newest revision, and nodes by state, as they change",
  parameters: {},
  textType: "text/event-stream",
  answer: ({ feed }) => ({ kind: "events", feed }),
};

/** The last hour. */
export const samples: Route = {
  path: "/api/v1/samples",
  says: "the last hour, every 10 seconds: streams, nodes by state, memory, event loop delay; and times to the last ACK of the last revisions",
  parameters: {},
  merge: mergeSamples,
  answers: { 200: samplesAnswer },
  answer: ({ samples: taken }) => ({ kind: "json", value: taken.answer() }),
};
