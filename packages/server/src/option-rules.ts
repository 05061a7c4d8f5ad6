import { resolve } from "node:path";
import { LONGEST_TIMER_MS as LONGEST_MS } from "@xdskit/disk";
import {
  aFlag,
  aFunction,
  aListOfTexts,
  anObject,
  aText,
  every,
  type FuseSettings,
  fields,
  isObject,
  isTexts,
  listOf,
  listOr,
  mistake,
  type OptionProblem,
  objectOr,
  oneOf,
  type Rule,
  type RulesOf,
  rule,
  wholeNumber,
} from "@xdskit/protocol/internal";
import { anAccess } from "./access-rules.ts";
import { hasNameKind } from "./certificate-name.ts";
import type { FileOutput } from "./file-output.ts";
import { type LimitName, type Limits, limitNames } from "./limits.ts";
import { aDialect, aNodeMapping, anEdition, clientOverrides } from "./node-rules.ts";
import type {
  AdminAddress,
  ListenOptions,
  LoadReportOptions,
  ManagementServerOptions,
  RestOptions,
  TlsFiles,
} from "./options.ts";

const isSet = (value: unknown): boolean => typeof value === "string" && value !== "";
const aHost: Rule = rule("a host", isSet);
const aFile: Rule = rule("a file", isSet);
const aPort: Rule = rule("a port from 0 to 65535", (value) => wholeNumber(0, 65_535)(value).length === 0);
const milliseconds: Rule = wholeNumber(0, LONGEST_MS);
const objectOrFalse = (object: Rule): Rule =>
  objectOr(
    rule("an object or false", (value) => value === false),
    object,
  );

const ofTls: RulesOf<TlsFiles> = { cert: aFile, key: aFile, ca: aFile, crl: aFile, requireClientCertificate: aFlag };
const aTls: Rule = every(fields(ofTls, { needed: ["cert", "key"] }), (value) => {
  if (!isObject(value)) return [];
  const needsCa = value["requireClientCertificate"] === true || value["crl"] !== undefined;
  return needsCa && value["ca"] === undefined ? [mistake("ca", `${CA}, got nothing`)] : [];
});
const CA = "expected a file to check client certificates against";

const ofListener: RulesOf<ListenOptions> = {
  host: aHost,
  port: aPort,
  name: aText,
  tls: objectOrFalse(aTls),
  edition: anEdition,
  dialect: aDialect,
};
const aListener: Rule = fields(ofListener);
const listeners: Rule = every(
  listOr(
    objectOr(
      rule("an object, or a list of objects", () => false),
      aListener,
    ),
    aListener,
  ),
  (value) =>
    Array.isArray(value) && value.length === 0 ? [mistake("", "expected at least one address, got none")] : [],
);

const ofAdmin: RulesOf<AdminAddress> = {
  host: aHost,
  port: aPort,
  names: aListOfTexts,
  tls: aTls,
  viewers: aListOfTexts,
  operators: aListOfTexts,
};
const anAdmin: Rule = every(fields(ofAdmin), (value) => (isObject(value) ? findRoleProblems(value) : []));

/** Roles are given to names in client certificates, so they need TLS and a CA. */
function findRoleProblems({ tls, ...roles }: Readonly<Record<string, unknown>>): readonly OptionProblem[] {
  const problems: OptionProblem[] = [];
  if (isObject(tls) && tls["ca"] === undefined)
    problems.push(mistake("tls.ca", `${CA}, got nothing: nobody could read`));
  for (const role of ["viewers", "operators"]) {
    const names = roles[role];
    if (!isTexts(names)) continue;
    if (names.length > 0 && tls === undefined)
      problems.push(mistake(role, "expected TLS (admin.tls) for names of certificates"));
    for (const name of names.filter((one) => !hasNameKind(one)))
      problems.push(mistake(role, `expected dns:, uri:, ip:, email: or cn: and a name, got "${name}"`));
  }
  return problems;
}

const ofRest: RulesOf<RestOptions> = { holdMs: milliseconds, maxHoldMs: milliseconds, names: aListOfTexts };

/** Milliseconds. A client with a shorter interval, or none, reports without a pause (client-behaviours H8). */
const SHORTEST_INTERVAL_MS = 1_000;

const ofLoadReports: RulesOf<LoadReportOptions> = {
  intervalMs: wholeNumber(SHORTEST_INTERVAL_MS, LONGEST_MS),
  clusters: rule('"all", or a list of strings', (value) => value === "all" || isTexts(value)),
  endpoints: aFlag,
};
/** Load report options. */
export const loadReports: Rule = fields(ofLoadReports);

/** Options of `drain`. */
export const drainOptions: Rule = fields({ graceMs: milliseconds });

