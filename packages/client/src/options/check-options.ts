import { editions } from "@xdskit/protocol";
import {
  aFlag,
  aFunction,
  aList,
  anObject,
  aText,
  at,
  clientSwitchTable,
  fields,
  isObject,
  mistake,
  objectOr,
  oneOf,
  type Rule,
  type RulesOf,
  rule,
  unchecked,
  wholeNumber,
} from "@xdskit/protocol/internal";
import { aSignal, milliseconds, millisecondsOr0, problemsError, texts } from "../argument.ts";
import { bootstrapFromEnvironment } from "../config/bootstrap-environment.ts";
import type { TlsConfig } from "../config/client-config.ts";
import type { ConfigProblem, XdsClientError } from "../error.ts";
import { type FlatOptions, flatten } from "./flat-options.ts";
import { nodeRules } from "./node-identity.ts";
import type { ClientLimits, ReadingOptions, TransportOptions, ValidationOptions, XdsClientOptions } from "./options.ts";

const version = oneOf("v2", "v3");
const path = rule("the path of a file", isPath);
/** grpc-js holds message lengths as signed 32-bit numbers. */
const LARGEST_MESSAGE_BYTES = 2 ** 31 - 1;

const readingRules: RulesOf<ReadingOptions> = {
  autoVersion: version,
  isLenient: aFlag,
  onWarning: aFunction,
  fileFormat: oneOf("binary", "text", "yaml", "json"),
  isMoveOnly: aFlag,
};
const pem = rule("PEM as a string or bytes", (value) => isPath(value) || value instanceof Uint8Array);
const tlsRules: RulesOf<TlsConfig> = {
  ca: pem,
  caPath: path,
  certificate: pem,
  certificatePath: path,
  key: pem,
  keyPath: path,
  serverName: aText,
};
const transportRules: RulesOf<TransportOptions> = {
  variant: oneOf("sotw", "delta"),
  isAggregated: aFlag,
  apiVersion: version,
  resourceApiVersion: version,
  rest: objectOr(
    rule("true, false or an object", (value) => typeof value === "boolean"),
    fields({ refreshDelayMs: milliseconds, requestTimeoutMs: milliseconds }),
  ),
  tls: objectOr(
    rule("true, false or an object", (value) => typeof value === "boolean"),
    fields(tlsRules),
  ),
  headers: texts,
  keepalive: objectOr(
    rule("false or an object", (value) => value === false),
    fields({ intervalMs: milliseconds, timeoutMs: milliseconds }, { needed: ["intervalMs", "timeoutMs"] }),
  ),
};
const limitsRules: RulesOf<ClientLimits> = {
  maxResponseBytes: wholeNumber(1, LARGEST_MESSAGE_BYTES),
  connectTimeoutMs: milliseconds,
  initialFetchTimeoutMs: millisecondsOr0,
  backOff: rule("baseMs above 0, and maxMs no smaller", isBackOff),
  rateLimit: rule("maxTokens and tokensPerSecond above 0", isRateLimit),
};
const validationRules: RulesOf<ValidationOptions> = {
  nackPolicy: oneOf("all-or-nothing", "apply-valid"),
  clientPgv: aFlag,
  validators: aList,
};
const groups = { reading: readingRules, transport: transportRules, limits: limitsRules, validation: validationRules };

/** Where the option of a name is, such as `transport.variant`. */
const pathsInGroups: readonly string[] = Object.entries(groups).flatMap(([group, known]) =>
  Object.keys(known).map((name) => `${group}.${name}`),
);

const rules: RulesOf<XdsClientOptions> = {
  server: rule("host:port or a gRPC target such as unix:/run/xds.sock, or a list of at least one", areAddresses),
  bootstrap: rule("the path of a file, or its content as an object", (value) => isPath(value) || isObject(value)),
  file: path,
  environment: anObject,
  reading: fields(groups.reading),
  transport: fields(groups.transport),
  limits: fields(groups.limits),
  node: objectOr(
    rule("an id, or an object", (value) => typeof value === "string"),
    fields(nodeRules),
  ),
  mode: oneOf("proxy", "non-proxy"),
  parameters: texts,
  edition: oneOf(...editions),
  dialect: fields(Object.fromEntries(Object.keys(clientSwitchTable).map((name) => [name, unchecked])), {
    noun: "switch",
  }),
  validation: fields(groups.validation),
  api: anObject,
  descriptors: aList,
  cache: fields(
    {
      path,
      maxBytes: wholeNumber(1, Number.MAX_SAFE_INTEGER),
      unusedMs: wholeNumber(1, Number.MAX_SAFE_INTEGER),
      secrets: oneOf("leave-out", "keep"),
      onProblem: aFunction,
    },
    { needed: ["path"] },
  ),
  signal: aSignal,
  onReport: aFunction,
};

