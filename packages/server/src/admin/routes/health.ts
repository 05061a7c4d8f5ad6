import type { ReadyAnswer } from "../answers/server.ts";
import { mergeMetrics, printMetrics } from "../merge/metrics.ts";
import type { Route } from "../route.ts";
import { readyAnswer } from "../schema/server.ts";

/** The process runs and its event loop turns. */
export const livez: Route = {
  path: "/livez",
  says: "200 while the process works",
  parameters: {},
  textType: "text/plain",
  answer: () => ({ kind: "text", text: "ok\n" }),
};

/** Clients are served. */
export const readyz: Route = {
  path: "/readyz",
  says: "200 when clients are served, else 503 with the reasons",
  parameters: {},
  answers: { 200: readyAnswer, 503: readyAnswer },
  answer({ view }) {
    const { isReady, isDraining, reasons } = view.readiness();
    const value: ReadyAnswer = { ready: isReady, draining: isDraining, reasons };
    return { kind: "json", status: isReady ? 200 : 503, value };
  },
};

/** For Prometheus. */
export const metrics: Route = {
  path: "/metrics",
  says: "metrics in Prometheus' text format",
  parameters: {},
  textType: "text/plain",
  async answer(sources) {
    const { workers } = sources.view;
    if (workers !== undefined) {
      const all = mergeMetrics(await sources.metrics.read(), await workers.readMetrics());
      return { kind: "text", contentType: sources.metrics.contentType, text: printMetrics(all) };
    }
    return { kind: "text", contentType: sources.metrics.contentType, text: await sources.metrics.scrape() };
  },
};
