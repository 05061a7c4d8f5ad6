import { join } from "node:path";
import { contentDigest } from "@xdskit/envoy-api";
import type { Resource, TypeUrl } from "@xdskit/protocol";
import {
  defaultFuses,
  type EntryChange,
  type FuseContext,
  type FuseSettings,
  type FuseTrip,
  type LedgerEffect,
  type LedgerRecord,
  type LedgerState,
  type Steps,
  type StreamId,
  type TypeKind,
  tripFuses,
} from "@xdskit/protocol/internal";
import type { CheckedOptions } from "./check-options.ts";
import { closeInStages } from "./close-in-stages.ts";
import type { RulesContext } from "./commit-check.ts";
import { XdsError } from "./error.ts";
import { readAccess } from "./hub/access.ts";
import type { ArrivingClient } from "./hub/catch-up-gate.ts";
import type { Hub } from "./hub/hub.ts";
import type { RecordedChange } from "./hub/port.ts";
import type { HubTarget } from "./hub-target.ts";
import { connectedNodes, type JudgedWith, judgedNodes, type PlacedStreams, subscribedNodes } from "./judged-nodes.ts";
import { ConnectedNodes } from "./ledger/connected-nodes.ts";
import { openDirectoryLedger } from "./ledger/directory-store.ts";
import { lackingEndpoints } from "./ledger/endpoints.ts";
import { EntryMemory, type EntryRules } from "./ledger/entry-memory.ts";
import { StoreFreshness } from "./ledger/freshness.ts";
import { MemoryLedgerStore } from "./ledger/memory-store.ts";
import { Publisher } from "./ledger/publisher.ts";
import { type KnownReplicas, type ReplicaFacts, type ReplicaState, Replicas } from "./ledger/replicas.ts";
import { DEFAULT_RETENTION } from "./ledger/retention.ts";
import { secretsOf } from "./ledger/secrets.ts";
import { SessionBalancer } from "./ledger/session-balancer.ts";
import type { Sessions } from "./ledger/sessions.ts";
import { SourceRole } from "./ledger/source-role.ts";
import type { LedgerStore, StoreOutage } from "./ledger/store.ts";
import type { StoreState } from "./ledger/store-state.ts";
import type { ChangeTraces } from "./observe/change-traces.ts";
import { VERSION } from "./version.ts";
import { withDefaults } from "./with-defaults.ts";

/** The lease of the server that publishes. */
const SOURCE_LEASE = "source";
/** How many changes of a record are told by name. */
const CHANGES_NAMED = 10;

/** What a ledger works with. */
export interface ServerLedgerParts {
  readonly hub: Hub;
  readonly rulesContext: RulesContext;
  readonly traces: ChangeTraces;
  readonly target: HubTarget;
  /** The streams of all connected nodes. */
  readonly streams: PlacedStreams;
  readonly sessions: Sessions;
  /** Where the server listens. */
  readonly address: () => string | undefined;
}

/** The ledger of a server, opened when it is first needed. */
export class ServerLedger {
  readonly #options: CheckedOptions;
  readonly #hub: Hub;
  readonly #rulesContext: RulesContext;
  readonly #traces: ChangeTraces;
  readonly #target: HubTarget;
  readonly #streams: PlacedStreams;
  readonly #role: SourceRole;
  readonly #replicas: Replicas;
  readonly #balancer: SessionBalancer;
  readonly #entryRules: EntryRules;
  readonly #entries: EntryMemory;
  #opening: Promise<Publisher> | undefined;
  #publisher: Publisher | undefined;
  #outage: StoreOutage | undefined;
  #stopWatching: (() => void) | undefined;
  #directory: string | undefined;
  #connected: ConnectedNodes | undefined;
  #freshness: StoreFreshness | undefined;
  #inMemoryReason: string | undefined;

