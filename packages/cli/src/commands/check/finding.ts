import type { TypeUrl } from "@xdskit/protocol";

/** The code of a finding, for scripts. */
export type FindingCode =
  | "NAME_DANGLING"
  | "NOT_USABLE"
  | "NO_ANSWER"
  | "UPDATE_REFUSED"
  | "RESOURCE_ERROR"
  | "GRPC_REFUSES"
  | "NO_ENDPOINTS"
  | "NAME_OVERRULED"
  | "ANSWER_SLOW";

/** One error or warning about what a client receives. */
export interface Finding {
  readonly severity: "error" | "warning";
  readonly code: FindingCode;
  readonly type: TypeUrl;
  /** The resource's name; missing if the finding concerns the whole type. */
  readonly name?: string;
  readonly message: string;
}
