import type { LayerState } from "@xdskit/protocol/internal";
import type { ConversionFindings } from "../hub/port.ts";
import type { LoadView } from "../load/load-reporting.ts";
import type { SourceStatus } from "./source-status.ts";

/** What is read when somebody asks, and counted by nobody in between: the gauges among the metrics. */
export interface Gauges {
  readiness(): Readiness;
  source(): SourceStatus;
  /** The number of the newest transaction that changed anything. */
  revision(): number;
  layers(): Iterable<LayerState>;
  connections(): number;
  /** Open discovery streams. */
  openStreams(): number;
  /** Each limit of the server, in a fixed order. */
  limits(): readonly LimitState[];
  writes(): WriteState;
  encoder(): EncoderCounters;
  /** What could not be expressed of resources that were converted to the other version of the API, one for each of those. */
  conversionFindings(): ReadonlyMap<unknown, ConversionFindings>;
  /** What clients report of their load. */
  loads(): LoadView;
}

/** Whether clients are served; every reason why not. */
export interface Readiness {
  readonly isReady: boolean;
  readonly isDraining: boolean;
  /** For people: "no resources yet: the first load failed with 2 errors". Empty when ready. */
  readonly reasons: readonly string[];
}

/** A limit, and how much of it is used where it is one number for the whole server. */
export interface LimitState {
  /** As in the options: `maxStreams`. */
  readonly name: string;
  readonly value: number;
  /** Undefined for a limit per stream, peer or request. */
  readonly used: number | undefined;
  /** How often it was passed. */
  readonly hits: number;
}

/** What waits to be written to clients. */
export interface WriteState {
  /** Streams whose client does not read now. */
  readonly slowClients: number;
  readonly bufferedBytes: number;
}

/** What encoding has cost so far: shared bodies are encoded once. */
export interface EncoderCounters {
  readonly segmentsEncoded: number;
  readonly framesEncoded: number;
  readonly bodiesEncoded: number;
  readonly bytesEncoded: number;
}
