import { type Mesh, type MeshReport, type MeshSnapshot, STATIC_SOURCE, type XdsClient } from "@xdskit/client";
import { LONGEST_TIMER_MS } from "@xdskit/disk";
import type { SourceId, Status, TypeUrl } from "@xdskit/protocol";
import { aborted } from "../interruption.ts";
import type { Answers } from "./answers.ts";
import { followed, type Roots } from "./roots.ts";

/** What to follow, for how long, and how to report progress. */
export interface FollowOptions {
  readonly roots: Roots;
  /** The time limit in milliseconds; undefined for none. */
  readonly timeoutMs: number | undefined;
  readonly interrupted: AbortSignal;
  /** Called with each new snapshot. */
  readonly progress: (snapshot: MeshSnapshot) => void;
}

/** The mesh that was received, and what is missing from it. */
export interface Followed {
  /** Undefined if no server responded. */
  readonly snapshot: MeshSnapshot | undefined;
  /** Every request was answered or given up in time. */
  readonly isComplete: boolean;
  /** The time limit passed first. */
  readonly isLate: boolean;
  /** Types that a source never answered, with the reason if it is known. */
  readonly unanswered: readonly Unanswered[];
  /** Resources of servers that static ones of the bootstrap override. */
  readonly overruled: readonly Overruled[];
  /** Response times, in the order of the responses. */
  readonly waits: readonly Wait[];
}

/** A type that a source never answered. */
export interface Unanswered {
  readonly type: TypeUrl;
  readonly source: SourceId;
  readonly error: Status | undefined;
}

/** A server's resource that a static one of the bootstrap overrides. */
export type Overruled = Pick<Extract<MeshReport, { kind: "overruled" }>, "type" | "source" | "name">;

/** The time from the first request for a name to its first response. */
export type Wait = Pick<Extract<MeshReport, { kind: "answered" }>, "type" | "source" | "term" | "afterMs">;

/** A server may split its first response: the mesh is complete once it has been for this long, in milliseconds. */
const QUIET_MS = 300;

/** Follows everything that the roots refer to, until all of it arrives or no server can be reached. */
export async function followMesh(
  client: XdsClient,
  answers: Answers,
  { roots, timeoutMs, interrupted, progress }: FollowOptions,
): Promise<Followed> {
  const failing = new Map<string, Unanswered>();
  const failedRoots = new Set<string>();
  const waits: Wait[] = [];
  const overruled = new Map<string, Overruled>();
  let isLate = false;
  const over = new AbortController();
  const end = (): void => over.abort();
  let quiet: NodeJS.Timeout | undefined;
  const mesh = followed(client, roots, (report) => {
    if (report.kind === "answered" && report.source !== STATIC_SOURCE) waits.push(report);
    if (report.kind === "overruled") overruled.set(`${keyOf(report)} ${report.name}`, report);
    if (report.kind === "watch-recovered") failing.delete(keyOf(report));
    if (report.kind !== "watch-failed" || report.name !== undefined) return;
    const { source, type, term, error } = report;
    failing.set(keyOf(report), { source, type, error });
    // Types other than Cluster and Listener are references of the bootstrap's static resources, not roots.
    if (roots.targets.length > 0 || /\.(?:Cluster|Listener)$/.test(type)) failedRoots.add(`${type} ${source} ${term}`);
    // If no root can be reached, nothing else is requested.
    if (!answers.isAnswered && roots.count > 0 && failedRoots.size >= roots.count) end();
    else look();
  });
  const look = (): void => {
    clearTimeout(quiet);
    if (mesh.current !== undefined && isDone(mesh.current, { answers, failing, roots }))
      quiet = setTimeout(end, QUIET_MS);
  };
  const giveUp = (): void => {
    isLate = true;
    end();
  };
  const limit = timeoutMs === undefined ? undefined : setTimeout(giveUp, Math.min(timeoutMs, LONGEST_TIMER_MS));
  try {
    await Promise.race([aborted(over.signal), aborted(interrupted, over.signal), follow(mesh, progress, look)]);
    const unanswered = unansweredOf(answers, failing);
    const { current } = mesh;
    // A SotW server does not respond for a name that it does not have.
    const isSilence = roots.targets.length > 0 && current?.isComplete === true && failing.size === 0;
    const isNobodyAsked = answers.types().length === 0 && current?.isComplete === true;
    const snapshot = answers.isAnswered || isSilence || isNobodyAsked ? current : undefined;
    const isComplete = snapshot?.isComplete === true;
    return {
      ...{ snapshot, isComplete, isLate, waits },
      unanswered: isSilence ? [] : unanswered,
      overruled: [...overruled.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    };
  } finally {
    over.abort();
    clearTimeout(quiet);
    clearTimeout(limit);
    mesh.close();
  }
}

async function follow(mesh: Mesh, progress: FollowOptions["progress"], look: () => void): Promise<void> {
  for await (const snapshot of mesh) {
    progress(snapshot);
    look();
  }
}

/** Whether no more can come: everything was answered, except by sources that cannot be reached. */
function isDone(
  snapshot: MeshSnapshot,
  {
    answers,
    failing,
    roots,
  }: { readonly answers: Answers; readonly failing: ReadonlyMap<string, Unanswered>; readonly roots: Roots },
): boolean {
  if (snapshot.isComplete) return true;
  if (!answers.isAnswered && roots.count > 0) return false;
  const open = answers.types().filter(({ firstAnswerMs }) => firstAnswerMs === undefined);
  if (failing.size === 0 || !open.every((one) => failing.has(keyOf(one)))) return false;
  for (const { state, type, source } of snapshot.all.values()) {
    if (state === "requested" && !failing.has(keyOf({ type, source }))) return false;
  }
  return true;
}

function unansweredOf(answers: Answers, failing: ReadonlyMap<string, Unanswered>): readonly Unanswered[] {
  const left = new Map(failing);
  for (const { type, source, firstAnswerMs } of answers.types()) {
    const key = keyOf({ type, source });
    if (firstAnswerMs !== undefined) left.delete(key);
    else if (!left.has(key)) left.set(key, { type, source, error: undefined });
  }
  return [...left.values()];
}

function keyOf({ type, source }: Pick<Unanswered, "type" | "source">): string {
  return `${type} ${source}`;
}
