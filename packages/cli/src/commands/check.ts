import { type ConfigProblem, loadBootstrap, type MeshSnapshot, XdsClientError } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { AnsweredType } from "../discovery/answers.ts";
import { type ConnectionFlags, descriptorFilesOf } from "../discovery/connection-flags.ts";
import { failureOf, unreachableFailure } from "../discovery/connection-hint.ts";
import { followMesh, type Wait } from "../discovery/follow-mesh.ts";
import { describeProgress, shortNameOf } from "../discovery/mesh-words.ts";
import { openClient } from "../discovery/open-client.ts";
import { type Roots, rootsOf } from "../discovery/roots.ts";
import { bootstrapOf, type ChosenBootstrap, startFromBootstrap } from "../discovery/start.ts";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatConfigProblems } from "../output/config-problems.ts";
import { formatJson } from "../output/json.ts";
import { oneLine } from "../output/one-line.ts";
import { plural } from "../output/problems.ts";
import { createStatusLine } from "../output/status-line.ts";
import { formatTable } from "../output/table.ts";
import { loadApi } from "../settings/load-api.ts";
import { STANDARD_INPUT, withStandardInput } from "../standard-input.ts";
import type { Finding } from "./check/finding.ts";
import { findingsIn } from "./check/findings.ts";
import { formatTrees, type TreeNode, treesOf } from "./check/tree.ts";
import type { CommandContext } from "./context.ts";

export interface CheckFlags extends ConnectionFlags {
  readonly output: "text" | "json";
  readonly timeout: number;
  /** A resource that takes longer fails the check, in milliseconds; unset, one second, and only a warning. */
  readonly slow?: number;
  readonly strict?: boolean;
}

/** What `--output json` prints. */
export interface CheckAnswer {
  readonly ok: boolean;
  /** Problems in the bootstrap itself. */
  readonly bootstrap: readonly ConfigProblem[];
  /** Why no server could be reached; the rest is empty then. */
  readonly unreachable?: string;
  /** Every request was answered or given up in time. */
  readonly complete: boolean;
  readonly types: readonly {
    readonly type: string;
    readonly source: string;
    readonly resources: number;
    /** Milliseconds from the first request to the first response; missing without a response. */
    readonly firstAnswerMs?: number;
    /** The resource that took longest to arrive, in milliseconds from its request. */
    readonly slowest?: { readonly name: string; readonly ms: number };
  }[];
  readonly findings: readonly Finding[];
  readonly tree: readonly TreeNode[];
}

const SLOW_MS = 1_000;

export interface CheckArguments {
  readonly path: string | undefined;
  readonly targets: readonly string[];
}

export async function check(given: CheckArguments, flags: CheckFlags, context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  if (given.path !== STANDARD_INPUT) return checkBootstrap(bootstrapOf(given.path, io), given, flags, context);
  return withStandardInput(io, ({ path }) => {
    const bootstrap = { input: { path }, shown: STANDARD_INPUT, variable: undefined };
    return checkBootstrap(bootstrap, given, flags, context);
  });
}

async function checkBootstrap(
  bootstrap: ChosenBootstrap | undefined,
  { targets }: CheckArguments,
  flags: CheckFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { io } = context;
  const api = await loadApi(descriptorFilesOf(flags, io));
  if (bootstrap === undefined) {
    throw new CommandError(exitCode.usage, "which bootstrap?", "xds check FILE, or set GRPC_XDS_BOOTSTRAP");
  }
  const { shown } = bootstrap;
  const loaded = loadBootstrap(bootstrap.input, { api });
  const { config } = loaded;
  const problems = shown === STANDARD_INPUT ? loaded.problems.map(ofStandardInput) : loaded.problems;
  const isText = flags.output === "text";
  if (isText) io.stdout.write(formatConfigProblems(problems, io.cwd, context.colorsOf(io.stdout)));
  if (config === undefined) {
    if (isText) io.stdout.write(`${shown}: the bootstrap cannot be used\n`);
    else io.stdout.write(formatJson(answerOf(nothing, problems, { api, isOk: false })));
    return exitCode.problems;
  }
  const roots = rootsOf(config, targets, shown);
  try {
    const received = await receive(
      { bootstrap, roots, isOfGrpc: config.mode === "non-proxy" },
      { flags, api },
      context,
    );
    if (io.interrupted.aborted) return exitCode.interrupted;
    return report(received, { api, flags, path: shown, problems }, context);
  } catch (cause) {
    if (isText || !(cause instanceof CommandError)) throw cause;
    const answer = answerOf(nothing, problems, { api, isOk: false });
    io.stdout.write(formatJson({ ...answer, unreachable: cause.message }));
    return cause.exitCode;
  }
}

function ofStandardInput(problem: ConfigProblem): ConfigProblem {
  return problem.file === undefined ? problem : { ...problem, file: STANDARD_INPUT };
}

/** What the client received, and what is wrong with it. */
interface Receipt {
  readonly snapshot: MeshSnapshot | undefined;
  /** The bootstrap has an `ads_config`. */
  readonly hasAds: boolean;
  readonly isComplete: boolean;
  readonly isLate: boolean;
  readonly types: readonly AnsweredType[];
  readonly waits: readonly Wait[];
  readonly findings: readonly Finding[];
}

const nothing: Receipt = {
  ...{ snapshot: undefined, hasAds: false, isComplete: false, isLate: false },
  ...{ types: [], waits: [], findings: [] },
};

interface Subject {
  readonly bootstrap: ChosenBootstrap;
  readonly roots: Roots;
  readonly isOfGrpc: boolean;
}

