import type { LayerState, NodeStates } from "@xdskit/protocol/internal";
import type { ConversionFindings } from "../hub/port.ts";
import type { Publisher } from "../ledger/publisher.ts";
import type { StoreState } from "../ledger/store-state.ts";
import type { LoadView } from "../load/load-reporting.ts";
import type { HeldTrust } from "../transport/grpc/tls.ts";
import type { CertificateEnd } from "./certificate-end.ts";
import type { SourceStatus } from "./source-status.ts";

/** Values read on demand: the gauges among the metrics. */
export interface Gauges {
  readiness(): Readiness;
  source(): SourceStatus;
  /** The newest revision. */
  revision(): number;
  /** How many nodes are how far with the newest revision. Costs a look at every client. */
  nodeStates(): NodeStates;
  /** The number of this worker process; undefined: it is none. */
  readonly worker: number | undefined;
  /** How many worker processes serve clients. */
  readyWorkers(): number;
  /** Undefined: there is none, or it is not open yet. */
  ledger(): Publisher | undefined;
  /** The CAs and revocation lists that a fuse holds. */
  heldTrust(): readonly HeldTrust[];
  /** When the certificates of the server, and those in Secrets, end; those that end first are first. */
  certificates(): Promise<readonly CertificateEnd[]>;
  /** Undefined: no store is shared. */
  store(): StoreState | undefined;
  layers(): Iterable<LayerState>;
  connections(): number;
  /** Open discovery streams. */
  openStreams(): number;
  /** Each limit of the server, in a fixed order. */
  limits(): readonly LimitState[];
  writes(): WriteState;
  encoder(): EncoderCounters;
  /** Fields that conversion could not express, one entry per converted resource. */
  conversionFindings(): ReadonlyMap<unknown, ConversionFindings>;
  /** The load that clients report. */
  loads(): LoadView;
}

/** Whether clients are served, and if not, why. */
export interface Readiness {
  readonly isReady: boolean;
  readonly isDraining: boolean;
  /** Readable reasons, such as "no resources yet: the first load failed with 2 errors". Empty when ready. */
  readonly reasons: readonly string[];
}

/** A limit, and its use where that is one number for the whole server. */
export interface LimitState {
  /** Name of the option, such as `maxStreams`. */
  readonly name: string;
  readonly value: number;
  /** Undefined for a limit per stream, peer or request. */
  readonly used: number | undefined;
  /** Number of times it was exceeded. */
  readonly hits: number;
}

/** Data that is buffered for clients. */
export interface WriteState {
  /** Streams whose client does not read at the moment. */
  readonly stalledStreams: number;
  readonly bufferedBytes: number;
}

/** Counters of the encoder; shared bodies are encoded once. */
export interface EncoderCounters {
  readonly segmentsEncoded: number;
  readonly framesEncoded: number;
  readonly bodiesEncoded: number;
  readonly bytesEncoded: number;
}
