import type { ErrorDetailAnswer, Page } from "./page.ts";

/** `GET /api/v1/resources` */
export type ResourcesAnswer = Page<ResourceAnswer>;

export interface ResourceAnswer {
  readonly type: string;
  readonly shortName?: string;
  readonly name: string;
  /** Of one of several variants of the name: for whom it is, as people read it. */
  readonly constraints?: string;
  readonly version: string;
  readonly layer: string;
  readonly bytes: number;
  readonly aliases?: readonly string[];
  readonly ttlMs?: number;
  readonly onDemand?: boolean;
  readonly references: readonly { readonly type: string; readonly name: string }[];
  /** Why there is no such resource: this stands in its place. */
  readonly error?: ErrorDetailAnswer;
  /** With `body=true`: canonical JSON, secrets replaced. */
  readonly body?: unknown;
  /** With `body=true`, why there is no body. */
  readonly problem?: string;
}

/** `GET /api/v1/conversions` */
export type ConversionsAnswer = Page<ConversionAnswer>;

/** A resource that was converted between v2 and v3, and what the other version cannot express of it. */
export interface ConversionAnswer {
  /** The type that it was converted to. */
  readonly type: string;
  readonly shortName?: string;
  readonly name: string;
  readonly layer: string;
  /** The path is in the names of the proto files. */
  readonly findings: readonly { readonly path: string; readonly message: string }[];
}