const anOptionsObject: Rule = fields(rules, { elsewhere: pathsInGroups });

/** The environment variables in which a gRPC client finds its bootstrap. */
type Environment = Readonly<Record<string, string | undefined>>;

/** The options that say how the client starts; at most one of them is set. */
const starts = ["server", "bootstrap", "file"] as const satisfies readonly (keyof XdsClientOptions)[];

/** Options that a bootstrap sets itself, so they cannot be combined with one. */
const saidByBootstraps: readonly string[] = [
  "transport.rest",
  "transport.isAggregated",
  "transport.apiVersion",
  "transport.resourceApiVersion",
  "transport.tls",
  "transport.headers",
  "transport.keepalive",
  "limits.connectTimeoutMs",
  "limits.initialFetchTimeoutMs",
  "limits.rateLimit",
];

/** Returns the options without their groups. Throws one `XdsClientError` with every problem in them. */
export function checkOptions(options: XdsClientOptions, environment: Environment): FlatOptions {
  const problems = findProblems(options, environment);
  if (problems.length > 0) throw configError(problems);
  return flatten(options);
}

/** One error with every problem in a configuration. */
export function configError(problems: readonly ConfigProblem[]): XdsClientError {
  return problemsError("CONFIG_INVALID", "the configuration is not valid", problems);
}

function findProblems(options: XdsClientOptions, environment: Environment): readonly ConfigProblem[] {
  if (!isObject(options)) return at("options", anObject(options));
  return [...anOptionsObject(options), ...findStartProblems(options, environment)];
}

function findStartProblems(options: XdsClientOptions, environment: Environment): readonly ConfigProblem[] {
  const [first, ...more] = starts.filter((name) => options[name] !== undefined);
  if (first !== undefined && more.length > 0) {
    return [mistake(first, `expected a server, a bootstrap or a file, got ${[first, ...more].join(" and ")}`)];
  }
  if (first === "server" || first === "file") return [];
  if (first === undefined && bootstrapFromEnvironment(options.environment ?? environment) === undefined)
    return [
      mistake(
        "server",
        "expected a server, a bootstrap or a file, got none of them",
        "pass one, or set GRPC_XDS_BOOTSTRAP to the path of a gRPC bootstrap",
      ),
    ];
  const given = new Map<string, unknown>(Object.entries(flatten(options)));
  return saidByBootstraps
    .filter((path) => given.get(path.slice(path.indexOf(".") + 1)) !== undefined)
    .map((path) => mistake(path, "expected it in the bootstrap, where it is said of each server, got it as an option"));
}

function isAbove0(value: unknown): value is number {
  return typeof value === "number" && value > 0 && Number.isFinite(value);
}

function isPath(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

const hostAndPort = /^(?:[^:/[\]]+|\[[^[\]]+\]):(?<port>\d{1,5})$/;
const otherTarget = /^(?:dns|ipv4|ipv6|unix|unix-abstract):./;

function areAddresses(value: unknown): boolean {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.length > 0 && all.every((one) => typeof one === "string" && isAddress(one));
}

function isAddress(text: string): boolean {
  const port = hostAndPort.exec(text)?.groups?.["port"];
  return port === undefined ? otherTarget.test(text) : Number(port) > 0 && Number(port) < 65_536;
}

function isBackOff(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { baseMs, maxMs } = value;
  return isAbove0(baseMs) && isAbove0(maxMs) && maxMs >= baseMs;
}

function isRateLimit(value: unknown): boolean {
  return isObject(value) && isAbove0(value["maxTokens"]) && isAbove0(value["tokensPerSecond"]);
}
