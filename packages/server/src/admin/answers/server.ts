import type { SourceProblem } from "../../observe/source-status.ts";
import type { Page } from "./page.ts";
import type { RevisionAnswer } from "./revisions.ts";

/** `GET /api/v1/server` */
export interface ServerAnswer {
  readonly version: string;
  readonly controlPlane: string;
  /** Where xDS is served. */
  readonly address?: string;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly revision: number;
  readonly ready: boolean;
  readonly draining: boolean;
  /** Why it is not ready; of a server that is, what it cannot serve. */
  readonly reasons: readonly string[];
  readonly connections: number;
  readonly streams: number;
  readonly source: {
    readonly state: string;
    readonly since: string;
    readonly errors: number;
    readonly warnings: number;
    /** How what it has differs from what is in force, if that is not because it is held. */
    readonly differs?: string;
  };
  /** Absent without a ledger. */
  readonly ledger?: {
    /** Of the newest record. */
    readonly number: number;
    /** Why the history is in memory only, and lost at the next restart; absent where it is kept as set. */
    readonly inMemoryReason?: string;
    /** Absent where no store is shared. */
    readonly store?: StoreAnswer;
    /** The change that a fuse holds. */
    readonly held?: RevisionAnswer;
    /** Resources in force whose content is not at hand after a restart; the first of them. */
    readonly missing: { readonly total: number; readonly resources: readonly MissingAnswer[] };
    /** Live data that is deleted once nothing in force or held refers to it; the first of it. */
    readonly waiting?: { readonly total: number; readonly deletions: readonly MissingAnswer[] };
    /** Endpoints that became empty, and are held back, each by itself; the first of them. */
    readonly emptied?: { readonly total: number; readonly resources: readonly EmptiedAnswer[] };
  };
  /** CAs and revocation lists that a fuse holds; absent: none. */
  readonly heldTrust?: readonly HeldTrustAnswer[];
  /** Certificates that have expired, or will so soon that their renewal seems to have failed; absent: none. */
  readonly expiring?: { readonly total: number; readonly certificates: readonly ExpiringAnswer[] };
  /** With workers, each of them has these limits of its own; `used` is that of the fullest one. */
  readonly limits: readonly LimitAnswer[];
  readonly writes: { readonly stalledStreams: number; readonly bufferedBytes: number };
  readonly encoder: {
    readonly segmentsEncoded: number;
    readonly framesEncoded: number;
    readonly bodiesEncoded: number;
    readonly bytesEncoded: number;
  };
  /** The processes that serve the clients; absent: this one does. */
  readonly workers?: readonly WorkerAnswer[];
  readonly process: { readonly pid: number; readonly node: string; readonly residentBytes: number };
}

/** A process that serves clients. */
export interface WorkerAnswer {
  /** From 1. */
  readonly worker: number;
  readonly pid?: number;
  /** `starting`, `ready`, `unresponsive`, `draining`, or `ended`: another process is about to take its place. */
  readonly state: string;
  readonly startedAt?: string;
  readonly connections: number;
  readonly streams: number;
  readonly residentBytes: number;
}

/** New CAs and revocation lists that would cut off too many nodes: those of before stay in force. */
export interface HeldTrustAnswer {
  /** What `POST /api/v1/approve/{number}` takes in place of a number. */
  readonly id: string;
  readonly files: readonly string[];
  /** Whom they would cut off. */
  readonly message: string;
  readonly since: string;
}

/** A certificate that is not renewed. */
export interface ExpiringAnswer {
  /** The setting that names its file, such as `tls.cert`, or `secret`. */
  readonly use: string;
  /** The file of the server's own; of a Secret, where it is in the source. */
  readonly file?: string;
  readonly line?: number;
  /** Of a Secret. */
  readonly layer?: string;
  readonly type?: string;
  readonly shortName?: string;
  readonly name?: string;
  /** The common name. */
  readonly subject: string;
  readonly expiresAt: string;
  readonly isExpired: boolean;
}

