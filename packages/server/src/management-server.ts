import type { AccessFunction, AccessRules, Commit, NodeMapping, Resource } from "@xdskit/protocol";
import type { NodeAnswer } from "./admin/answers/nodes.ts";
import type { ProgressAnswer } from "./admin/answers/progress.ts";
import type { ResourceProblem } from "./error.ts";
import type { ServerEvents } from "./hub/listeners.ts";
import type { Authorship, Publication, PublishResult, RollbackOptions } from "./ledger/publication.ts";
import type { StoreState } from "./ledger/store-state.ts";
import type { SourceProblem, SourceStatus } from "./observe/source-status.ts";
import type { DeploymentOptions, LoadReportOptions, ManagementServerOptions } from "./options.ts";
import type { ChangeResult, ResourceList, Update } from "./state/resource-layers.ts";
import type { BoundAddress } from "./transport/transport.ts";

/** The addresses of a started server. */
export interface StartedServer {
  readonly address: BoundAddress;
  /** Every address where clients connect, in the order of the options; the first is `address`. */
  readonly addresses: readonly BoundAddress[];
  /** Undefined without an admin API. */
  readonly adminAddress?: BoundAddress;
}

/** The state of a source of resources, as its owner reports it. */
export interface SourceReport {
  readonly state: SourceStatus["state"];
  readonly problems: readonly SourceProblem[];
  /**
   * When this state began.
   * @default now
   */
  readonly since?: Date;
}

