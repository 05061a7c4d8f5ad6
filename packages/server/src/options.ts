import type { EnvoyApi } from "@xdskit/envoy-api";
import type { DialectOverrides, Edition, Placement } from "@xdskit/protocol";
import { type OptionProblem, XdsError } from "./error.ts";
import type { Log } from "./log.ts";

/** What a server takes before it says no. Whoever goes beyond gets a status that names the limit; nobody else is hurt. */
export interface Limits {
  /** Open connections. Beyond it a new one is closed at once. Default 50,000. */
  readonly maxConnections: number;
  /** Open discovery streams of the whole server. Beyond it a new stream ends with RESOURCE_EXHAUSTED. Default 50,000. */
  readonly maxStreams: number;
  /** Open discovery streams of one client address (host, without port). Beyond it RESOURCE_EXHAUSTED. Default 10,000. */
  readonly maxStreamsPerPeer: number;
  /** Names that one stream may be subscribed to, over all types. Beyond it the stream ends with RESOURCE_EXHAUSTED. Default 250,000. */
  readonly maxSubscriptionsPerStream: number;
  /** Bytes of one request, after decompression (B-GRP-08). Beyond it RESOURCE_EXHAUSTED. Default 64 MiB. */
  readonly maxRequestBytes: number;
  /** Bytes of the body of one request over REST. Beyond it 413. Default 16 MiB. */
  readonly maxRestRequestBytes: number;
  /** Bytes that may wait for one stream to read them. Beyond it the stream is reset as exhausted. Default 512 MiB. */
  readonly maxPendingBytes: number;
  /** Milliseconds in which a stream must take what was written to it (256 KB at most). Beyond it the stream is reset. Default 60,000. */
  readonly maxBlockedMs: number;
  /**
   * Milliseconds after which a connection is asked to go (GOAWAY), give or take 10 %, so that clients spread over the
   * servers there are (S-CON-03). 0, the default: never.
   */
  readonly maxConnectionAgeMs: number;
  /** Milliseconds that the streams of an old connection have to go by themselves; then UNAVAILABLE. Default 10,000. */
  readonly maxConnectionAgeGraceMs: number;
  /** Milliseconds between PINGs to a client. 0: none. Default 30,000. */
  readonly keepaliveMs: number;
  /** Milliseconds in which a PING must be answered, else the connection is closed and its state freed. Default 10,000. */
  readonly keepaliveTimeoutMs: number;
  /** Milliseconds that a new connection has to show which protocol it speaks. Default 10,000. */
  readonly handshakeTimeoutMs: number;
}

export type LimitName = keyof Limits;

export const defaultLimits: Limits = {
  maxConnections: 50_000,
  maxStreams: 50_000,
  maxStreamsPerPeer: 10_000,
  maxSubscriptionsPerStream: 250_000,
  maxRequestBytes: 64 * 1024 * 1024,
  maxRestRequestBytes: 16 * 1024 * 1024,
  maxPendingBytes: 512 * 1024 * 1024,
  maxBlockedMs: 60_000,
  maxConnectionAgeMs: 0,
  maxConnectionAgeGraceMs: 10_000,
  keepaliveMs: 30_000,
  keepaliveTimeoutMs: 10_000,
  handshakeTimeoutMs: 10_000,
};

/** Every limit, in the order in which they are printed. */
export const limitNames: readonly LimitName[] = Object.keys(defaultLimits).filter(isLimitName);

/** Paths of PEM files; they are read again when they change. */
export interface TlsFiles {
  /** The server's certificate, followed by its chain. */
  readonly cert: string;
  readonly key: string;
  /** Authorities that client certificates are checked against. With it, clients must show one unless `requireClientCertificate` is false. */
  readonly ca?: string;
  readonly requireClientCertificate?: boolean;
}

/** An address to listen at. Port 0 is a port that the system picks. */
export interface ListenAddress {
  readonly host?: string;
  readonly port?: number;
}

/** Where the admin API listens. */
export interface AdminAddress extends ListenAddress {
  /** Names, beside addresses and localhost, that it may be called by; `*` for all. Others are refused (DNS rebinding). */
  readonly names?: readonly string[];
}

/** How polls over REST are answered; `dialect.restLongPoll` says whether they are held at all. */
export interface RestOptions {
  /**
   * Milliseconds for which a poll is held while nothing changes, where the client does not say how long it waits: Envoy does, in
   * `x-envoy-expected-rq-timeout-ms`, and 80 % of that are used. Default 800: clients wait for one second by default.
   */
  readonly holdMs?: number;
  /** The longest that a poll is held, whatever the client says. Default 30,000. */
  readonly maxHoldMs?: number;
}

