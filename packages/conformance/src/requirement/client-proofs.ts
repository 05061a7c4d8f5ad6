import type { Proof } from "./proofs.ts";

/** What of the client is proved outside the cases: transports, configuration, judging, what people see. */
export const clientProofs: readonly Proof[] = [];
