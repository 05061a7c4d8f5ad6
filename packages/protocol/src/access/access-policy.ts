import type { Node } from "../node/node.ts";
import type { Peer } from "../node/node-mapping.ts";
import type { TypeUrl } from "../resource/type-url.ts";
import type { AccessFunction, AccessRules, EntryPoint } from "./access-rules.ts";

/** A caller, and the node that it claims to be. */
export interface AccessClaim {
  readonly entryPoint: EntryPoint;
  readonly peer: Peer;
  /** Undefined where callers speak for no node: whether the caller may come in at all. */
  readonly node: Node | undefined;
  /** The role that the settings of the admin API give the caller. */
  readonly role?: "viewer" | "operator" | undefined;
}

/** Which resources of one type in one layer are visible: all, none, or those whose names fit. */
export type NameFilter = "all" | "none" | ((name: string) => boolean);

/** What a client may have. */
export interface AccessGrant {
  /** Equal for grants that show the same. */
  readonly key: string;
  /** Whether everything is visible. */
  readonly isWhole: boolean;
  visible(layer: string, type: TypeUrl): NameFilter;
}

/** Why a client may not be the node that it claims to be, or not come in. */
export interface AccessRefusal {
  /** For the operator. The client is told less. */
  readonly denied: string;
  /** What the client is told instead of the usual text. */
  readonly told?: string;
}

/** What is asked about besides the claim: a type, and one name of it. */
export interface AskedResource {
  readonly type: TypeUrl;
  readonly name?: string | undefined;
}

/** A decision, with what led to it. */
export interface AccessVerdict {
  readonly isAllowed: boolean;
  /** For people. */
  readonly reason: string;
  /** The number of the rule that decided, from 0; undefined where none did. */
  readonly rule?: number;
  /** For a claim that no rule allows: what each rule that allows wants otherwise. */
  readonly misses?: readonly RuleMiss[];
}

/** A rule that does not concern a claim. */
export interface RuleMiss {
  readonly rule: number;
  /** The first field that does not fit. */
  readonly field: "entryPoints" | "identities" | "nodes" | "clusters" | "metadata" | "layers" | "types" | "names";
}

/** Decides what clients may have. Must be pure. `layers`: those that the node mapping gives the node. */
export interface AccessPolicy {
  /** What it was made of; undefined: the defaults. */
  readonly rules?: AccessRules | AccessFunction | undefined;
  grant(claim: AccessClaim, layers: readonly string[]): AccessGrant | AccessRefusal;
  /** The decision of `grant` about one type or resource, or about the claim alone, with its reason. */
  explain(claim: AccessClaim, layers: readonly string[], asked?: AskedResource): AccessVerdict;
}

/** Everything is visible. */
export const wholeGrant: AccessGrant = { key: "", isWhole: true, visible: () => "all" };

/** Allows everything. */
export const openAccess: AccessPolicy = {
  grant: () => wholeGrant,
  explain: () => ({ isAllowed: true, reason: "everything is allowed" }),
};

/** Whether nothing of a type in these layers is visible, whatever there is. */
export function isTypeDenied(grant: AccessGrant, layers: readonly string[], type: TypeUrl): boolean {
  return !grant.isWhole && layers.length > 0 && layers.every((layer) => grant.visible(layer, type) === "none");
}

/** Whether a grant shows a resource of one layer; without a name, whether it may show any of the type. */
export function isVisible(grant: AccessGrant, layer: string, { type, name }: AskedResource): boolean {
  const filter = grant.visible(layer, type);
  if (typeof filter === "string") return filter === "all";
  return name === undefined || filter(name);
}

/** The verdict of a grant that no rules led to. */
export function verdictOf(
  decided: AccessGrant | AccessRefusal,
  layers: readonly string[],
  asked: AskedResource | undefined,
  reasons: { readonly allowed: string; readonly hidden: string },
): AccessVerdict {
  if ("denied" in decided) return { isAllowed: false, reason: decided.denied };
  const isAllowed = asked === undefined || decided.isWhole || layers.some((layer) => isVisible(decided, layer, asked));
  return { isAllowed, reason: isAllowed ? reasons.allowed : reasons.hidden };
}

/** The reasons of a verdict where the role decides, at the admin API; undefined elsewhere. */
export function roleReasons({ entryPoint, role }: AccessClaim): Parameters<typeof verdictOf>[3] | undefined {
  if (entryPoint !== "admin" && entryPoint !== "admin-change") return undefined;
  return role === undefined ? undefined : { allowed: `its role is ${role}`, hidden: "" };
}
