import { clientSwitchTable, editions } from "@xdskit/protocol";
import { bootstrapFromEnvironment } from "../config/bootstrap-environment.ts";
import { type ConfigProblem, XdsClientError } from "../error.ts";
import type { XdsClientOptions } from "./options.ts";

type OptionName = keyof XdsClientOptions;

/** What an option has to be, in words, and whether a value is that. */
interface Rule {
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

const object: Rule = { expected: "an object", holds: isObject };
const flag: Rule = { expected: "true or false", holds: (value) => typeof value === "boolean" };
const callback: Rule = { expected: "a function", holds: (value) => typeof value === "function" };
const list: Rule = { expected: "a list", holds: Array.isArray };
const version: Rule = oneOf("v2", "v3");
/** The longest that a timer can be set to. */
const LONGEST_MS = 2 ** 31 - 1;

const rules: Readonly<Record<OptionName, Rule>> = {
  bootstrap: {
    expected: "the path of a file, or its content as an object",
    holds: (value) => isPath(value) || isObject(value),
  },
  environment: object,
  server: { expected: "host:port, or a list of at least one", holds: areAddresses },
  rest: { expected: "true, false, or refreshDelayMs and requestTimeoutMs above 0", holds: isPolling },
  file: { expected: "the path of a file", holds: (value) => typeof value === "string" && value !== "" },
  fileFormat: oneOf("binary", "text", "yaml", "json"),
  isMoveOnly: flag,
  autoVersion: version,
  isLenient: flag,
  onWarning: callback,
  variant: oneOf("sotw", "delta"),
  isAggregated: flag,
  apiVersion: version,
  resourceApiVersion: version,
  node: { expected: "an id, or an object", holds: (value) => typeof value === "string" || isObject(value) },
  mode: oneOf("proxy", "non-proxy"),
  tls: { expected: "true, false or an object", holds: (value) => typeof value === "boolean" || isObject(value) },
  headers: { expected: "an object of texts", holds: areTexts },
  keepalive: { expected: "false, or intervalMs and timeoutMs", holds: isKeepalive },
  maxResponseBytes: wholeNumber(1, LONGEST_MS),
  connectTimeoutMs: wholeNumber(1, LONGEST_MS),
  initialFetchTimeoutMs: wholeNumber(0, LONGEST_MS),
  backOff: { expected: "baseMs above 0, and maxMs no smaller", holds: isBackOff },
  rateLimit: { expected: "maxTokens and tokensPerSecond above 0", holds: isRateLimit },
  parameters: { expected: "an object of texts", holds: areTexts },
  edition: oneOf(...editions),
  dialect: object,
  nackPolicy: oneOf("all-or-nothing", "apply-valid"),
  clientPgv: flag,
  validators: list,
  api: object,
  descriptors: list,
  cache: { expected: "an object with a path", holds: (value) => isObject(value) && isPath(value["path"]) },
  signal: { expected: "an AbortSignal", holds: (value) => value instanceof AbortSignal },
  onReport: callback,
};

/** What a gRPC client may find its bootstrap by. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Where a client starts. */
const starts = ["server", "bootstrap", "file"] as const satisfies readonly OptionName[];

/** What a bootstrap says, and nobody else. */
const saidByBootstraps: readonly OptionName[] = [
  "rest",
  "isAggregated",
  "apiVersion",
  "resourceApiVersion",
  "tls",
  "headers",
  "keepalive",
  "connectTimeoutMs",
  "initialFetchTimeoutMs",
  "rateLimit",
];

/** Throws one `XdsClientError` with all that is wrong with options, be they from TypeScript or not. */
export function checkOptions(options: XdsClientOptions, environment: Environment): void {
  const problems = findProblems(options, environment);
  if (problems.length > 0) throw configError(problems);
}

/** One error with all of the problems in its text. */
export function configError(problems: readonly ConfigProblem[]): XdsClientError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const lines = errors.map((one) => `${placeOf(one)}: ${one.message}`);
  return new XdsClientError("CONFIG_INVALID", `the configuration is not valid: ${lines.join("; ")}`, { problems });
}

