import { globMatches } from "@xdskit/protocol/internal";
import { ConsoleFiles } from "./admin/console.ts";
import { describeProgress } from "./admin/describe-progress.ts";
import { findAnswer } from "./admin/find-answer.ts";
import type { FeedEvent } from "./admin/live/event-feed.ts";
import type { SharedSources } from "./admin/route.ts";
import { wholeAnswer } from "./admin/whole-answer.ts";
import type { NodePastRecorder } from "./ledger/node-past-recorder.ts";
import type { Sessions } from "./ledger/sessions.ts";
import { residentBytes } from "./observe/process-memory.ts";
import type { ClientStatus } from "./status/client-status.ts";
import type { LiveReading, WorkerQuestions } from "./workers/messages.ts";
import type { Answerers } from "./workers/questions.ts";

/** How long what the live view shows is kept up without being asked for, in milliseconds. */
const LIVE_FOR_MS = 5_000;

export interface WorkerAnswersParts {
  readonly sources: SharedSources;
  readonly nodePast: NodePastRecorder;
  readonly clientStatus: ClientStatus;
  readonly sessions: Sessions;
  readonly drain: (graceMs: number) => Promise<void>;
}

/** What a worker answers to its primary. */
export class WorkerAnswers {
  readonly #parts: WorkerAnswersParts;
  readonly #files = new ConsoleFiles();
  #unsubscribe: (() => void) | undefined;
  #live: NodeJS.Timeout | undefined;

  constructor(parts: WorkerAnswersParts) {
    this.#parts = parts;
  }

  get answerers(): Answerers<WorkerQuestions> {
    const { sources, nodePast, clientStatus, sessions, drain } = this.#parts;
    const { view, metrics, describe } = sources;
    return {
      admin: async ({ target }) => {
        const asker = { ...sources, author: "", role: undefined, mayChange: () => false, left: undefined };
        const answer = await findAnswer({ target, method: undefined, wantsHtml: false }, asker, this.#files, nothing());
        return await wholeAnswer(answer);
      },
      async progress({ number, nodes, named, waitMs }) {
        const isWanted = (id: string): boolean => nodes === undefined || globMatches(nodes, id);
        const inForce = view.revisionOf(number) ?? view.revision();
        if (waitMs > 0)
          await view.deployments.whenSettled(
            inForce,
            { isWanted, minNodes: 0 },
            AbortSignal.timeout(Math.ceil(waitMs)),
          );
        const found = { ...view.deployments.progress(inForce, { isWanted }), revision: number };
        return describeProgress(found, { head: view.head(), minNodes: 0, describe, named });
      },
      metrics: async () => await metrics.read(),
      usage: () => ({
        connections: view.connections(),
        streams: view.openStreams(),
        residentBytes: residentBytes(),
        limits: view.limits(),
        writes: view.writes(),
        encoder: { ...view.encoder() },
      }),
      live: () => this.#readLive(),
      async past() {
        await nodePast.flush();
        return undefined;
      },
      "count-sessions": async () => await sessions.count(),
      "move-sessions": async ({ connections }) => ({ moved: await sessions.move(connections) }),
      async drain({ graceMs }) {
        await drain(graceMs);
        return undefined;
      },
      "client-status": async ({ version, request, peer, resourcesInPart }) => {
        const parts = await clientStatus.answerHere(version, request, peer, resourcesInPart);
        return "code" in parts ? { refused: parts } : parts;
      },
    };
  }

  #readLive(): LiveReading {
    const { feed } = this.#parts.sources;
    this.#unsubscribe ??= feed.subscribe({ take: () => undefined });
    clearTimeout(this.#live);
    this.#live = setTimeout(() => {
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
    }, LIVE_FOR_MS).unref();
    feed.tick();
    const now = new Map(feed.current().map(({ name, data }) => [name, data]));
    return { progress: parsed(now, "progress"), nodes: parsed(now, "nodes") };
  }
}

function parsed<N extends keyof LiveReading>(now: ReadonlyMap<FeedEvent["name"], string>, name: N): LiveReading[N] {
  return JSON.parse(now.get(name) ?? "null") as LiveReading[N];
}

async function* nothing(): AsyncIterable<Uint8Array> {
  yield* [];
}
