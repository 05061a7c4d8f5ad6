import { LONGEST_TIMER_MS } from "@xdskit/disk";
import { contentDigest, type EnvoyApi } from "@xdskit/envoy-api";
import { anonymousNode, createResource, type DialectOverrides, type Status, type TypeUrl } from "@xdskit/protocol";
import {
  type DeltaRequest,
  noInitialVersions,
  type StreamId,
  type StreamState,
  statusCode,
  typeKindTable,
} from "@xdskit/protocol/internal";
import { XdsError } from "../../error.ts";
import type { CheckedFileOutput } from "../../file-output.ts";
import type { BodyHandle, HubPort, TakenResponse } from "../../hub/port.ts";
import { VERSION } from "../../version.ts";
import { FileLayout } from "./file-layout.ts";
import { type FileNote, FileResources, isMalformed } from "./file-resources.ts";
import type { FileTarget } from "./file-target.ts";
import { type FileContent, FileView } from "./file-view.ts";
import { LinkedDirectory } from "./linked-directory.ts";
import { PlainDirectory } from "./plain-directory.ts";
import { PrivateFolder } from "./private-folder.ts";

/** The dialect of this in-process client, independent of other clients. */
const DIALECT: DialectOverrides = {
  deltaMissing: { otherwise: "removed" },
  deltaRemovals: { otherwise: "at-once" },
  deltaOnePerResponse: false,
  errorsEndWaiting: true,
  unknownType: "ignore",
  // No heartbeat renews a resource in a file.
  ttlDelta: "never",
};

/** First retry delay in milliseconds; it doubles with each failure. */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
/** Milliseconds between checks whether the server has more to send. */
const LOOK_MS = 20;
const LONGEST_LOOK_MS = 1_000;

export interface ExporterParts {
  readonly api: EnvoyApi;
  readonly hub: HubPort;
  readonly output: CheckedFileOutput;
  /** The server's state of the stream; undefined once it has ended. */
  readonly inspect: (stream: StreamId) => StreamState | undefined;
}

/** A response without ACK or NACK yet. */
interface OpenResponse {
  readonly type: TypeUrl;
  readonly nonce: string;
  readonly names: readonly string[];
  /** Why parts of it are unreadable. */
  readonly error: Status | undefined;
  /** When it will be answered; set once all of it is in files. */
  dueAt: number | undefined;
}

/**
 * Subscribes to a node's view as a client of the hub and writes it into files. It ACKs a response once the files hold
 * it and clients had time to load them, so files change in the order in which responses are sent.
 */
