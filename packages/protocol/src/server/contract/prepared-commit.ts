import type { PreparedTransaction } from "../../state/prepared-transaction.ts";
import type { Remembered } from "./remembered.ts";

/** What a machine prepared for a large transaction, before it takes effect. */
export interface PreparedCommit {
  readonly tables: PreparedTransaction;
  /** What the next server has to know of it. */
  readonly remembered: readonly { readonly kind: "remember"; readonly what: Remembered }[];
}
