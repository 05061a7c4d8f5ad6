/** `GET /api/v1/revisions`, newest first */
export interface RevisionsAnswer {
  readonly items: readonly RevisionAnswer[];
  /** The number of the newest record. */
  readonly head: number;
  /** The `before` of the next page, if there may be one. */
  readonly next?: number;
}

/** A record of the ledger: a change, or a decision on one. */
export interface RevisionAnswer {
  readonly number: number;
  /** `revision`, `live`, `held`, `approved`, `rejected`, `rolled-back` or `unpinned`. */
  readonly kind: string;
  readonly time: string;
  readonly author?: string;
  readonly message?: string;
  /** What published it, such as `directory`. */
  readonly writer?: string;
  readonly git?: { readonly commit: string; readonly isDirty: boolean };
  /** The number of the held change that it decides on. */
  readonly of?: number;
  /** The number whose state it brings back. */
  readonly to?: number;
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
  /** Whether groups, client overrides or access rules change. */
  readonly placement: boolean;
  /** Why it is held. */
  readonly fuses?: readonly FuseAnswer[];
}

export interface FuseAnswer {
  readonly fuse: string;
  readonly layer?: string;
  readonly type?: string;
  readonly message: string;
}

/** `GET /api/v1/revisions/{number}` */
export interface RevisionDetailAnswer extends RevisionAnswer {
  readonly changes: readonly ChangeAnswer[];
  /** The number of all changes. */
  readonly total: number;
  /** The `offset` of the next page, if there is one. */
  readonly next?: number;
  /** Later records that approve, reject or take back this one, oldest first; at most 20. */
  readonly decisions: readonly RevisionAnswer[];
}

/** A resource that differs. Versions are digests, also of secrets. */
export interface ChangeAnswer {
  readonly change: "added" | "changed" | "deleted";
  readonly layer: string;
  readonly type: string;
  readonly shortName?: string;
  readonly name: string;
  readonly before?: ContentAnswer;
  readonly after?: ContentAnswer;
}

export interface ContentAnswer {
  readonly version: string;
  /** With `body=true`, where the ledger keeps it: not of what holds a secret. */
  readonly body?: unknown;
}

/** `GET /api/v1/diff` */
export interface DifferenceAnswer {
  readonly from: number;
  readonly to: number;
  readonly changes: readonly ChangeAnswer[];
  readonly total: number;
  readonly next?: number;
}

/** `POST /api/v1/approve/{number}`, `/reject/{number}`, `/rollback/{number}` */
export interface DecisionAnswer {
  /** `applied`, `unchanged`, `held` or `refused`. */
  readonly result: string;
  /** The number of the record that was made. */
  readonly number?: number;
  readonly reason?: string;
  readonly fuses?: readonly FuseAnswer[];
  /** Of a rollback: what it could not bring back, because it holds a secret, which is not kept. */
  readonly irretrievable?: readonly { readonly layer: string; readonly type: string; readonly name: string }[];
}

/** `GET /api/v1/plan/{number}`: what a decision would do if it were made now. */
export interface PlanAnswer {
  readonly decision: "approve" | "reject" | "rollback";
  readonly number: number;
  /** Why it cannot be made; then nothing else is here. */
  readonly refused?: string;
  /** Resources that would change; absent if it cannot be made. */
  readonly added?: number;
  readonly changed?: number;
  readonly deleted?: number;
  /** Whether groups, client overrides or access rules would change. */
  readonly placement?: boolean;
  /** What a rollback could not bring back, because it holds a secret, which is not kept; the first 100. */
  readonly irretrievable?: readonly { readonly layer: string; readonly type: string; readonly name: string }[];
  readonly nodes?: PlanNodesAnswer;
}

/** The connected nodes that a decision would concern. */
export interface PlanNodesAnswer {
  /** All connected nodes. */
  readonly total: number;
  /** Nodes that see a changed layer and subscribe to a changed type in it, or whose layers or access would change. */
  readonly concerned: number;
  /** Nodes whose layers would change. */
  readonly moved: number;
  /** Nodes that would not be let in any more. */
  readonly cutOff: number;
}
