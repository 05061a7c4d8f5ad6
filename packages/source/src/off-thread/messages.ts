import type { Look, ReadingOptions } from "../directory/directory-reading.ts";
import type { Progress } from "../directory/file-cache.ts";
import type { AskedResource, ResourcePlace } from "../resource-places.ts";
import type { LoadChange, LoadPart } from "./load-change.ts";

/** The data of a thread that is started before its input is known. */
export const STARTED_AHEAD = "ahead";

/** The input of the worker thread, and the first message to it. */
export interface WorkerInput
  extends Omit<ReadingOptions, "api" | "maxTotalBytes" | "fileSystem" | "create" | "onResource"> {
  /** Descriptors of the API beyond Envoy's. */
  readonly descriptors: readonly Uint8Array[];
}

/** A request to the worker thread. */
export type WorkerRequest =
  | {
      readonly kind: "look";
      readonly paths: ReadonlySet<string>;
      readonly isPatient: boolean;
      readonly wantsProgress: boolean;
    }
  /** The last part is processed, and other work had its turn. */
  | { readonly kind: "next" }
  /** Where resources are; may be asked during a look. */
  | { readonly kind: "places"; readonly id: number; readonly asked: readonly AskedResource[] };

/** An answer of the worker thread; "looked" or "threw" ends a look. */
export type WorkerAnswer =
  | { readonly kind: "progress"; readonly progress: Progress }
  /** `isAwaited`: the thread goes on when it is processed. */
  | { readonly kind: "part"; readonly part: LoadPart; readonly isAwaited: boolean }
  | { readonly kind: "placed"; readonly id: number; readonly places: readonly (ResourcePlace | undefined)[] }
  | {
      readonly kind: "looked";
      readonly changing: Look["changing"];
      /** Undefined: the same load as before. */
      readonly change: LoadChange | undefined;
      /** Undefined: unchanged. */
      readonly folders: ReadonlyMap<string, string> | undefined;
    }
  | { readonly kind: "threw"; readonly error: unknown };
