import type { TypeUrl } from "@xdskit/protocol";

/** What is wrong, to branch on. */
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

/** Something that is wrong with what a client receives. */
export interface Finding {
  readonly severity: "error" | "warning";
  readonly code: FindingCode;
  readonly type: TypeUrl;
  /** Of the resource; missing where it concerns the type. */
  readonly name?: string;
  readonly message: string;
}