async function receive(
  { bootstrap, roots, isOfGrpc }: Subject,
  { flags, api }: { readonly flags: CheckFlags; readonly api: EnvoyApi },
  { io }: CommandContext,
): Promise<Receipt> {
  const { client, answers, asked } = await openClient(startFromBootstrap(bootstrap, flags, io), flags, { api, io });
  const line = createStatusLine(io);
  try {
    const progress = (snapshot: MeshSnapshot): void => line.update(() => describeProgress(snapshot, api));
    const how = { roots, timeoutMs: flags.timeout, interrupted: io.interrupted, progress };
    const { snapshot, isComplete, isLate, unanswered, overruled, waits } = await followMesh(client, answers, how);
    if (io.interrupted.aborted) return nothing;
    if (snapshot === undefined) throw unreachableFailure(unanswered, asked);
    const names = (one: AnsweredType): string => `${shortNameOf(one.type, api)} ${one.source}`;
    const types = [...answers.types()].sort((a, b) => (names(a) < names(b) ? -1 : 1));
    const slow = { ms: flags.slow ?? SLOW_MS, isSet: flags.slow !== undefined };
    const { refusals } = answers;
    const findings = findingsIn({ api, snapshot, waits, slow, refusals, unanswered, overruled, isOfGrpc });
    const hasAds = client.config.ads !== undefined;
    return { snapshot, hasAds, isComplete, isLate, types, waits, findings };
  } catch (cause) {
    throw cause instanceof XdsClientError ? failureOf(cause, asked) : cause;
  } finally {
    line.clear();
    await client.close();
  }
}

interface ReportOptions {
  readonly api: EnvoyApi;
  readonly flags: CheckFlags;
  readonly path: string;
  readonly problems: readonly ConfigProblem[];
}

function report(receipt: Receipt, { api, flags, path, problems }: ReportOptions, context: CommandContext): ExitCode {
  const { io } = context;
  const { findings, isComplete, isLate } = receipt;
  const all = [...findings, ...problems];
  const errors = all.filter(({ severity }) => severity === "error").length;
  const isOk = isComplete && errors === 0 && (flags.strict !== true || all.length === 0);
  if (flags.output === "json") io.stdout.write(formatJson(answerOf(receipt, problems, { api, isOk })));
  else {
    io.stdout.write(formatReceipt(receipt, api, context));
    const late = !isLate ? "" : ", and the time was over before everything was there";
    const count = [plural(errors, "error"), plural(all.length - errors, "warning")].join(", ");
    io.stdout.write(`${path}: ${all.length === 0 ? "no problems" : count}${late}\n`);
  }
  return isOk ? exitCode.ok : exitCode.problems;
}

function formatReceipt(receipt: Receipt, api: EnvoyApi, context: CommandContext): string {
  const { io, colorsOf } = context;
  const { snapshot, hasAds, types, findings } = receipt;
  const colors = colorsOf(io.stdout);
  const trees = snapshot === undefined ? "" : formatTrees(treesOf(snapshot, { api, hasAds }), colors);
  const columns = [
    { title: "TYPE", text: ({ type }: AnsweredType) => shortNameOf(type, api) },
    { title: "RESOURCES", text: (row: AnsweredType) => `${countOf(row, snapshot)}` },
    {
      title: "FIRST ANSWER",
      text: ({ firstAnswerMs }: AnsweredType) => (firstAnswerMs === undefined ? "never" : `${firstAnswerMs} ms`),
    },
    { title: "SLOWEST", text: (row: AnsweredType) => shownSlowest(slowestOf(row, receipt)) },
    { title: "SOURCE", text: ({ source }: AnsweredType) => source.replace(/#.*$/, "") },
  ];
  const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
  const table = formatTable(types, columns, { colors, width });
  const lines = findings.map(({ severity, code, message }) => {
    const tone = severity === "error" ? colors.red : colors.yellow;
    return `${tone(severity)}: ${oneLine(message)} ${colors.dim(`[${code}]`)}\n`;
  });
  return `${trees}\n${table}\n${lines.join("")}`;
}

interface Slowest {
  readonly name: string;
  readonly ms: number;
}

function slowestOf({ source, type }: AnsweredType, { waits }: Receipt): Slowest | undefined {
  let slowest: Wait | undefined;
  for (const wait of waits) {
    if (wait.type === type && wait.source === source && wait.afterMs > (slowest?.afterMs ?? -1)) slowest = wait;
  }
  return slowest && { name: slowest.term, ms: Math.round(slowest.afterMs) };
}

function shownSlowest(slowest: Slowest | undefined): string {
  return slowest === undefined ? "" : `${slowest.name} ${slowest.ms} ms`;
}

function countOf({ source, type }: AnsweredType, snapshot: MeshSnapshot | undefined): number {
  let count = 0;
  for (const one of snapshot?.all.values() ?? []) {
    if (one.source === source && one.type === type && (one.resource ?? one.warming) !== undefined) count++;
  }
  return count;
}

function answerOf(
  receipt: Receipt,
  bootstrap: readonly ConfigProblem[],
  { api, isOk }: { readonly api: EnvoyApi; readonly isOk: boolean },
): CheckAnswer {
  const { snapshot, hasAds, isComplete, types, findings } = receipt;
  return {
    ok: isOk,
    bootstrap,
    complete: isComplete,
    types: types.map((one) => {
      const { type, source, firstAnswerMs } = one;
      const resources = countOf(one, snapshot);
      const slowest = slowestOf(one, receipt);
      return {
        ...{ type, source, resources },
        ...(firstAnswerMs !== undefined && { firstAnswerMs }),
        ...(slowest !== undefined && { slowest }),
      };
    }),
    findings,
    tree: snapshot === undefined ? [] : treesOf(snapshot, { api, hasAds }),
  };
}