  constructor(options: CheckedOptions, parts: ServerLedgerParts) {
    const { hub, rulesContext, traces, target, streams, sessions, address } = parts;
    this.#traces = traces;
    this.#options = options;
    this.#hub = hub;
    this.#rulesContext = rulesContext;
    this.#target = target;
    this.#streams = streams;
    const { api } = options;
    const rules = { holdsSecret: secretsOf(api), lacksEndpoints: lackingEndpoints(api) };
    this.#entryRules = { digest: contentDigest, ...rules };
    this.#entries = new EntryMemory(this.#entryRules);
    const { publishes = "always", store } = options.ledger ?? {};
    this.#role = new SourceRole({
      // A store without leases has one writer.
      publishes: publishes === "lease" ? (store?.lease?.(SOURCE_LEASE) ?? "always") : publishes,
      prepare: async () => await this.#publisher?.catchUp(),
      onChanged: (role) => this.#hub.report({ kind: "ledger-role", role }),
    });
    this.#replicas = new Replicas({
      version: VERSION,
      facts: () => this.#replicaFacts(address),
      sessions,
      onCounted: ({ connections }) => this.#balancer.counted(connections),
    });
    this.#balancer = new SessionBalancer({
      replicas: this.#replicas,
      sessions,
      maySend: () => this.#isInOrder && hub.readiness.state === "ready",
      onMoved: (moved, connections, fewest) => hub.report({ kind: "connections-moved", moved, connections, fewest }),
    });
  }

  #replicaFacts(address: () => string | undefined): ReplicaFacts {
    const publisher = this.#publisher;
    const { head, members, outage } = publisher?.store ?? {};
    return {
      ...{ address: address(), role: this.#role.role, number: publisher?.number ?? 0 },
      ...{ head: head?.number ?? 0, stoppedSince: publisher?.stop?.since },
      members: outage === undefined ? members : undefined,
    };
  }

  /** What the store has is in force, as far as is known. */
  get #isInOrder(): boolean {
    const { store } = this;
    return store !== undefined && store.outage === undefined && store.stop === undefined && store.lag === 0;
  }

  /** The publisher, once it is open. */
  get publisher(): Publisher | undefined {
    return this.#publisher;
  }

  /** Where it is on disk, locked against other servers; undefined: it is in memory or in a store, or not open yet. */
  get directory(): string | undefined {
    return this.#directory;
  }

  /** Why it is kept in memory only; undefined: it is where the options say. */
  get inMemoryReason(): string | undefined {
    return this.#inMemoryReason;
  }

  /** Where the past of the nodes is written; undefined: the ledger is not on disk, whose lock keeps others away. */
  get nodePastDirectory(): string | undefined {
    const { stateDir } = this.#options;
    return this.#directory !== undefined && stateDir !== undefined ? join(stateDir, "nodes") : undefined;
  }

  /** Undefined: no store is shared, or it is not open yet. */
  get store(): StoreState | undefined {
    const publisher = this.#publisher;
    if (publisher?.store.refresh === undefined) return undefined;
    const { number, stop } = publisher;
    const { head, outage, copy } = publisher.store;
    const { role, since: roleSince } = this.#role;
    const lag = Math.max(0, head.number - number);
    const lagSince = lag === 0 ? undefined : this.#replicas.behindSince;
    return { role, roleSince, head: head.number, lag, lagSince, outage, copy, stop };
  }

  /** The servers of the store. Rejects if it cannot be asked. */
  async replicas(): Promise<KnownReplicas> {
    return await this.#replicas.list();
  }

  /** This server among those of the store. */
  async replica(): Promise<ReplicaState> {
    return await this.#replicas.own();
  }

  /**
   * Opens the ledger and puts in force what was. A ledger that cannot be used is reported, and one in memory takes its
   * place; rejects if it is a store that was given.
   */
  async open(): Promise<Publisher> {
    this.#opening ??= this.#open();
    return await this.#opening;
  }

  /** Resolves when what the store has is in force, for a client of a worker. */
  async whenFresh(client: ArrivingClient): Promise<void> {
    await this.#freshness?.check(client);
  }

  /** Makes the entries of resources that are to be published, whether or not it is open. */
  prepare(resources: Iterable<Resource>): void {
    for (const resource of resources) this.#entries.entryOf(resource);
  }

  /** What was prepared is not published. */
  forgetPrepared(): void {
    this.#entries.forgetBodies();
  }

  /** Other nodes are connected to workers. */
  nodesChanged(): void {
    this.#connected?.changed();
  }

  async close(): Promise<void> {
    // What is being opened starts timers of its own.
    const publisher = await this.#opening?.catch(() => undefined);
    this.#stopWatching?.();
    this.#balancer.close();
    this.#replicas.close();
    await closeInStages([[() => this.#connected?.close()], [() => this.#role.close()], [() => publisher?.close()]]);
  }

  async #open(): Promise<Publisher> {
    const given = this.#options.ledger?.store;
    if (given !== undefined) return await this.#openShared(given);
    try {
      this.#publisher = await this.#openWith(await this.#openStore());
      this.#directory = this.#options.ledger?.directory;
      await this.#openConnected();
    } catch (cause) {
      this.#inMemoryReason = cause instanceof Error ? cause.message : String(cause);
      this.#tellProblem(this.#inMemoryReason);
      this.#target.clearMissing();
      this.#publisher = await this.#openInMemory();
    }
    return this.#publisher;
  }

  /** A poller counts as connected from the first poll that ACKs or NACKs what it was given. */
  #followPollers(changed: () => void): void {
    const { listeners } = this.#hub;
    const unconfirmed = new Set<StreamId>();
    const confirm = ({ stream }: { readonly stream: StreamId }): void => void (unconfirmed.delete(stream) && changed());
    listeners.on("poller-met", ({ stream }) => unconfirmed.add(stream));
    listeners.on("response-acked", confirm);
    listeners.on("response-nacked", confirm);
    listeners.on("poller-forgotten", ({ stream }) => {
      unconfirmed.delete(stream);
      changed();
    });
  }

  /** Goes on with the nodes that were connected when the process before ended. */
  async #openConnected(): Promise<void> {
    const directory = this.nodePastDirectory;
    if (directory === undefined) return;
    const { listeners } = this.#hub;
    const onProblem = (message: string): void => this.#tellProblem(message);
    try {
      const connected = await ConnectedNodes.open({
        directory,
        connected: () => connectedNodes(this.#streams),
        onProblem,
        onRecovered: (message) => this.#hub.report({ kind: "ledger-recovered", message }),
      });
      listeners.on("node-connected", () => connected.changed());
      listeners.on("stream-closed", () => connected.changed());
      this.#followPollers(() => connected.changed());
      listeners.on("ledger-recorded", ({ as }) => as !== "live" && connected.changed());
      listeners.on("draining", () => connected.close());
      this.#connected = connected;
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      onProblem(`which nodes were connected cannot be read: ${why}`);
    }
  }

  async #openShared(store: LedgerStore): Promise<Publisher> {
    this.#publisher = await this.#openWith(store).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new XdsError("STORE_FAILED", `the store cannot be read: ${reason}`, { cause });
    });
    const freshness = new StoreFreshness(this.#publisher, (reason) =>
      this.#hub.report({ kind: "client-unchecked", reason }),
    );
    if (store.refresh !== undefined) {
      this.#freshness = freshness;
      this.#hub.setFreshness(freshness);
    }
    if (store.copy?.isInPlace === true)
      this.#hub.report({ kind: "store-copy-in-place", number: this.#publisher.number });
    this.#stopWatching = store.onOutage?.(() => this.#tellOutage(store));
    this.#tellOutage(store);
    this.#role.start();
    if (store.refresh !== undefined) this.#replicas.start();
    if (store.refresh !== undefined && this.#options.ledger?.balancesConnections !== false) this.#balancer.start();
    return this.#publisher;
  }

  #tellOutage({ outage }: LedgerStore): void {
    const before = this.#outage;
    this.#outage = outage;
    if (outage !== undefined && before === undefined)
      this.#hub.report({ kind: "store-away", reason: outage.reason, since: outage.since });
    if (outage === undefined && before !== undefined)
      this.#hub.report({ kind: "store-back", awayMs: Date.now() - before.since.getTime() });
  }

  /** What can still be read is served, with its holds and rollbacks; the history goes on in memory. */
  async #openInMemory(): Promise<Publisher> {
    const directory = this.#options.ledger?.directory;
    try {
      if (directory === undefined) return await this.#openWith(new MemoryLedgerStore());
      const onProblem = (message: string): void => this.#tellProblem(message);
      const store = await openDirectoryLedger({ directory, onProblem, isReadOnly: true });
      const memory = await MemoryLedgerStore.after(store).finally(() => store.close());
      return await this.#openWith(memory);
    } catch (cause) {
      this.#tellProblem(
        `nothing of the history is in force: ${cause instanceof Error ? cause.message : String(cause)}`,
      );
      this.#target.clearMissing();
      return await this.#openWith(new MemoryLedgerStore());
    }
  }

  async #openStore(): Promise<LedgerStore> {
    const { ledger } = this.#options;
    if (ledger?.directory === undefined) return new MemoryLedgerStore();
    return await openDirectoryLedger({
      directory: ledger.directory,
      onProblem: (message) => this.#tellProblem(message),
    });
  }

  async #openWith(store: LedgerStore): Promise<Publisher> {
    const { api, ledger } = this.#options;
    const fuses = withDefaults(defaultFuses, ledger?.fuses);
    const kindOf = (type: TypeUrl): TypeKind => api.traits(type)?.kind ?? "opaque";
    try {
      return await Publisher.open({
        store,
        retention: withDefaults(DEFAULT_RETENTION, ledger?.retention),
        ...this.#entryRules,
        entries: this.#entries,
        endpointsEmptiedMs: fuses.endpointsEmptiedMs,
        kindOf,
        judge: (change, state) => this.#judge(change, state, kindOf, fuses),
        nodesBy: (change, state) => subscribedNodes(change, { ...this.#judgedWith(change, state), absent: [] }),
        target: this.#target,
        mayPublish: () => this.#role.mayPublish,
        observe: (operation, run) => this.#traces.operation(operation, run),
        onRecorded: (record, changes) => this.#tellRecorded(record, changes),
        onResumed: (resumed) => this.#hub.report({ kind: "ledger-resumed", ...resumed }),
        onProblem: (message) => this.#tellProblem(message),
      });
    } catch (cause) {
      await store.close();
      throw cause;
    }
  }

  *#judge(
    change: LedgerEffect,
    state: LedgerState,
    kindOf: FuseContext["kindOf"],
    fuses: FuseSettings,
  ): Steps<readonly FuseTrip[]> {
    const nodes = yield* judgedNodes(change, this.#judgedWith(change, state));
    return yield* tripFuses(change, state, { time: Date.now(), kindOf, nodes }, fuses);
  }

  #judgedWith({ placement }: LedgerEffect, state: LedgerState): JudgedWith {
    const read = placement && readAccess({ access: placement.access, ...this.#rulesContext });
    const policy = read !== undefined && "problems" in read ? undefined : read;
    return { view: this.#streams, state, policy, absent: this.#connected?.before ?? [] };
  }

  #tellProblem(message: string): void {
    this.#hub.report({ kind: "ledger-problem", message });
  }

  #tellRecorded(record: LedgerRecord, changes: readonly EntryChange[]): void {
    const { number, kind, author, message } = record;
    const reasons = record.kind === "held" ? record.trips.map((trip) => trip.message) : [];
    const named = changes.slice(0, CHANGES_NAMED).map(describeChange);
    const told = { number, as: kind, author, message, changes: named, total: changes.length, reasons };
    this.#hub.report({ kind: "ledger-recorded", ...told });
  }
}

function describeChange({ layer, type, name, before, after }: EntryChange): RecordedChange {
  const change = before === undefined ? "added" : after === undefined ? "deleted" : "changed";
  return { change, layer, type, name };
}
