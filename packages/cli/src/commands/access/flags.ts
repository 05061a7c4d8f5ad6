import type { AccessAnswer } from "@xdskit/server";
import type { AdminFlags } from "../admin-server.ts";

export interface AccessFlags extends AdminFlags {
  readonly cert?: string;
  readonly identity?: readonly string[];
  readonly node?: string;
  readonly cluster?: string;
  readonly type?: string;
  readonly name?: string;
  readonly entry: string;
  readonly output: "text" | "json";
}

/** What is asked about a caller. */
export interface AccessAsked extends Pick<AccessFlags, "node" | "cluster" | "type" | "name" | "entry"> {
  readonly identities: readonly string[];
}

/** `AccessAnswer`, with the places of rules where they come from files. */
export interface ExplainAnswer extends Omit<AccessAnswer, "misses"> {
  /** `xdskit.yaml:7` */
  readonly at?: string;
  /** Why the certificate of `--cert` counts for nothing. */
  readonly certificate?: "expired" | "untrusted" | "revoked";
  readonly misses?: readonly PlacedMiss[];
}

/** A rule that would allow if one field did not keep it from that, with its place. */
export interface PlacedMiss {
  readonly rule: number;
  readonly field: string;
  /** `xdskit.yaml:7` */
  readonly at?: string;
}