export class FileExporter implements BodyHandle {
  readonly #parts: ExporterParts;
  readonly #layout: FileLayout;
  readonly #view: FileView;
  readonly #resources: FileResources;
  readonly #asked = new Map<TypeUrl, Set<string>>();
  readonly #inSyncWaiters: ((isInSync: boolean) => void)[] = [];
  #folder: PrivateFolder | undefined;
  #target: FileTarget | undefined;
  #stream: StreamId | undefined;
  #connection: number | undefined;
  #open: OpenResponse[] = [];
  #leftFiles: ReadonlySet<string> = new Set();
  #settleMs: number;
  #lastWriteAt = Number.NEGATIVE_INFINITY;
  #retryMs = FIRST_RETRY_MS;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> | undefined;
  #isDirty = false;
  #quietLooks = 0;
  #lookMs = LOOK_MS;
  #wasInSync = false;
  /** Whether no earlier writer left files, so that no client follows them yet. */
  #isFresh = false;
  #isClosed = false;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(parts: ExporterParts) {
    const { api, output } = parts;
    this.#parts = parts;
    this.#layout = new FileLayout(api, output.format, output.apiVersion);
    this.#view = new FileView(this.#layout);
    this.#resources = new FileResources(api, this.#layout, output);
    this.#settleMs = output.settleMs;
  }

  /** Locks the directory and subscribes. Throws an `XdsError` (FILES_FAILED). */
  async start(): Promise<void> {
    this.#starting = this.#start();
    await this.#starting;
  }

  async #start(): Promise<void> {
    const { hub, output } = this.#parts;
    try {
      this.#folder = new PrivateFolder(output.directory);
      for (const { type, name, bytes } of await this.#folder.leftResources()) {
        this.#view.hold({ ...createResource({ type, name, bytes }, contentDigest), references: [] });
      }
      this.#target = output.symlinks
        ? await LinkedDirectory.open(output.directory)
        : await PlainDirectory.open(output.directory, this.#folder);
    } catch (cause) {
      this.#folder?.release();
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new XdsError("FILES_FAILED", `cannot write files to ${output.directory}: ${reason}`, { cause });
    }
    this.#leftFiles = new Set(this.#target.leftBehind);
    this.#isFresh = this.#leftFiles.size === 0 && !this.#view.holdsOver;
    this.#stopWatching = hub.readiness.watch(() => this.#wake());
    this.#wake();
  }

  /** Resolves with true once the files hold the whole view; with false if it was closed before. */
  async whenInSync(): Promise<boolean> {
    if (this.#isClosed) return false;
    return new Promise((resolve) => {
      this.#inSyncWaiters.push(resolve);
      this.#quietLooks = 0;
      this.#lookMs = LOOK_MS;
      this.#wake();
    });
  }

  /** Number of resources in the view. */
  get resources(): number {
    return this.#view.resources;
  }

  take(responses: readonly TakenResponse[]): void {
    for (const response of responses) this.#read(response);
    this.#quietLooks = 0;
    this.#lookMs = LOOK_MS;
    this.#wake();
  }

  end(status: Status): void {
    this.#stream = undefined;
    this.#open = [];
    this.#asked.clear();
    this.#view.restart();
    this.#wasInSync = false; // the next stream brings everything at once, but no removals
    if (this.#isClosed || this.#parts.hub.readiness.state === "draining") return;
    this.#reportProblem(`the stream of the writer was ended: ${status.message}`);
    this.#later(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  /** Stops writing; resolves when nothing is written any more, however often it is called. The files stay. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    await this.#starting?.catch(() => undefined); // its caller is told
    this.#stopWatching?.();
    clearTimeout(this.#timer);
    await this.#working;
    if (this.#stream !== undefined) this.#parts.hub.abandon(this.#stream, "closed");
    if (this.#connection !== undefined) this.#parts.hub.closeConnection(this.#connection, "the writer was closed");
    await this.#target?.close().catch(() => undefined);
    this.#folder?.release();
    for (const resolve of this.#inSyncWaiters.splice(0)) resolve(false);
  }

  #connect(): void {
    const { hub, output } = this.#parts;
    if (this.#isClosed || this.#stream !== undefined || hub.readiness.state !== "ready") return;
    const peer = { address: `files:${output.directory}`, isLoopback: true, isTls: false, names: [], isInProcess: true };
    this.#connection ??= hub.openConnection(peer, "files", { name: "files", dialect: DIALECT });
    if (this.#connection === undefined) {
      this.#later(this.#retryMs);
      return;
    }
    const { apiVersion } = output;
    const opened = { variant: "delta", onlyType: undefined, apiVersion, method: "files" } as const;
    const stream = hub.openStream({ connection: this.#connection, ...opened }, this);
    if (typeof stream !== "number") {
      this.#later(this.#retryMs);
      return;
    }
    this.#stream = stream;
    const node = { ...anonymousNode, ...output.node, userAgentName: "xdskit-files", userAgentVersion: VERSION };
    this.#layout.types.forEach(({ type }, index) => {
      this.#request({ type, subscribe: ["*"], ...(index === 0 && { node }) });
    });
  }

  #request(part: Partial<DeltaRequest> & Pick<DeltaRequest, "type">): void {
    if (this.#stream === undefined) return;
    const empty = { node: undefined, nonce: undefined, error: undefined, subscribe: [], unsubscribe: [] };
    this.#parts.hub.receive(this.#stream, { kind: "delta", ...empty, initialVersions: noInitialVersions, ...part }, 0);
  }

  #read({ body: { type, segments }, nonce }: TakenResponse): void {
    const names: string[] = [];
    const refused: string[] = [];
    const arrivals = segments.flatMap(({ puts }) => puts.map(({ name }) => name));
    for (const { puts, removed, missing, errors = [] } of segments) {
      for (const name of [...removed, ...missing]) {
        names.push(name);
        this.#view.remove(type, name, arrivals);
      }
      for (const { name } of errors) this.#view.refuse(type, name);
      for (const resource of puts) {
        names.push(resource.name);
        try {
          this.#view.put(this.#resources.prepare(resource, (note) => this.#note(note)));
        } catch (error) {
          if (!isMalformed(error)) throw error;
          this.#view.refuse(type, resource.name);
          refused.push(`${resource.name}: ${error.message}`);
        }
      }
    }
    this.#view.answer(type);
    const error =
      refused.length === 0
        ? undefined
        : { code: statusCode.INVALID_ARGUMENT, message: refused.join("; ").slice(0, 4096) };
    this.#open.push({ type, nonce, names: error === undefined ? names : [], error, dueAt: undefined });
  }

  #note(note: FileNote): void {
    this.#parts.hub.report({ ...note, directory: this.#parts.output.directory });
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.#wake(), Math.min(ms, LONGEST_TIMER_MS));
  }

  /** Starts a round of writing; changes during a round belong to the next. */
  #wake(): void {
    this.#isDirty = true;
    if (this.#isClosed) return;
    // Deferred: the hub may be in the middle of an event.
    this.#working ??= Promise.resolve()
      .then(() => this.#work())
      .finally(() => {
        this.#working = undefined;
        if (this.#isDirty) this.#wake();
      });
  }

  async #work(): Promise<void> {
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false;
      clearTimeout(this.#timer);
      try {
        await this.#round();
        this.#retryMs = FIRST_RETRY_MS;
      } catch (error) {
        this.#reportProblem(error instanceof Error ? error.message : String(error));
        this.#view.doubt();
        this.#later(this.#retryMs);
        this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
        return;
      }
    }
  }

  async #round(): Promise<void> {
    if (this.#stream === undefined) {
      this.#connect();
      return;
    }
    this.#askForUnknownNames();
    const isWhole = await this.#writeChanges();
    if (this.#isClosed || !isWhole) return;
    this.#settle();
    const next = this.#open.reduce(
      (least, { dueAt = Number.POSITIVE_INFINITY }) => Math.min(least, dueAt),
      Number.POSITIVE_INFINITY,
    );
    if (next !== Number.POSITIVE_INFINITY) return this.#later(Math.max(0, next - performance.now()));
    if (this.#open.length === 0 && this.#view.isAnswered && this.#view.unknownNames().length === 0) await this.#rest();
  }

  /**
   * Writes the current changes; returns whether that was all. The hub sends a new client everything at once, but
   * clients may still follow the previous writer's files, so resources that use clusters are written after them.
   */
  async #writeChanges(): Promise<boolean> {
    const groups = this.#view.changes();
    if (this.#isFresh || this.#wasInSync) {
      await this.#write(groups);
      return true;
    }
    const isUser = ([first]: readonly FileContent[]): boolean =>
      first !== undefined && typeKindTable[first.type.kind].usesClusters;
    await this.#write(groups.filter((group) => !isUser(group)));
    const users = groups.filter(isUser);
    const waitMs = this.#lastWriteAt + this.#settleMs - performance.now();
    if (users.length > 0 && waitMs > 0) {
      this.#later(waitMs);
      return false;
    }
    await this.#write(users);
    return true;
  }

  #askForUnknownNames(): void {
    const byType = new Map<TypeUrl, string[]>();
    for (const { type, name } of this.#view.unknownNames()) {
      const asked = this.#asked.get(type) ?? new Set<string>();
      this.#asked.set(type, asked);
      if (asked.has(name)) continue;
      asked.add(name);
      const ofType = byType.get(type) ?? [];
      ofType.push(name);
      byType.set(type, ofType);
    }
    for (const [type, subscribe] of byType) this.#request({ type, subscribe });
  }

  async #write(groups: readonly (readonly FileContent[])[]): Promise<void> {
    if (groups.length === 0 || this.#target === undefined) return;
    const startedAt = performance.now();
    const files = groups.map((group) => group.map((content) => this.#resources.file(content)));
    const changed = await this.#target.write(files);
    for (const content of groups.flat()) this.#view.written(content);
    for (const { type, name, resources } of groups.flat()) {
      if (name === undefined) await this.#folder?.keepWhole(type.folder, type.type, resources);
    }
    if (changed.length === 0) return;
    this.#lastWriteAt = performance.now();
    this.#reportWritten(changed, [], startedAt);
  }

  /** ACKs or NACKs responses that have been in files long enough. */
  #settle(): void {
    const now = performance.now();
    const settledAt = this.#lastWriteAt + (this.#isFresh ? 0 : this.#settleMs);
    for (const response of this.#open) {
      const isWritten = response.names.every((name) => this.#view.isInForce(response.type, name));
      if (isWritten) response.dueAt ??= Math.max(now, settledAt);
    }
    const due = this.#open.filter(({ dueAt }) => dueAt !== undefined && dueAt <= now);
    this.#open = this.#open.filter((response) => !due.includes(response));
    for (const { type, nonce, error } of due) this.#request({ type, nonce, error });
  }

  /** Removes unused files while idle. */
  async #rest(): Promise<void> {
    const waitMs = this.#lastWriteAt + (this.#isFresh ? 0 : this.#settleMs) - performance.now();
    if (waitMs > 0) return this.#later(waitMs);
    for (const { type, name } of this.#view.prune()) {
      if (this.#asked.get(type)?.delete(name) === true) this.#request({ type, unsubscribe: [name] });
    }
    await this.#removeUnused();
    const isLookedFor = this.#inSyncWaiters.length > 0 || !this.#wasInSync || this.#view.emptied().length > 0;
    if (isLookedFor) await this.#look();
  }

  /** Checks whether the server stays quiet for a moment; then the files hold the whole view. */
  async #look(): Promise<void> {
    this.#quietLooks = this.#isServerQuiet() ? this.#quietLooks + 1 : 0;
    if (this.#quietLooks < 2) {
      this.#later(this.#lookMs);
      if (this.#quietLooks === 0) this.#lookMs = Math.min(this.#lookMs * 2, LONGEST_LOOK_MS);
      return;
    }
    if (this.#view.holdsOver) {
      this.#quietLooks = 0;
      this.#view.letGo();
      this.#wake();
      return;
    }
    // Not earlier: a cluster with a pending removal still uses its endpoints.
    const emptied = this.#view.emptied();
    if (emptied.length > 0) await this.#write([emptied]);
    await this.#removeLeftFiles();
    this.#wasInSync = true;
    this.#isFresh = false;
    for (const resolve of this.#inSyncWaiters.splice(0)) resolve(true);
  }

  /** Whether the server has nothing more to send. */
  #isServerQuiet(): boolean {
    const types = this.#stream === undefined ? undefined : this.#parts.inspect(this.#stream)?.types;
    if (types === undefined) return false;
    return types.every(
      ({ wait, waiting, pendingRemovals, pending, sentRevision }) =>
        wait === undefined &&
        waiting.length + pendingRemovals.length + pending.length === 0 &&
        sentRevision !== undefined,
    );
  }

  async #removeUnused(): Promise<void> {
    const unused = this.#view.unused();
    if (unused.length === 0) return;
    await this.#remove(unused.map(({ type, name }) => this.#layout.pathOf(type, name)));
    for (const content of unused) this.#view.removed(content);
  }

  /** Removes files of the previous writer that this one does not use. */
  async #removeLeftFiles(): Promise<void> {
    const left = [...this.#leftFiles].filter((path) => !this.#view.paths().has(path));
    this.#leftFiles = new Set();
    await this.#remove(left);
  }

  async #remove(paths: readonly string[]): Promise<void> {
    if (paths.length === 0 || this.#target === undefined) return;
    const startedAt = performance.now();
    const removed = await this.#target.remove(paths);
    if (removed.length > 0) this.#reportWritten([], removed, startedAt);
  }

  #reportWritten(written: readonly string[], removed: readonly string[], startedAt: number): void {
    const { hub, output } = this.#parts;
    const tookMs = performance.now() - startedAt;
    hub.report({ kind: "files-written", directory: output.directory, written, removed, tookMs });
  }

  #reportProblem(message: string): void {
    const { hub, output } = this.#parts;
    hub.report({ kind: "files-problem", directory: output.directory, message });
  }
}
