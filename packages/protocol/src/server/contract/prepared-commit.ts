import type { PreparedTransaction } from "../../state/prepared-transaction.ts";
import type { ServerEffect } from "./effect.ts";

/** What a machine prepared for a large transaction, before it takes effect. */
export interface PreparedCommit {
  readonly tables: PreparedTransaction;
  readonly remembered: readonly Extract<ServerEffect, { kind: "remember" }>[];
}
