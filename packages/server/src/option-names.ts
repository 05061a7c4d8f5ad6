import type { OptionProblem } from "./error.ts";
import type { FileOutput } from "./file-output.ts";
import type {
  AdminAddress,
  ListenOptions,
  LoadReportOptions,
  ManagementServerOptions,
  RestOptions,
  TlsFiles,
} from "./options.ts";

/** Every key of a type; a missing one fails to compile. */
type OptionNames<T> = Readonly<Record<keyof T, true>>;

const ofServer: OptionNames<ManagementServerOptions> = {
  api: true,
  listen: true,
  admin: true,
  adminSocket: true,
  tls: true,
  rest: true,
  access: true,
  insecure: true,
  nodeMapping: true,
  requireNode: true,
  v2: true,
  convertForStructs: true,
  edition: true,
  dialect: true,
  clientOverrides: true,
  controlPlane: true,
  limits: true,
  stateDir: true,
  clientStatus: true,
  loadReports: true,
  healthDiscovery: true,
  serveEmpty: true,
  files: true,
  refreshSource: true,
  log: true,
};
const ofListener: OptionNames<ListenOptions> = {
  host: true,
  port: true,
  name: true,
  tls: true,
  edition: true,
  dialect: true,
};
const ofAdmin: OptionNames<AdminAddress> = {
  host: true,
  port: true,
  names: true,
  tls: true,
  viewers: true,
  operators: true,
};
const ofTls: OptionNames<TlsFiles> = { cert: true, key: true, ca: true, requireClientCertificate: true };
const ofRest: OptionNames<RestOptions> = { holdMs: true, maxHoldMs: true, names: true };
const ofLoadReports: OptionNames<LoadReportOptions> = { intervalMs: true, clusters: true, endpoints: true };
const ofFiles: OptionNames<FileOutput> = {
  directory: true,
  format: true,
  node: true,
  rewriteSources: true,
  symlinks: true,
  apiVersion: true,
  settleMs: true,
};

/** Finds unknown options: a misspelt one would silently have no effect. */
export function findUnknownOptions(options: ManagementServerOptions): readonly OptionProblem[] {
  const { listen, files = [] } = options;
  const isOne = listen === undefined || !("length" in listen);
  const listeners = isOne ? [listen] : listen;
  return [
    ...unknownIn("", options, ofServer),
    ...listeners.flatMap((listener, index) => {
      const path = isOne ? "listen" : `listen[${index}]`;
      return [
        ...unknownIn(path, listener, ofListener),
        ...unknownIn(`${path}.tls`, listener === undefined || listener.tls === false ? undefined : listener.tls, ofTls),
      ];
    }),
    ...unknownIn("admin", options.admin === false ? undefined : options.admin, ofAdmin),
    ...unknownIn("admin.tls", options.admin === false ? undefined : options.admin?.tls, ofTls),
    ...unknownIn("tls", options.tls, ofTls),
    ...unknownIn("rest", options.rest === false ? undefined : options.rest, ofRest),
    ...unknownIn("loadReports", options.loadReports === false ? undefined : options.loadReports, ofLoadReports),
    ...files.flatMap((file, index) => unknownIn(`files[${index}]`, file, ofFiles)),
  ];
}

function unknownIn(path: string, given: object | undefined, known: Readonly<Record<string, true>>): OptionProblem[] {
  return Object.keys(given ?? {}).flatMap((name) => {
    if (Object.hasOwn(known, name)) return [];
    return [{ path: path === "" ? name : `${path}.${name}`, message: "expected the name of an option" }];
  });
}
