import { type Mesh, type MeshReport, type MeshSnapshot, STATIC_SOURCE, type XdsClient } from "@xdskit/client";
import { LONGEST_TIMER_MS } from "@xdskit/disk";
import type { SourceId, Status, TypeUrl } from "@xdskit/protocol";
import { aborted } from "../interruption.ts";
import type { Answers } from "./answers.ts";
import { followed, type Roots } from "./roots.ts";

/** How a mesh is followed. */
export interface FollowOptions {
  readonly roots: Roots;
  /** Undefined: as long as it takes. */
  readonly timeoutMs: number | undefined;
  readonly interrupted: AbortSignal;
  /** Called with what there is so far. */
  readonly progress: (snapshot: MeshSnapshot) => void;
}

/** What a client got until there was no more to get. */
export interface Followed {
  /** Undefined if nobody answered at all. */
  readonly snapshot: MeshSnapshot | undefined;
  /** Everything that was asked for was answered or given up in time. */
  readonly isComplete: boolean;
  /** The time was over before that. */
  readonly isLate: boolean;
  /** Types that were asked for at a source and never answered, with the reason where one is known. */
  readonly unanswered: readonly Unanswered[];
  /** What servers gave in vain, as the bootstrap has another one of that name. */
  readonly overruled: readonly Overruled[];
  /** How long each thing that was asked for took, in the order in which they came. */
  readonly waits: readonly Wait[];
}

/** What was asked for at a source, and never answered. */
export interface Unanswered {
  readonly type: TypeUrl;
  readonly source: SourceId;
  readonly error: Status | undefined;
}

/** What a server gave, and something of the bootstrap stands in the place of. */
export type Overruled = Pick<Extract<MeshReport, { kind: "overruled" }>, "type" | "source" | "name">;

/** From when something was first asked for to the first answer. */
export type Wait = Pick<Extract<MeshReport, { kind: "answered" }>, "type" | "source" | "term" | "afterMs">;

/** A server may split its first answer: what is complete stays so when nothing comes for so long. */
const QUIET_MS = 300;

/** Gets everything that the roots lead to, as a client does, until all of it is there, or nobody can be reached. */
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
    // What something in the bootstrap leads to is no root.
    if (roots.targets.length > 0 || /\.(?:Cluster|Listener)$/.test(type)) failedRoots.add(`${type} ${source} ${term}`);
    // Whoever is asked first cannot be reached: nobody is told what else there would be.
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
    // In State of the World a server is silent about a name that it does not have.
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

/** Nothing more can come: all was answered, but for what is asked for at sources that cannot be reached. */
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
