import { resolve } from "node:path";
import { type ConfigProblem, loadBootstrap, type MeshSnapshot, XdsClientError } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { Option } from "commander";
import type { AnsweredType } from "../discovery/answers.ts";
import { addNodeFlags, type ConnectionFlags, descriptorFilesOf } from "../discovery/connection-flags.ts";
import { failureOf, unreachableFailure } from "../discovery/connection-hint.ts";
import { followMesh } from "../discovery/follow-mesh.ts";
import { describeProgress, shortNameOf } from "../discovery/mesh-words.ts";
import { openClient } from "../discovery/open-client.ts";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatConfigProblems } from "../output/config-problems.ts";
import { formatJson } from "../output/json.ts";
import { plural } from "../output/problems.ts";
import { createStatusLine } from "../output/status-line.ts";
import { formatTable } from "../output/table.ts";
import { loadApi } from "../settings/load-api.ts";
import { type Finding, findingsIn } from "./check/findings.ts";
import { formatTrees, type TreeNode, treesOf } from "./check/tree.ts";
import { type AddCommand, addExamples, type CommandContext } from "./context.ts";
import { readDuration } from "./duration-flag.ts";

interface CheckFlags extends ConnectionFlags {
  readonly output: "text" | "json";
  readonly timeout: number;
  readonly strict?: boolean;
}

/** What `--output json` prints. */
export interface CheckAnswer {
  readonly ok: boolean;
  /** Of the bootstrap itself. */
  readonly bootstrap: readonly ConfigProblem[];
  /** No server answered, and why; what follows is empty then. */
  readonly unreachable?: string;
  /** Everything was answered in time. */
  readonly complete: boolean;
  readonly types: readonly {
    readonly type: string;
    readonly source: string;
    readonly resources: number;
    /** From the first request to the first answer; missing where there was none. */
    readonly firstAnswerMs?: number;
  }[];
  readonly findings: readonly Finding[];
  readonly tree: readonly TreeNode[];
}

/** `xds check BOOTSTRAP`: what an Envoy with a bootstrap would receive, and what is wrong with it. */
export const addCheckCommand: AddCommand = (program, context) => {
  const command = program
    .command("check")
    .summary("say what an Envoy with a bootstrap would receive, and what is wrong with it")
    .description(
      "Get everything that an Envoy with this bootstrap would get, as it would, and say whether all of it resolves: names that lead " +
        "nowhere, what a client refuses, clusters without endpoints, answers that take more than a second, and mistakes in the bootstrap itself.",
    )
    .argument("<bootstrap>", "bootstrap of an Envoy or of a gRPC client: YAML, JSON, .pb or .pb_text");
  addNodeFlags(command)
    .addOption(new Option("-o, --output <format>", "how it is printed").choices(["text", "json"]).default("text"))
    .addOption(
      new Option("--timeout <duration>", "how long to wait until everything is there")
        .argParser((text: string) => readDuration("--timeout", text))
        .default(20_000, "20s"),
    )
    .option("--strict", "fail on warnings too")
    .action((bootstrap: string, flags: CheckFlags) =>
      context.perform(() => check(bootstrap, { ...flags, bootstrap }, context)),
    );
  addExamples(command, [
    ["xds check envoy.yaml", "listeners, routes, clusters and endpoints, and whether each is there"],
    ["xds check envoy.yaml --node edge-7 --strict", "as another node; clusters without endpoints fail it, too"],
    ["xds check envoy.yaml -o json | jq '.findings[].message'", "what is wrong, a line each"],
  ]);
};

async function check(path: string, flags: CheckFlags, context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  const api = await loadApi(descriptorFilesOf(flags, io));
  const { config, problems } = loadBootstrap({ path: resolve(io.cwd, path) }, { api });
  const isText = flags.output === "text";
  if (isText) io.stdout.write(formatConfigProblems(problems, io.cwd, context.colorsOf(io.stdout)));
  if (config === undefined) {
    if (isText) io.stdout.write(`${path}: the bootstrap cannot be used\n`);
    else io.stdout.write(formatJson(answerOf(nothing, problems, { api, isOk: false })));
    return exitCode.problems;
  }
  try {
    const received = await receive(flags, api, context);
    if (io.interrupted.aborted) return exitCode.interrupted;
    return report(received, { api, flags, path, problems }, context);
  } catch (cause) {
    if (isText || !(cause instanceof CommandError)) throw cause;
    const answer = answerOf(nothing, problems, { api, isOk: false });
    io.stdout.write(formatJson({ ...answer, unreachable: cause.message }));
    return cause.exitCode;
  }
}