/** An xDS management server: the program changes resources, clients subscribe over gRPC or REST. */
export interface ManagementServer extends AsyncDisposable {
  /**
   * Starts listening. Throws an `XdsError`: LISTEN_FAILED, TLS_INVALID, FILES_FAILED, STORE_FAILED, or SERVER_STATE unless the server
   * is new, or if it is closed meanwhile.
   */
  listen(): Promise<StartedServer>;
  /**
   * Replaces the resources of a layer: sends new and changed ones, removes missing ones; unchanged ones keep their
   * version. Versions are digests of the content, so replicas agree on them. Resources that `commit` put there are not
   * touched. Nodes see the layers that `nodeMapping` names; without one, `base` and no other. Throws an `XdsError` and
   * changes nothing: RESOURCES_INVALID with every error in the resources, which is what `xds validate` calls an error in a
   * file, VARIANTS_AMBIGUOUS, as `commit` does, or SERVER_STATE with a ledger, or if the
   * server is closed.
   */
  set(layer: string, resources: ResourceList): ChangeResult;
  /**
   * Applies all changes of the callback together, on top of earlier `set` and `update` calls. Throws as `set` does; if
   * the callback throws, nothing changes.
   */
  update(change: (update: Update) => unknown): ChangeResult;
  /**
   * Checks all resources of `set` and `update`: broken validation rules, dangling references, listeners that share an
   * address, layers that no node sees. Finds the same as `xds validate` in files. All results are warnings, because `set` and `update` reject
   * errors.
   */
  check(): readonly ResourceProblem[];
  /**
   * The connected nodes by id: identity, streams, layers, and per type what is subscribed, sent, ACKed and NACKed, and
   * why. The items equal those of the admin API and are built lazily, one per step of the iteration.
   */
  nodes(): Iterable<NodeAnswer>;
  /**
   * Applies changes of resources, node mapping, access rules and client overrides as a whole: no client is served by a part
   * of it. Returns its revision. The first commit, even an empty one, makes the server ready. Responses go out in later
   * slices of the event loop. May be called before `listen`. Throws an `XdsError` and changes nothing: TRANSACTION_INVALID
   * with every mistake, VARIANTS_AMBIGUOUS if a name would have two variants that match the same client (S-LOC-08), or
   * SERVER_STATE with a ledger, or if the server is closed.
   */
  commit(commit: Commit): number;
  /**
   * Records a change in the ledger and then puts it in force, or says why not. Live data (EDS, LEDS, SDS) flows at once,
   * also if the rest is held. Throws an `XdsError`: OPTIONS_INVALID with every mistake in the argument, or SERVER_STATE
   * without a ledger, or if the server is closed.
   */
  publish(publication: Publication): Promise<PublishResult>;
  /**
   * Does for resources that are going to be published what can be done before, such as encoding them for the ledger, so
   * that `publish` has less to do at once. Does nothing without a ledger. 500 resources take some 2 ms.
   */
  prepare(resources: Iterable<Resource>): void;
  /** Puts the held change of that number in force. Throws as `publish` does. */
  approve(number: number, by?: Authorship): Promise<PublishResult>;
  /** Drops the held change of that number. Throws as `publish` does. */
  reject(number: number, by?: Authorship): Promise<PublishResult>;
  /**
   * Brings back what was in force at a number; of live data only what was deleted since and is referred to again. What
   * that takes away is held if it is published again.
   * Throws as `publish` does.
   */
  rollback(to: number, options?: RollbackOptions): Promise<PublishResult>;
  /**
   * Waits until a revision is everywhere: until no connected node that counts has anything up to it not sent or without
   * an ACK or NACK. The answer says who has it and who rejected it, and how far it is if the time is over. Nodes that
   * connect while waiting count too. Rejects with an `XdsError`: REVISION_UNKNOWN for a revision that does not exist yet,
   * OPTIONS_INVALID, and SERVER_STATE when the server closes.
   */
  whenDeployed(revision: number, options?: DeploymentOptions): Promise<ProgressAnswer>;
  /**
   * Commits another node mapping alone. Returns the revision of this change, which
   * `whenDeployed` waits for as for that of a commit. Throws an `XdsError` (SERVER_STATE) as `commit` does.
   */
  setNodeMapping(nodeMapping: NodeMapping): number;
  /**
   * Commits other access rules alone; undefined: the defaults. A connected client that may no longer be its node is ended; the
   * others get the difference. Returns the revision of this change. Throws an `XdsError`: OPTIONS_INVALID that names
   * every mistake, or SERVER_STATE as `commit` does.
   */
  setAccess(access: AccessRules | AccessFunction | undefined): number;
  /**
   * Changes the load reports that the server requests, for every client; absent fields stay as they are. Throws an
   * `XdsError`: OPTIONS_INVALID, or SERVER_STATE where `loadReports` is false, or if the server is closed.
   */
  setLoadReporting(changes: LoadReportOptions): void;
  /**
   * Commits other protocol overrides of single clients alone; undefined removes them. Streams that have already sent their
   * node keep theirs. Throws an `XdsError`: OPTIONS_INVALID that names every mistake, or SERVER_STATE as `commit` does.
   */
  setClientOverrides(clients: ManagementServerOptions["clientOverrides"]): void;
  /**
   * Reloads the TLS files now instead of on the next change of a file. Invalid files are reported (`tls-refused`), and
   * the previous certificates stay in use.
   */
  reloadCertificates(): Promise<void>;
  /**
   * Puts in force the CAs and revocation lists that a fuse holds, by the `id` of the event `tls-held`. Returns whether
   * they were held.
   */
  approveTrust(id: string): Promise<boolean>;
  /**
   * Sets the state of the source that the admin API and readiness show. Without it the source is the program itself: good
   * once it set something, unless `refreshSource` is given.
   */
  reportSource(report: SourceReport): void;
  /**
   * Calls the listener for every event of a kind, until the returned function is called. If a listener throws or its
   * promise rejects, other listeners still run; for `stream-opened` and `request-classified` the server ends that
   * stream and no other (S-OBS-03).
   */
  on<K extends keyof ServerEvents>(kind: K, listener: (event: ServerEvents[K]) => unknown): () => void;
  /**
   * Drains the server: accepts no new clients, sends GOAWAY, ends the streams with UNAVAILABLE spread over `graceMs`
   * (10,000 by default), then closes (S-GRP-06).
   */
  drain(options?: { readonly graceMs?: number }): Promise<void>;
  /**
   * Closes everything at once; resolves when everything is closed. May be called more than once, and while it starts.
   * From then on, what changes something throws an `XdsError` (SERVER_STATE); what was in force can still be read.
   */
  close(): Promise<void>;
  readonly revision: number;
  /** Undefined without a ledger, and until it is open: after `listen`, or the first `publish`. */
  readonly ledger: LedgerStatus | undefined;
}

/** What the ledger of a server came to. */
export interface LedgerStatus {
  /** Of the newest record. */
  readonly number: number;
  /** The number of the change that a fuse holds. */
  readonly held: number | undefined;
  /** Where it is written; undefined in memory and in a store, and if the directory cannot be used. */
  readonly directory: string | undefined;
  /** Undefined where no store is shared. */
  readonly store: StoreState | undefined;
}

/** A server whose clients are served by worker processes. */
export interface PrimaryServer extends ManagementServer {
  /**
   * Replaces the workers one by one, with another setup. Rejects with an `XdsError` (WORKER_FAILED) if one cannot start
   * with it; then the others stay.
   */
  rollWorkers(setup: unknown, options: { readonly graceMs: number }): Promise<void>;
}
