import type { MeshSnapshot, XdsClient } from "@xdskit/client";
import type { Status, TypeUrl } from "@xdskit/protocol";
import { aborted } from "../interruption.ts";
import type { Answers } from "./answers.ts";

/** How a mesh is followed. */
export interface FollowOptions {
  /** Undefined: as long as it takes. */
  readonly timeoutMs: number | undefined;
  readonly interrupted: AbortSignal;
  /** Called with what there is so far. */
  readonly progress: (snapshot: MeshSnapshot) => void;
}

/** What a client got until there was no more to get. */
export interface Followed {
  /** Undefined if nothing came at all. */
  readonly snapshot: MeshSnapshot | undefined;
  /** Everything that was asked for was answered or given up in time. */
  readonly isComplete: boolean;
  /** Why no server could be reached, if none was. */
  readonly unreachable: Status | undefined;
  /** Types that were asked for and never answered, with the reason where one is known. */
  readonly unanswered: readonly { readonly type: TypeUrl; readonly error: Status | undefined }[];
}

/** A server may split its first answer: what is complete stays so when nothing comes for so long. */
const QUIET_MS = 300;

/** Gets everything that a proxy gets, as a proxy does: Listeners and Clusters, and what these lead to. */
export async function followMesh(
  client: XdsClient,
  answers: Answers,
  { timeoutMs, interrupted, progress }: FollowOptions,
): Promise<Followed> {
  const failing = new Map<string, { readonly type: TypeUrl; readonly error: Status }>();
  const timers: NodeJS.Timeout[] = [];
  const over = new AbortController();
  const end = (): void => over.abort();
  let unreachable: Status | undefined;
  let quiet: NodeJS.Timeout | undefined;
  const mesh = client.mesh({
    snapshots: "every",
    onReport: (report) => {
      if (report.kind !== "watch-failed" || report.name !== undefined) return;
      const { source, type, error } = report;
      failing.set(`${type} ${source}`, { type, error });
      if (answers.isAnswered) return;
      // Whoever is asked first cannot be reached: nobody is told what else there would be.
      unreachable = error;
      end();
    },
  });
  if (timeoutMs !== undefined) timers.push(setTimeout(end, timeoutMs));
  const follow = async (): Promise<void> => {
    for await (const snapshot of mesh) {
      clearTimeout(quiet);
      progress(snapshot);
      if (snapshot.isComplete) quiet = setTimeout(end, QUIET_MS);
    }
  };
  try {
    await Promise.race([aborted(over.signal), aborted(interrupted, over.signal), follow()]);
    const snapshot = mesh.current;
    const isComplete = snapshot?.isComplete === true && answers.isAnswered;
    const unanswered = unansweredOf(answers, failing);
    return { snapshot, isComplete, unreachable: answers.isAnswered ? undefined : unreachable, unanswered };
  } finally {
    over.abort();
    clearTimeout(quiet);
    for (const timer of timers) clearTimeout(timer);
    mesh.close();
  }
}

function unansweredOf(
  answers: Answers,
  failing: ReadonlyMap<string, { readonly type: TypeUrl; readonly error: Status }>,
): Followed["unanswered"] {
  const left = new Map<string, Followed["unanswered"][number]>(failing);
  for (const { type, source, firstAnswerMs } of answers.types()) {
    const key = `${type} ${source}`;
    if (firstAnswerMs !== undefined) left.delete(key);
    else if (!left.has(key)) left.set(key, { type, error: undefined });
  }
  return [...left.values()];
}
