import type {
  LoadAnswer,
  LoadsAnswer,
  LostReplicaAnswer,
  ReplicaAnswer,
  ReplicasAnswer,
  ServerAnswer,
} from "@xdskit/server";
import { useEffect, useState } from "preact/hooks";
import { useLive } from "./live.ts";
import { PACED_BY_CLOCK, useAnswer } from "./use-answer.ts";
import { useClock } from "./use-clock.ts";

/** How often it is asked what is wrong, in milliseconds: whoever is paged should see it within ten seconds. */
const ASK_MS = 3_000;
/** Clusters whose load is looked at. */
const MOST_CLUSTERS = 1_000;
/** So many failed requests between two questions may be anything. */
const FEW_FAILURES = 3;
/** The share of failed requests that is told. */
const MUCH = 0.1;

/** The requests of a cluster between two questions. */
export interface FailingCluster {
  readonly cluster: string;
  readonly failed: number;
  readonly all: number;
}

/** What is wrong, as far as the server knows. */
export interface Attention {
  /** Undefined: not asked yet. */
  readonly server: ServerAnswer | undefined;
  /** Undefined: no store is shared, or it was not asked yet. */
  readonly replicas: ReplicasAnswer | undefined;
  /** Replicas that lacked records, and did not move between two questions. */
  readonly behind: readonly ReplicaAnswer[];
  /** Replicas that are gone, but did not leave in order. */
  readonly lost: readonly LostReplicaAnswer[];
  /** Why the other replicas are not known. */
  readonly replicasProblem: string | undefined;
  /** Clusters of which clients report that many requests fail, the worst first. */
  readonly failing: readonly FailingCluster[];
}

/** Asks for what is wrong every few seconds. */
export function useAttention(): Attention {
  const tick = useClock(ASK_MS);
  const { ledger, source, reloads } = useLive();
  const changes = `${tick} ${ledger?.held} ${source?.state} ${reloads}`;
  const { answer: server } = useAnswer<ServerAnswer>("server", {}, changes);
  const isShared = server?.ledger?.store !== undefined;
  const replicas = useAnswer<ReplicasAnswer>("replicas", {}, isShared ? tick : undefined, PACED_BY_CLOCK).answer;
  const loads = useAnswer<LoadsAnswer>("loads", { limit: MOST_CLUSTERS }, tick, PACED_BY_CLOCK).answer;
  return {
    server,
    replicas: isShared ? replicas : undefined,
    behind: useStanding(isShared ? replicas : undefined),
    lost: (isShared ? replicas?.lost : undefined) ?? [],
    replicasProblem: isShared ? replicas?.problem : undefined,
    failing: useFailing(loads),
  };
}

/** Under load, every replica lacks a record for a moment: one that is behind has not moved since the last answer. */
function useStanding(answer: ReplicasAnswer | undefined): readonly ReplicaAnswer[] {
  const [known, setKnown] = useState<readonly [ReplicasAnswer | undefined, ReplicasAnswer | undefined]>([
    answer,
    answer,
  ]);
  useEffect(() => setKnown(([, last]) => [last, answer]), [answer]);
  const [before, now] = known;
  const wasAt = new Map((before?.replicas ?? []).map(({ id, number, lag }) => [id, { number, lag }]));
  return (now?.replicas ?? []).filter(({ id, number, lag, stoppedSince }) => {
    const was = wasAt.get(id);
    return stoppedSince !== undefined || (lag > 0 && was !== undefined && was.lag > 0 && was.number === number);
  });
}

interface Sums {
  readonly reported: string;
  readonly sums: ReadonlyMap<string, { readonly failed: number; readonly all: number }>;
  readonly failing: readonly FailingCluster[];
}

/** What is reported are sums since the start: what differs between two reports is of now. */
function useFailing(answer: LoadsAnswer | undefined): readonly FailingCluster[] {
  const [{ failing }, setSums] = useState<Sums>({ reported: "", sums: new Map(), failing: [] });
  useEffect(() => {
    if (answer === undefined) return;
    const reported = answer.items.map(({ lastReportAt }) => lastReportAt).join();
    const sums = new Map(answer.items.map((load) => [load.cluster, sumOf(load)]));
    setSums((last) => {
      if (last.reported === reported) return last;
      const found = [...sums].flatMap(([cluster, now]) => {
        const before = last.sums.get(cluster) ?? (last.reported === "" ? now : { failed: 0, all: 0 });
        const [failed, all] = [now.failed - before.failed, now.all - before.all];
        return failed > FEW_FAILURES && failed >= all * MUCH ? [{ cluster, failed, all }] : [];
      });
      return { reported, sums, failing: found.toSorted((a, b) => b.failed - a.failed) };
    });
  }, [answer]);
  return failing;
}

function sumOf({ localities }: LoadAnswer): { readonly failed: number; readonly all: number } {
  const failed = localities.reduce((sum, one) => sum + one.failed, 0);
  const ended = localities.reduce((sum, one) => sum + one.failed + one.succeeded, 0);
  return { failed, all: ended };
}