/** What a management server is made from. */
export interface ManagementServerOptions {
  readonly api: EnvoyApi;
  /** Where clients connect. Default: 127.0.0.1, a free port. */
  readonly listen?: ListenAddress;
  /** The admin API; `false` or nothing: none. */
  readonly admin?: AdminAddress | false;
  readonly tls?: TlsFiles;
  /** REST on the port of gRPC; `false`: none. Default: served. */
  readonly rest?: RestOptions | false;
  /** Gives Secrets and `node/` layers also to clients that are neither encrypted nor on loopback. */
  readonly insecure?: boolean;
  /** From a node and its peer to the layers it sees, top-most first. Default: everybody sees `base`. */
  readonly placement?: Placement;
  /** Refuses streams that do not say which node they are (S-NOD-06). Default: only when there is a `placement`. */
  readonly requireNode?: boolean;
  readonly edition?: Edition;
  readonly dialect?: DialectOverrides;
  /** `control_plane.identifier` in every response. Default: `xdskit`. */
  readonly controlPlane?: string;
  readonly limits?: Partial<Limits>;
  /**
   * A directory, made if need be, for what a server that comes after this one has to know so that clients which come back in
   * the middle of a change lose no request: Clusters, and the versions of them that clients were sent; nothing secret. One
   * server uses it at a time. Whatever is wrong with it is reported, and ignored. Default: none.
   */
  readonly stateDir?: string;
  /** Serves an empty state before the first commit. Without it every stream ends with UNAVAILABLE until then. */
  readonly serveEmpty?: boolean;
  /** Where lines of the log go. Default: nowhere. */
  readonly log?: Log;
}

/** Options with every default filled in. */
export interface CheckedOptions extends ManagementServerOptions {
  readonly listen: Required<ListenAddress>;
  readonly admin: Required<AdminAddress> | false;
  readonly rest: Required<RestOptions> | false;
  readonly placement: Placement;
  readonly requireNode: boolean;
  readonly insecure: boolean;
  readonly serveEmpty: boolean;
  readonly controlPlane: string;
  readonly limits: Limits;
}

/** Fills in the defaults. Throws an `XdsError` (OPTIONS_INVALID) that names every mistake at once. */
export function checkOptions(options: ManagementServerOptions): CheckedOptions {
  const problems = findOptionProblems(options);
  if (problems.length > 0) throw new XdsError("OPTIONS_INVALID", describe(problems), { problems });
  return {
    ...options,
    listen: { host: "127.0.0.1", port: 0, ...options.listen },
    admin:
      options.admin === undefined || options.admin === false
        ? false
        : { host: "127.0.0.1", port: 0, names: [], ...options.admin },
    rest: options.rest === false ? false : { holdMs: 800, maxHoldMs: 30_000, ...options.rest },
    placement: options.placement ?? (() => ["base"]),
    requireNode: options.requireNode ?? options.placement !== undefined,
    insecure: options.insecure ?? false,
    serveEmpty: options.serveEmpty ?? false,
    controlPlane: options.controlPlane ?? "xdskit",
    limits: { ...defaultLimits, ...options.limits },
  };
}

/** Everything that is wrong with the options. */
function findOptionProblems(options: ManagementServerOptions): readonly OptionProblem[] {
  return [
    ...findAddressProblems("listen", options.listen),
    ...(options.admin === false ? [] : findAddressProblems("admin", options.admin)),
    ...findTlsProblems(options.tls),
    ...findRestProblems(options.rest),
    ...findLimitProblems(options.limits ?? {}),
  ];
}

function findAddressProblems(path: string, address: ListenAddress | undefined): readonly OptionProblem[] {
  const problems: OptionProblem[] = [];
  const { host, port } = address ?? {};
  if (host === "") problems.push({ path: `${path}.host`, message: 'expected a host, got ""' });
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    problems.push({ path: `${path}.port`, message: `expected a port from 0 to 65535, got ${port}` });
  }
  return problems;
}

function findTlsProblems(tls: TlsFiles | undefined): readonly OptionProblem[] {
  if (tls === undefined) return [];
  const problems: OptionProblem[] = [];
  if (tls.cert === "") problems.push({ path: "tls.cert", message: "expected a file, got nothing" });
  if (tls.key === "") problems.push({ path: "tls.key", message: "expected a file, got nothing" });
  if (tls.requireClientCertificate === true && tls.ca === undefined) {
    problems.push({ path: "tls.ca", message: "expected a file to check client certificates against, got nothing" });
  }
  return problems;
}

function findRestProblems(rest: RestOptions | false | undefined): readonly OptionProblem[] {
  if (rest === undefined || rest === false) return [];
  const times = [["holdMs", rest.holdMs] as const, ["maxHoldMs", rest.maxHoldMs] as const];
  return times.flatMap(([name, ms]): readonly OptionProblem[] => {
    if (ms === undefined || (Number.isInteger(ms) && ms >= 0 && ms <= LONGEST_MS)) return [];
    return [{ path: `rest.${name}`, message: `expected a whole number from 0 to ${LONGEST_MS}, got ${ms}` }];
  });
}

/** Limits for which 0 means "none". */
const MAY_BE_ZERO: readonly LimitName[] = ["maxConnectionAgeMs", "maxConnectionAgeGraceMs", "keepaliveMs"];
/** The longest that a timer can be set to. */
const LONGEST_MS = 2 ** 31 - 1;

function findLimitProblems(limits: Partial<Limits>): readonly OptionProblem[] {
  return Object.entries(limits).flatMap(([name, value]): readonly OptionProblem[] => {
    if (!isLimitName(name)) return [{ path: `limits.${name}`, message: "expected the name of a limit" }];
    const least = MAY_BE_ZERO.includes(name) ? 0 : 1;
    const most = name.endsWith("Ms") ? LONGEST_MS : Number.MAX_SAFE_INTEGER;
    if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return [];
    return [{ path: `limits.${name}`, message: `expected a whole number from ${least} to ${most}, got ${value}` }];
  });
}

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(defaultLimits, name);
}

function describe(problems: readonly OptionProblem[]): string {
  return `the options are not valid: ${problems.map(({ path, message }) => `${path}: ${message}`).join("; ")}`;
}