/** How this server stands to the store that it shares with others. */
export interface StoreAnswer {
  /** `publisher`, or `follower` of another server. */
  readonly role: string;
  readonly roleSince: string;
  /** The newest record that this server has seen in the store. */
  readonly head: number;
  /** How many records of the store are not in force here yet. */
  readonly lag: number;
  /** Since when there are such records. */
  readonly lagSince?: string;
  /** Since when the engine is unreachable; absent: it is there. */
  readonly awaySince?: string;
  readonly awayReason?: string;
  /** The copy that this server starts from while the engine is away; absent: none is kept. */
  readonly copy?: StoreCopyAnswer;
  /** Since when nothing of the store is applied any more; absent: it is. */
  readonly stoppedSince?: string;
  readonly stopReason?: string;
}

/** Endpoints of a cluster that became empty, and of which clients keep what they have. */
export interface EmptiedAnswer extends MissingAnswer {
  /** The record by which they are approved. */
  readonly number: number;
  /** When clients are sent that there are none, unless endpoints come back. */
  readonly until: string;
  /** Where they are in the source. */
  readonly file?: string;
  readonly line?: number;
}

/** `GET /api/v1/replicas` */
export interface ReplicasAnswer {
  /** The newest record that any of them knows of. */
  readonly head: number;
  /** Why the others are not known. */
  readonly problem?: string;
  readonly replicas: readonly ReplicaAnswer[];
  /**
   * Servers that are gone, or cut off from the store, but did not leave it: named for about an hour, unless they come
   * back. Absent: there are none, or the store does not keep them.
   */
  readonly lost?: readonly LostReplicaAnswer[];
}

/** A server that was lost, as it told last. */
export interface LostReplicaAnswer
  extends Pick<ReplicaAnswer, "id" | "name" | "address" | "version" | "role" | "startedAt" | "number" | "nodes"> {}

/** A server that follows the store, as it told at most some seconds ago. */
export interface ReplicaAnswer {
  readonly id: string;
  /** The name of its host. */
  readonly name: string;
  /** Where clients connect. */
  readonly address?: string;
  readonly version: string;
  readonly role: string;
  readonly startedAt: string;
  /** The newest record that it has in force, and since when. */
  readonly number: number;
  readonly numberSince: string;
  /** How many records it lacks. */
  readonly lag: number;
  readonly lagSince?: string;
  /** Since when it applies nothing any more; absent: it does. */
  readonly stoppedSince?: string;
  /** Connected nodes, and how many of them have what is in force there. */
  readonly nodes: number;
  readonly deployed: number;
}

export interface StoreCopyAnswer {
  /** The newest record in it. */
  readonly number: number;
  /** The engine has been away since this server started: what is in force comes from the copy. */
  readonly inPlace: boolean;
  /** Why it cannot be written. */
  readonly problem?: string;
}

/** A resource of which clients keep what they have, because the server does not have it. */
export interface MissingAnswer {
  readonly layer: string;
  readonly type: string;
  readonly shortName?: string;
  readonly name: string;
}

export interface LimitAnswer {
  readonly name: string;
  readonly value: number;
  readonly used?: number;
  readonly hits: number;
}

/** `GET /api/v1/layers` */
export type LayersAnswer = Page<LayerAnswer>;

export interface LayerAnswer {
  readonly name: string;
  readonly types: readonly {
    readonly type: string;
    readonly shortName?: string;
    readonly resources: number;
    readonly version: string;
    /** The revision of its last change. */
    readonly changedAt: number;
  }[];
}

/** `GET /api/v1/source` */
export interface SourceAnswer {
  readonly state: "loading" | "good" | "failed";
  readonly since: string;
  /** Errors first; at most 1,000 of them. */
  readonly problems: readonly SourceProblem[];
  /** Number of all problems, also those omitted here or by the limits of a load. */
  readonly total: number;
}

/** `GET /readyz` */
export interface ReadyAnswer {
  readonly ready: boolean;
  readonly draining: boolean;
  /** Why it is not ready; of a server that is, what it cannot serve. */
  readonly reasons: readonly string[];
}