/** What came, and how it stands. */
interface Receipt {
  readonly snapshot: MeshSnapshot | undefined;
  readonly isComplete: boolean;
  readonly types: readonly AnsweredType[];
  readonly findings: readonly Finding[];
}

const nothing: Receipt = { snapshot: undefined, isComplete: false, types: [], findings: [] };

async function receive(flags: CheckFlags, api: EnvoyApi, { io }: CommandContext): Promise<Receipt> {
  const { client, answers, asked } = await openClient(flags, { api, io });
  const line = createStatusLine(io.stderr);
  try {
    const progress = (snapshot: MeshSnapshot): void => line.update(describeProgress(snapshot, api));
    const how = { timeoutMs: flags.timeout, interrupted: io.interrupted, progress };
    const { snapshot, isComplete, unreachable, unanswered } = await followMesh(client, answers, how);
    if (io.interrupted.aborted) return nothing;
    if (snapshot === undefined || !answers.isAnswered) throw unreachableFailure(unreachable, asked);
    const names = (one: AnsweredType): string => `${shortNameOf(one.type, api)} ${one.source}`;
    const types = [...answers.types()].sort((a, b) => (names(a) < names(b) ? -1 : 1));
    const findings = findingsIn({ api, snapshot, types, refusals: answers.refusals, unanswered });
    return { snapshot, isComplete, types, findings };
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
  const { findings, isComplete } = receipt;
  const all = [...findings, ...problems];
  const errors = all.filter(({ severity }) => severity === "error").length;
  const isOk = isComplete && errors === 0 && (flags.strict !== true || all.length === 0);
  if (flags.output === "json") io.stdout.write(formatJson(answerOf(receipt, problems, { api, isOk })));
  else {
    io.stdout.write(formatReceipt(receipt, api, context));
    const late = isComplete ? "" : ", and the time was over before everything was there";
    const count = [plural(errors, "error"), plural(all.length - errors, "warning")].join(", ");
    io.stdout.write(`${path}: ${all.length === 0 ? "no problems" : count}${late}\n`);
  }
  return isOk ? exitCode.ok : exitCode.problems;
}

function formatReceipt({ snapshot, types, findings }: Receipt, api: EnvoyApi, context: CommandContext): string {
  const { io, colorsOf } = context;
  const colors = colorsOf(io.stdout);
  const trees = snapshot === undefined ? "" : formatTrees(treesOf(snapshot, api), colors);
  const columns = [
    { title: "TYPE", text: ({ type }: AnsweredType) => shortNameOf(type, api) },
    { title: "RESOURCES", text: (row: AnsweredType) => `${countOf(row, snapshot)}` },
    {
      title: "FIRST ANSWER",
      text: ({ firstAnswerMs }: AnsweredType) => (firstAnswerMs === undefined ? "never" : `${firstAnswerMs} ms`),
    },
    { title: "SOURCE", text: ({ source }: AnsweredType) => source.replace(/#.*$/, "") },
  ];
  const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
  const table = formatTable(types, columns, { colors, width });
  const lines = findings.map(({ severity, code, message }) => {
    const tone = severity === "error" ? colors.red : colors.yellow;
    return `${tone(severity)}: ${message} ${colors.dim(`[${code}]`)}\n`;
  });
  return `${trees}\n${table}\n${lines.join("")}`;
}

function countOf({ source, type }: AnsweredType, snapshot: MeshSnapshot | undefined): number {
  let count = 0;
  for (const one of snapshot?.all.values() ?? []) {
    if (one.source === source && one.type === type && (one.resource ?? one.warming) !== undefined) count++;
  }
  return count;
}

function answerOf(
  { snapshot, isComplete, types, findings }: Receipt,
  bootstrap: readonly ConfigProblem[],
  { api, isOk }: { readonly api: EnvoyApi; readonly isOk: boolean },
): CheckAnswer {
  return {
    ok: isOk,
    bootstrap,
    complete: isComplete,
    types: types.map((one) => {
      const { type, source, firstAnswerMs } = one;
      const resources = countOf(one, snapshot);
      return { type, source, resources, ...(firstAnswerMs !== undefined && { firstAnswerMs }) };
    }),
    findings,
    tree: snapshot === undefined ? [] : treesOf(snapshot, api),
  };
}
