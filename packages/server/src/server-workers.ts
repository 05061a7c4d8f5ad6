import type { CheckedOptions } from "./check-options.ts";
import type { Hub } from "./hub/hub.ts";
import type { HubTarget } from "./hub-target.ts";
import type { NodePastRecorder } from "./ledger/node-past-recorder.ts";
import { NumbersInForce } from "./ledger/numbers-in-force.ts";
import type { ServerLedger } from "./server-ledger.ts";
import type { LedgerNumbers } from "./server-node-past.ts";
import type { HubParts } from "./server-parts.ts";
import { failedAccept } from "./transport/start-listening.ts";
import { WorkerAnswers, type WorkerAnswersParts } from "./worker-answers.ts";
import type { WorkerStart } from "./workers/messages.ts";
import { WorkerPool, type WorkersOptions } from "./workers/pool.ts";
import { SharedHistory } from "./workers/shared-history.ts";
import { StateFeed } from "./workers/state-feed.ts";
import { WorkerHistory } from "./workers/worker-history.ts";
import { type WorkerChannel, WorkerLink, type WorkerLinkParts } from "./workers/worker-link.ts";

/** How a server shares its work with other processes; undefined: it does all of it. */
export type Sharing =
  | ({ readonly kind: "primary" } & WorkersOptions)
  | { readonly kind: "worker"; readonly start: WorkerStart; readonly channel: WorkerChannel };

/** What the processes of a server remember together. */
export class SharedMemory {
  ofPrimary: SharedHistory | undefined;
  ofWorker: WorkerHistory | undefined;
  /** How the hub remembers; undefined: by itself. */
  readonly share: HubParts["share"];

  constructor(sharing: Sharing | undefined) {
    if (sharing?.kind === "primary")
      this.share = (own, snapshot) => {
        this.ofPrimary = new SharedHistory(own, snapshot);
        return this.ofPrimary;
      };
    if (sharing?.kind === "worker")
      this.share = () => {
        const { start, channel } = sharing;
        this.ofWorker = new WorkerHistory(start, (what) => channel.send({ kind: "remembered", what }));
        return this.ofWorker;
      };
  }
}

/** The numbers of a server: of its ledger, or as the primary of a worker tells them. */
export function numbersOf(
  sharing: Sharing | undefined,
  ledger: () => ServerLedger | undefined,
  hasLedger: boolean,
): { readonly numbers: (() => LedgerNumbers | undefined) | undefined; readonly told: NumbersInForce } {
  const told = new NumbersInForce();
  if (sharing?.kind === "worker") return { numbers: () => told, told };
  return { numbers: hasLedger ? () => ledger()?.publisher : undefined, told };
}

/** Passes the state of a hub on to workers. */
export function createFeed(hub: Hub, history: SharedHistory, numbers: () => LedgerNumbers | undefined): StateFeed {
  return new StateFeed({
    isReady: () => hub.readiness.state !== "starting",
    revision: () => hub.revision,
    *resources() {
      for (const { name: layer, types } of hub.view.layers())
        for (const [type] of types) for (const resource of hub.view.resources([layer], type)) yield { layer, resource };
    },
    missing: () => hub.missing,
    numbers() {
      const known = numbers();
      if (known === undefined) return undefined;
      const newest = { any: known.changeOf(hub.revision), stable: known.stableChangeOf(hub.revision) };
      return { kind: "resumed", number: known.number, newest };
    },
    remembered: () => history.records,
  });
}

export interface PoolParts {
  readonly hub: Hub;
  readonly feed: StateFeed;
  readonly history: SharedHistory;
  readonly ledger: ServerLedger | undefined;
  readonly nodePast: NodePastRecorder;
}

export function createPool(
  { listen }: CheckedOptions,
  workers: WorkersOptions,
  { hub, feed, history, ledger, nodePast }: PoolParts,
): WorkerPool {
  return new WorkerPool({
    ...{ count: workers.count, entry: workers.entry, setup: workers.setup, listen, feed },
    report: (report) => hub.report(report),
    onFailedAccept: (where, cause) => hub.report(failedAccept(where, cause)),
    onStreams: () => ledger?.nodesChanged(),
    onDivided({ stream, node, onlyType: type }) {
      if (type !== undefined) hub.report({ kind: "client-unprotected", stream, node, type });
    },
    onRemembered(what) {
      history.remember(what);
      hub.noteElsewhere([what]);
      feed.remembered(what);
    },
    onPast: (lines) => nodePast.take(lines),
    whenFresh: async (client) => await ledger?.whenFresh(client),
  });
}

export interface LinkParts extends WorkerAnswersParts {
  readonly hub: Hub;
  readonly target: HubTarget;
  readonly numbers: NumbersInForce;
  readonly history: WorkerHistory;
  readonly accept: WorkerLinkParts["accept"];
}

export function createLink(
  { start, channel }: Extract<Sharing, { readonly kind: "worker" }>,
  parts: LinkParts,
): WorkerLink {
  const { hub, target, numbers, history, accept, nodePast } = parts;
  const answers = new WorkerAnswers(parts);
  const link = new WorkerLink({ start, channel, hub, target, numbers, history, accept, answerers: answers.answerers });
  nodePast.use(link.pastStore);
  parts.sources.samples.start();
  return link;
}
