import { nearestName } from "@xdskit/envoy-api/internal";
import type { OptionProblem } from "./error.ts";
import type { FileOutput } from "./file-output.ts";
import { describeKind, hasFields, type Kind, kinds } from "./option-kinds.ts";
import {
  type AdminAddress,
  defaultLimits,
  type Limits,
  type ListenOptions,
  type LoadReportOptions,
  type ManagementServerOptions,
  type RestOptions,
  type TlsFiles,
} from "./options.ts";

/** The kind of every key of a type; a missing one fails to compile. */
type OptionKinds<T> = Readonly<Record<keyof T, Kind>>;
type Fields = Readonly<Record<string, Kind>>;

const ofServer: OptionKinds<ManagementServerOptions> = {
  api: kinds.object,
  listen: kinds.objectOrList,
  admin: kinds.objectOrFalse,
  adminSocket: kinds.text,
  tls: kinds.object,
  rest: kinds.objectOrFalse,
  access: kinds.functionOrObject,
  insecure: kinds.flag,
  nodeMapping: kinds.functionOrObject,
  requireNode: kinds.flag,
  v2: kinds.text,
  convertForStructs: kinds.function,
  edition: kinds.text,
  dialect: kinds.object,
  clientOverrides: kinds.functionOrList,
  controlPlane: kinds.text,
  limits: kinds.object,
  stateDir: kinds.text,
  ledger: kinds.object,
  clientStatus: kinds.text,
  loadReports: kinds.objectOrFalse,
  healthDiscovery: kinds.object,
  serveEmpty: kinds.flag,
  files: kinds.listOfObjects,
  refreshSource: kinds.function,
  placesOf: kinds.function,
  log: kinds.object,
};
const ofListener: OptionKinds<ListenOptions> = {
  host: kinds.text,
  port: kinds.number,
  name: kinds.text,
  tls: kinds.objectOrFalse,
  edition: kinds.text,
  dialect: kinds.object,
};
const ofAdmin: OptionKinds<AdminAddress> = {
  host: kinds.text,
  port: kinds.number,
  names: kinds.texts,
  tls: kinds.object,
  viewers: kinds.texts,
  operators: kinds.texts,
};
const ofTls: OptionKinds<TlsFiles> = {
  cert: kinds.text,
  key: kinds.text,
  ca: kinds.text,
  crl: kinds.text,
  requireClientCertificate: kinds.flag,
};
const ofRest: OptionKinds<RestOptions> = { holdMs: kinds.number, maxHoldMs: kinds.number, names: kinds.texts };
const ofLoadReports: OptionKinds<LoadReportOptions> = {
  intervalMs: kinds.number,
  clusters: kinds.allOrTexts,
  endpoints: kinds.flag,
};
const ofLimits: OptionKinds<Limits> = mapValues(defaultLimits, () => kinds.number);
const ofFiles: OptionKinds<FileOutput> = {
  directory: kinds.text,
  format: kinds.text,
  node: kinds.object,
  rewriteSources: kinds.flag,
  symlinks: kinds.flag,
  apiVersion: kinds.text,
  settleMs: kinds.number,
};

/** Where a name may have been meant: `port` stands in `listen` and in `admin`. */
const paths: readonly string[] = [
  ...Object.keys(ofServer),
  ...Object.entries({
    listen: ofListener,
    limits: ofLimits,
    tls: ofTls,
    rest: ofRest,
    loadReports: ofLoadReports,
    admin: ofAdmin,
  }).flatMap(([path, known]) => Object.keys(known).map((name) => `${path}.${name}`)),
];

/**
 * Finds unknown options, since a misspelt one would silently have no effect, and values of another kind, such as a
 * number in place of an object. The returned options are those of the right kinds.
 */
export function readOptions(options: ManagementServerOptions): {
  readonly options: ManagementServerOptions;
  readonly problems: readonly OptionProblem[];
} {
  const problems: OptionProblem[] = [];
  const read = (path: string, given: unknown, known: Fields): unknown => {
    if (!hasFields(given)) return given;
    const right: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(given)) {
      const place = path === "" ? name : `${path}.${name}`;
      const kind = Object.hasOwn(known, name) ? known[name] : undefined;
      if (kind === undefined) problems.push(unknownOption(place, name, known));
      else if (value === undefined || kind.holds(value)) right[name] = value;
      else problems.push({ path: place, message: `expected ${kind.expected}, got ${describeKind(value)}` });
    }
    return right;
  };
  const readListener = (listener: unknown, path: string): unknown => {
    const right = read(path, listener, ofListener);
    return hasFields(right) ? { ...right, ...optional("tls", read(`${path}.tls`, right["tls"], ofTls)) } : right;
  };
  const readAdmin = (admin: unknown): unknown => {
    const right = read("admin", admin, ofAdmin);
    return hasFields(right) ? { ...right, ...optional("tls", read("admin.tls", right["tls"], ofTls)) } : right;
  };
  const all = kinds.object.holds(options) ? options : {};
  if (all !== options) problems.push({ path: "", message: `expected an object, got ${describeKind(options)}` });
  const right = read("", all, ofServer) as Record<string, unknown>;
  const { listen, files } = right;
  const below = {
    listen: Array.isArray(listen)
      ? listen.map((listener, index) => readListener(listener, `listen[${index}]`))
      : readListener(listen, "listen"),
    admin: readAdmin(right["admin"]),
    tls: read("tls", right["tls"], ofTls),
    rest: read("rest", right["rest"], ofRest),
    limits: read("limits", right["limits"], ofLimits),
    loadReports: read("loadReports", right["loadReports"], ofLoadReports),
    files: Array.isArray(files) ? files.map((file, index) => read(`files[${index}]`, file, ofFiles)) : undefined,
  };
  for (const [name, value] of Object.entries(below)) Object.assign(right, optional(name, value));
  return { options: right as ManagementServerOptions, problems };
}

function optional(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === undefined ? {} : { [name]: value };
}

function unknownOption(path: string, name: string, known: Fields): OptionProblem {
  const sameName = paths.find((one) => one.endsWith(`.${name}`));
  const nearest = nearestName(name, Object.keys(known));
  const nearby = nearest === undefined ? undefined : `${path.slice(0, path.length - name.length)}${nearest}`;
  const meant = nearby ?? sameName ?? nearestName(name, paths);
  const hint = meant === undefined ? {} : { hint: `did you mean "${meant}"?` };
  return { path, message: "unknown option", ...hint };
}

function mapValues<K extends string>(of: Readonly<Record<K, unknown>>, value: () => Kind): Readonly<Record<K, Kind>> {
  return Object.fromEntries(Object.keys(of).map((key) => [key, value()])) as Record<K, Kind>;
}
