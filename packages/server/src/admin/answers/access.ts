import type { AccessRules, EntryPoint } from "@xdskit/protocol";

/** A decision of the access rules in force, of `/api/v1/access`. */
export interface AccessAnswer {
  readonly allowed: boolean;
  readonly entry: EntryPoint;
  /** The claimed node id; missing where callers speak for no node. */
  readonly node?: string;
  /** The layers of the node, top-most first. */
  readonly layers: readonly string[];
  /** The type URL that was asked about. */
  readonly type?: string;
  readonly name?: string;
  /** For people. */
  readonly reason: string;
  /** The number of the rule that decided, from 0; missing where none did. */
  readonly rule?: number;
  /** Where no rule allows: the first field of each rule that allows which does not fit. */
  readonly misses?: readonly { readonly rule: number; readonly field: string }[];
}

/** The rules in force, of `/api/v1/access/rules`. */
export interface AccessRulesAnswer {
  /** `function`: a program decides. */
  readonly kind: "default" | "insecure" | "rules" | "function";
  readonly rules?: AccessRules;
  readonly clientStatus: "off" | "loopback" | "certificate" | "everybody";
}

/** A stream or poller as access sees it, of `/api/v1/access/clients`. */
export interface AccessClientAnswer {
  readonly entry: EntryPoint;
  /** `host:port`. */
  readonly peer: string;
  /** What rules may know it by. */
  readonly identities: readonly string[];
  readonly node: string;
  readonly cluster: string;
  /** Only fields that rules in force name. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The type URLs that it asked for. */
  readonly types: readonly string[];
}