function placeOf({ file, line, column, path }: ConfigProblem): string {
  const parts = [file, line, column].filter((part) => part !== undefined);
  return [...parts, ...(path === "" ? [] : [parts.length === 0 ? path : ` ${path}`])].join(":");
}

function findProblems(options: XdsClientOptions, environment: Environment): readonly ConfigProblem[] {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return [
    ...given.flatMap(([name, value]) => findProblem(name, value)),
    ...findStartProblems(options, environment),
    ...findSwitchProblems(options),
  ];
}

function findStartProblems(options: XdsClientOptions, environment: Environment): readonly ConfigProblem[] {
  const [first, ...more] = starts.filter((name) => options[name] !== undefined);
  if (first !== undefined && more.length > 0) {
    return [problem(first, `expected a server, a bootstrap or a file, got ${[first, ...more].join(" and ")}`)];
  }
  if (first === "server" || first === "file") return [];
  if (first === undefined && bootstrapFromEnvironment(environment) === undefined)
    return [problem("server", "expected a server, a bootstrap or a file, got none of them")];
  return saidByBootstraps
    .filter((name) => options[name] !== undefined)
    .map((name) => problem(name, "expected it in the bootstrap, where it is said of each server, got it as an option"));
}

function findProblem(name: string, value: unknown): ConfigProblem[] {
  if (!isOptionName(name)) return [problem(name, "expected the name of an option")];
  const { expected, holds } = rules[name];
  return holds(value) ? [] : [problem(name, `expected ${expected}, got ${shown(value)}`)];
}

function findSwitchProblems({ dialect }: XdsClientOptions): readonly ConfigProblem[] {
  if (!isObject(dialect)) return [];
  return Object.keys(dialect)
    .filter((field) => !Object.hasOwn(clientSwitchTable, field))
    .map((field) => problem(`dialect.${field}`, "expected the name of a switch"));
}

function problem(path: string, message: string): ConfigProblem {
  return { severity: "error", path, message };
}

/** Never the whole of an object: it may hold a key. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "object" || typeof value === "function" ? "something else" : String(value);
}

function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(rules, name);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function oneOf(...words: readonly string[]): Rule {
  return { expected: `one of ${words.join(", ")}`, holds: (value) => words.some((word) => word === value) };
}

function wholeNumber(least: number, most: number): Rule {
  return { expected: `a whole number from ${least} to ${most}`, holds: (value) => isWhole(value, least, most) };
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

function isAbove0(value: unknown): value is number {
  return typeof value === "number" && value > 0 && Number.isFinite(value);
}

function isPath(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function areTexts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((text) => typeof text === "string");
}

function areAddresses(value: unknown): boolean {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.length > 0 && all.every((one) => typeof one === "string" && /^(?!https?:)(?:.+:\d+|\w+:.+)$/.test(one));
}

function isKeepalive(value: unknown): boolean {
  if (value === false) return true;
  return isObject(value) && isWhole(value["intervalMs"], 1, LONGEST_MS) && isWhole(value["timeoutMs"], 1, LONGEST_MS);
}

function isPolling(value: unknown): boolean {
  if (typeof value === "boolean") return true;
  const names = ["refreshDelayMs", "requestTimeoutMs"];
  const isGood = (name: string): boolean =>
    !isObject(value) || value[name] === undefined || isWhole(value[name], 1, LONGEST_MS);
  return isObject(value) && Object.keys(value).every((name) => names.includes(name)) && names.every(isGood);
}

function isBackOff(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { baseMs, maxMs } = value;
  return isAbove0(baseMs) && isAbove0(maxMs) && maxMs >= baseMs;
}

function isRateLimit(value: unknown): boolean {
  return isObject(value) && isAbove0(value["maxTokens"]) && isAbove0(value["tokensPerSecond"]);
}
