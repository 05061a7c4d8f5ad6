import { WireError } from "@xdskit/envoy-api/internal";
import type { SourceId, TypeUrl } from "@xdskit/protocol";
import { type DiscoveryResponse, isOfV2, type ReceivedResource } from "@xdskit/protocol/internal";
import type { SourceConfig } from "../config/client-config.ts";
import { Copies } from "./copies.ts";
import { type Expectation, Judge, type Judgement, type JudgeOptions } from "./judge.ts";
import { JudgedBefore } from "./judged-before.ts";
import { readParcels, type UnwrappedResource, type UnwrappedResources } from "./unwrapped-resource.ts";

/** Where a response came from. */
export interface Origin {
  readonly source: SourceConfig;
  readonly onlyType: TypeUrl | undefined;
  /** Whether anything still waits for the result. */
  readonly isWanted: () => boolean;
}

/** The result of reading a response. */
export type Reading =
  | { readonly kind: "read"; readonly response: DiscoveryResponse }
  /** Judging takes time, because the response is large or a validator is asynchronous. The promise never rejects. */
  | {
      readonly kind: "being-judged";
      readonly type: TypeUrl | undefined;
      readonly nonce: string;
      readonly response: Promise<DiscoveryResponse>;
    }
  | { readonly kind: "unreadable"; readonly problem: string };

/** How long resources are judged before other events get a turn, in milliseconds. */
const SLICE_MS = 25;
/** Resources judged between two readings of the clock. */
const BATCH = 16;

/** Decodes responses and judges their resources. */
export class ResponseReader {
  readonly #judge: Judge;
  readonly #options: JudgeOptions;
  readonly #before = new Map<SourceId, Map<TypeUrl, JudgedBefore>>();
  readonly #expected = new Set<TypeUrl>();

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#judge = new Judge(options);
  }

  /**
   * Prepares for a requested type. That takes some 40 ms in a fresh process, which pass while the response is on its
   * way.
   */
  expect(type: TypeUrl): void {
    if (this.#expected.has(type)) return;
    this.#expected.add(type);
    // After the request is sent.
    setImmediate(() => this.#judge.prepare(type));
  }

  read(bytes: Uint8Array, origin: Origin): Reading {
    const { source } = origin;
    let parcels: UnwrappedResources;
    try {
      parcels = readParcels(bytes, source.kind === "grpc" ? source.variant : "sotw");
    } catch (cause) {
      if (cause instanceof WireError) return { kind: "unreadable", problem: cause.message };
      throw cause;
    }
    const type = this.#typeOf(parcels, origin);
    const expectedType = type ?? origin.onlyType;
    if (expectedType === undefined) return { kind: "read", response: responseOf(parcels, undefined, [UNTYPED]) };
    const judged = this.#judgeAll(parcels, expectedType, origin);
    if (!(judged instanceof Promise)) return { kind: "read", response: responseOf(parcels, type, judged) };
    const response = judged.then((all) => responseOf(parcels, type, all));
    return { kind: "being-judged", type: expectedType, nonce: parcels.nonce, response };
  }

  /** Drops the last responses of a source, or of one type of it, that nothing watches any more. */
  forget(source: SourceId, onlyType: TypeUrl | undefined): void {
    if (onlyType === undefined) this.#before.delete(source);
    else this.#before.get(source)?.delete(onlyType);
  }

  /** The requested type, if the response has its twin of the other API version and that is accepted (C-TYP-14). */
  #typeOf({ type }: UnwrappedResources, { source }: Origin): TypeUrl | undefined {
    if (type === undefined || !source.dialect.acceptTwinTypes) return type;
    const isWantedVersion = isOfV2(type) === (source.resourceApiVersion === "v2");
    return isWantedVersion ? type : (this.#options.api.traits(type)?.twin ?? type);
  }

  #judgeAll(
    parcels: UnwrappedResources,
    type: TypeUrl,
    { source, isWanted }: Origin,
  ): readonly Judgement[] | Promise<readonly Judgement[]> {
    const expected: Expectation = {
      type,
      isSameNameWanted: parcels.kind === "sotw",
      acceptsTwin: source.dialect.acceptTwinTypes,
    };
    const hasTtl = source.kind === "file" || source.apiVersion === "v3";
    const before = parcels.kind === "sotw" ? this.#beforeOf(source.id, type) : undefined;
    const copies = new Copies();
    const judge = (parcel: UnwrappedResource, place: number): Judgement | Promise<Judgement> => {
      const judgeAnew = () => this.#judge.judge(hasTtl ? parcel : withoutTtl(parcel), expected, copies);
      const bare = parcel.isWrapped || parcel.any?.typeUrl !== type ? undefined : parcel.any.value;
      return before === undefined || bare === undefined ? judgeAnew() : judgeOnce(before, place, bare, judgeAnew);
    };
    before?.responseBegins();
    return inSlices(parcels.resources, judge, isWanted);
  }

  /** Undefined for a type that was never requested: servers may send any number of them. */
  #beforeOf(source: SourceId, type: TypeUrl): JudgedBefore | undefined {
    if (!this.#expected.has(type)) return undefined;
    const ofSource = this.#before.get(source) ?? new Map<TypeUrl, JudgedBefore>();
    this.#before.set(source, ofSource);
    const known = ofSource.get(type) ?? new JudgedBefore();
    ofSource.set(type, known);
    return known;
  }
}

