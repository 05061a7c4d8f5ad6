import type { AdminFlags } from "../admin-server.ts";

export interface DiffFlags extends AdminFlags {
  readonly node?: string;
  readonly envoy?: string;
  readonly output: "text" | "json";
}
