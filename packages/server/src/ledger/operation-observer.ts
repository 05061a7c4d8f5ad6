import type { PublishResult, SourceReading } from "./publication.ts";

/** An operation on a ledger that may put something in force. */
export interface ObservedOperation {
  readonly kind: "publish" | "approve" | "rollback";
  readonly author: string | undefined;
  readonly message: string | undefined;
  /** Undefined: it did not come from a source. */
  readonly reading: SourceReading | undefined;
  /** Whether nothing but live data came in force. */
  readonly isLive: (applied: Extract<PublishResult, { readonly kind: "applied" }>) => boolean;
}

/** Runs an operation, and returns or throws what it does. */
export type OperationObserver = (
  operation: ObservedOperation,
  run: () => Promise<PublishResult>,
) => Promise<PublishResult>;