const UNTYPED: Judgement = { misplaced: "expected the type of the resources, got none" };

function isGood(judgement: Judgement): judgement is ReceivedResource {
  return !("misplaced" in judgement) && judgement.problem === undefined && judgement.bodyType === undefined;
}

/** Reuses the judgement of equal bytes in the last response. */
function judgeOnce(
  before: JudgedBefore,
  place: number,
  bytes: Uint8Array,
  judge: () => Judgement | Promise<Judgement>,
): Judgement | Promise<Judgement> {
  const known = before.find(place, bytes);
  if (known !== undefined) return known;
  const noted = (judgement: Judgement): Judgement => {
    if (isGood(judgement)) before.add(place, judgement);
    return judgement;
  };
  const judgement = judge();
  return judgement instanceof Promise ? judgement.then(noted) : noted(judgement);
}

/** A v2 `Resource` has no TTL (B-TTL-18). */
function withoutTtl(parcel: UnwrappedResource): UnwrappedResource {
  return parcel.ttlMs === undefined ? parcel : { ...parcel, ttlMs: undefined };
}

/**
 * Judges in slices of time; returns a promise only if that takes more than one slice, or a judgement is asynchronous.
 */
function inSlices(
  parcels: readonly UnwrappedResource[],
  judge: (parcel: UnwrappedResource, place: number) => Judgement | Promise<Judgement>,
  isWanted: () => boolean,
): readonly Judgement[] | Promise<readonly Judgement[]> {
  const judged: (Judgement | Promise<Judgement>)[] = [];
  let takesTime = false;
  const judgeSlice = (): void => {
    const untilMs = performance.now() + SLICE_MS;
    for (let at = judged.length; at < parcels.length; at++) {
      const parcel = parcels[at];
      if (parcel === undefined) break;
      const judgement = judge(parcel, at);
      takesTime ||= judgement instanceof Promise;
      judged.push(judgement);
      if (judged.length % BATCH === 0 && performance.now() > untilMs) break;
    }
  };
  judgeSlice();
  if (judged.length === parcels.length && !takesTime) return judged as readonly Judgement[];
  return (async () => {
    while (judged.length < parcels.length && isWanted()) {
      await new Promise((resolve) => setImmediate(resolve));
      judgeSlice();
    }
    return await Promise.all(judged);
  })();
}

function responseOf(
  parcels: UnwrappedResources,
  type: TypeUrl | undefined,
  judged: readonly Judgement[],
): DiscoveryResponse {
  const resources: ReceivedResource[] = [];
  const problems = new Set<string>();
  for (const one of judged) {
    if ("misplaced" in one) problems.add(one.misplaced);
    else resources.push(one);
  }
  const { nonce, errors, controlPlane, version } = parcels;
  const common = { type, nonce, resources, errors, controlPlane, problems: [...problems] };
  return parcels.kind === "sotw"
    ? { kind: "sotw", ...common, version }
    : { kind: "delta", ...common, systemVersion: version, removed: parcels.removed };
}
