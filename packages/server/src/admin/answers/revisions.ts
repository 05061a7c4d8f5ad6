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
  /** `revision`, `live`, `held`, `approved`, `rejected`, `withdrawn`, `rolled-back` or `unpinned`. */
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

/** What a publish or a decision would do now: `POST /api/v1/plan`, `GET /api/v1/plan/{number}`. */
export interface PlanAnswer {
  /** What would become of it. A decision is `unchanged` if nothing would be sent. */
  readonly result: "unchanged" | "applied" | "held" | "rejected" | "refused";
  /** The newest number: it is planned upon that. */
  readonly head: number;
  /** Why it would be refused, or that it was rejected. */
  readonly reason?: string;
  /** Why it would be held, or why the change that is approved is held. */
  readonly fuses?: readonly FuseAnswer[];
  /** Whether groups, client overrides or access rules change. */
  readonly placement: boolean;
  readonly counts: readonly PlanCountAnswer[];
  /** What a rollback could not bring back, because it holds a secret, which is not kept; the first 100. */
  readonly irretrievable?: readonly { readonly layer: string; readonly type: string; readonly name: string }[];
  readonly nodes: PlanNodesAnswer;
  readonly changes: readonly ChangeAnswer[];
  /** The number of all changes. */
  readonly total: number;
  /** The `offset` of the next page, if there is one. */
  readonly next?: number;
}

/** What would change in one layer and type. */
export interface PlanCountAnswer {
  readonly layer: string;
  readonly type: string;
  readonly shortName?: string;
  /** Live data (EDS, LEDS, SDS) is not held by fuses; deletions of it wait while the rest is held. */
  readonly isLive: boolean;
  readonly added: number;
  readonly changed: number;
  readonly deleted: number;
}

/** The connected nodes that would get anything else. */
export interface PlanNodesAnswer {
  readonly connected: number;
  /** Nodes that see a change of a type to which they subscribe, or whose layers or access would change. */
  readonly affected: number;
  /** Nodes whose layers would change. */
  readonly moved: number;
  /** Nodes that would not be let in any more. */
  readonly cutOff: number;
  /** The first of the affected. */
  readonly named: readonly PlanNodeAnswer[];
}

export interface PlanNodeAnswer {
  readonly id: string;
  /** `resources`: others of its layers; `layers`: other layers; `refused` and `cut-off`: its connection would end. */
  readonly becomes: "resources" | "layers" | "refused" | "cut-off";
}

/** `GET /api/v1/nodes/{id}/history`: what a node had and NACKed, newest first. */
export interface NodeHistoryAnswer {
  readonly node: string;
  readonly items: readonly NodePastAnswer[];
  /** The number of all items that are kept. */
  readonly total: number;
  /** The `offset` of the next page, if there is one. */
  readonly next?: number;
}

/** A number that a node had or NACKed. */
export interface NodePastAnswer {
  /** Of the newest change that it had, live data left out, or of the change that it NACKed. */
  readonly number: number;
  /** Since when it had it, or when it NACKed it, within a second. */
  readonly time: string;
  /** Absent: it had the number. */
  readonly nacked?: NodeRejectionAnswer;
  /** The change; absent without a ledger, or if its record is not kept any more. */
  readonly revision?: RevisionAnswer;
}

export interface NodeRejectionAnswer {
  readonly type: string;
  readonly shortName?: string;
  /** The error message of the NACK, made printable. */
  readonly reason: string;
}
