import type { AdminFlags } from "../admin-request.ts";

export interface DiffFlags extends AdminFlags {
  readonly node?: string;
  readonly envoy?: string;
  readonly output: "text" | "json";
}