/** Limits for which 0 means "none". */
const MAY_BE_ZERO: readonly LimitName[] = [
  "maxRequestsPerSecondPerIdentity",
  "maxConnectionAgeMs",
  "maxConnectionAgeGraceMs",
  "maxDebounceMs",
  "keepaliveMs",
];
const ofLimits: RulesOf<Limits> = mapNames(limitNames, (name) =>
  wholeNumber(MAY_BE_ZERO.includes(name) ? 0 : 1, name.endsWith("Ms") ? LONGEST_MS : Number.MAX_SAFE_INTEGER),
);

const FORMATS = ["yaml", "json", "pb", "pb_text"];
const ofFiles: RulesOf<FileOutput> = {
  directory: rule("a directory", isSet),
  format: oneOf(...FORMATS),
  node: anObject,
  rewriteSources: aFlag,
  symlinks: aFlag,
  apiVersion: oneOf("v2", "v3"),
  settleMs: milliseconds,
};
/** Directories that the server writes. */
const fileOutputs: Rule = every(listOf(fields(ofFiles, { needed: ["directory"] })), (value) =>
  Array.isArray(value) ? findSharedDirectories(value) : [],
);

function findSharedDirectories(outputs: readonly unknown[]): readonly OptionProblem[] {
  const seen = new Set<string>();
  return outputs.flatMap((output, index) => {
    const directory = isObject(output) ? output["directory"] : undefined;
    if (typeof directory !== "string" || directory === "") return [];
    const isShared = seen.has(resolve(directory));
    seen.add(resolve(directory));
    const message = `expected each directory once, got ${directory} again`;
    return isShared ? [mistake(`[${index}].directory`, message)] : [];
  });
}

/** A share of what there is, such as 0.5, above which the fuse trips; growth may be above 1. */
const aShare: Rule = rule('a number from 0, or "off"', (value) => value === "off" || isFrom0(value));
const aFloor: Rule = rule("a number from 0", isFrom0);
const ofFuses: RulesOf<FuseSettings> = {
  ...{ resourcesRemoved: aShare, resourcesRemovedFloor: aFloor, lastListener: aFlag },
  ...{ nodesMoved: aShare, nodesMovedFloor: aFloor, nodesCutOff: aShare },
  ...{ sizeGrown: aShare, sizeShrunk: aShare, sizeFloor: aFloor },
  endpointsEmptiedMs: aShare,
};

const isAbove0: Rule = rule("a whole number from 1", (value) => Number.isSafeInteger(value) && Number(value) > 0);
const ofLedger: RulesOf<NonNullable<ManagementServerOptions["ledger"]>> = {
  directory: aText,
  store: anObject,
  publishes: oneOf("always", "lease", "never"),
  balancesConnections: aFlag,
  fuses: fields(ofFuses),
  retention: fields({ revisions: isAbove0, days: isAbove0 }),
};

/** An object with these methods, which may be inherited. */
function withMethods(expected: string, ...methods: readonly string[]): Rule {
  return rule(expected, (value) => isObject(value) && methods.every((method) => typeof value[method] === "function"));
}

const ofServer: RulesOf<ManagementServerOptions> = {
  api: withMethods("what createEnvoyApi makes", "traits", "readResource"),
  listen: listeners,
  admin: objectOrFalse(anAdmin),
  adminSocket: aText,
  tls: aTls,
  rest: objectOrFalse(fields(ofRest)),
  access: anAccess,
  insecure: aFlag,
  nodeMapping: aNodeMapping,
  requireNode: aFlag,
  v2: oneOf("convert", "exact", "off"),
  convertForStructs: aFunction,
  edition: anEdition,
  dialect: aDialect,
  clientOverrides,
  controlPlane: aText,
  limits: fields(ofLimits),
  stateDir: aText,
  ledger: fields(ofLedger),
  clientStatus: oneOf("off", "loopback", "certificate", "everybody"),
  loadReports: objectOrFalse(loadReports),
  healthDiscovery: withMethods("an object with functions specifierFor and onHealth", "specifierFor", "onHealth"),
  http2: oneOf("builtin", "node"),
  serveEmpty: aFlag,
  validation: oneOf("off", "warn", "reject"),
  files: fileOutputs,
  refreshSource: aFunction,
  placesOf: aFunction,
  log: withMethods("consoleLog(), or an object with a function write", "write"),
};

/** Where a name may have been meant: `port` stands in `listen` and in `admin`. */
const elsewhere: readonly string[] = Object.entries({
  listen: ofListener,
  limits: ofLimits,
  tls: ofTls,
  rest: ofRest,
  loadReports: ofLoadReports,
  ledger: ofLedger,
  admin: ofAdmin,
}).flatMap(([path, known]) => Object.keys(known).map((name) => `${path}.${name}`));

/** The options of a server. A misspelt one would silently have no effect, so unknown ones are problems. */
export const serverOptions: Rule = fields(ofServer, { elsewhere });

function isFrom0(value: unknown): boolean {
  return typeof value === "number" && value >= 0;
}

function mapNames<K extends string>(names: readonly K[], ruleOf: (name: K) => Rule): Readonly<Record<K, Rule>> {
  return Object.fromEntries(names.map((name) => [name, ruleOf(name)])) as Record<K, Rule>;
}
