import type { Look, ReadingOptions } from "../directory/directory-reading.ts";
import type { Progress } from "../directory/file-cache.ts";
import type { LoadChange, LoadPart } from "./load-change.ts";

/** What the thread is started with. */
export interface WorkerInput extends Omit<ReadingOptions, "api" | "maxTotalBytes"> {
  /** What the API is made with, besides Envoy's. */
  readonly descriptors: readonly Uint8Array[];
}

/** What the thread is told. */
export type WorkerRequest =
  | {
      readonly kind: "look";
      readonly paths: ReadonlySet<string>;
      readonly isPatient: boolean;
      readonly wantsProgress: boolean;
    }
  /** The last part is taken, and other work has had its turn. */
  | { readonly kind: "next" };

/** What the thread tells; "looked" or "threw" ends a look. */
export type WorkerAnswer =
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "part"; readonly part: LoadPart }
  | {
      readonly kind: "looked";
      readonly changing: Look["changing"];
      /** Undefined: the same load as before. */
      readonly change: LoadChange | undefined;
      /** Undefined: the same as before. */
      readonly folders: ReadonlyMap<string, string> | undefined;
    }
  | { readonly kind: "threw"; readonly error: unknown };
