/**
 * Converts resources between API versions: v3 to v2 once a client requests v2, v2 to v3 always. Converted resources
 * stand in the same layers under the other type; a given resource wins over a converted one. The protocol treats them
 * as any other resources.
 */
import type { Converted, FieldProblem } from "@xdskit/envoy-api";
import {
  createResource,
  createResourceError,
  type LayerChange,
  type Resource,
  type Transaction,
  type TypeUrl,
} from "@xdskit/protocol";
import { canonicalName, type Digest, deletedKey, isOfV2, type LayerState } from "@xdskit/protocol/internal";
import type { ConversionFindings, ConversionReport } from "./port.ts";

export interface ApiVersionConverterOptions {
  readonly convert: (type: TypeUrl, bytes: Uint8Array) => Converted | undefined;
  /** Prepares the first conversion of a type, some with each step. */
  readonly prepare?: (type: TypeUrl) => Iterable<unknown>;
  readonly twinOf: (type: TypeUrl) => TypeUrl | undefined;
  readonly digest: Digest;
  readonly layers: () => Iterable<LayerState>;
  /** All that a layer holds of a type, resource errors included. */
  readonly members: (layer: string, type: TypeUrl) => Iterable<Resource>;
  readonly holder: (layer: string, type: TypeUrl, name: string) => Resource | undefined;
  readonly report: (report: ConversionReport) => void;
  /** Layers hold v2 resources of the previous run, which are removed unless the first transaction has them again. */
  readonly areWanted: boolean;
  readonly pace?: Pace;
}

/** The places of both versions of one resource. */
interface Pair {
  readonly layer: string;
  readonly v3: TypeUrl;
  readonly v2: TypeUrl;
  readonly name: string;
}

/** State of the extension of one transaction. */
interface Work {
  /** Resources that callers put, or deleted (undefined), by place. */
  readonly given: Map<string, Resource | undefined>;
  readonly startedAt: number;
  resources: number;
  findings: ConversionFindings[];
}

/** The result of converting one resource. */
interface Made {
  readonly converted: Converted | undefined;
  readonly twin: Resource | undefined;
}

/** Step sizes of a full conversion: resources converted and resources committed at a time. */
interface Pace {
  readonly made: number;
  readonly bytes: number;
  /** Counts apart from `made`, because each transaction has a cost. */
  readonly committed: number;
}

const usualPace: Pace = { made: 100, bytes: 256 * 1024, committed: 500 };

/** Extends transactions with the same changes in the other API version. */
export class ApiVersionConverter {
  readonly #options: ApiVersionConverterOptions;
  /** Places with a converted resource, with its source. */
  readonly #converted = new Map<string, Resource>();
  readonly #findings = new Map<string, ConversionFindings>();
  #areWanted: boolean;
  #isComplete: boolean;
  /** Whether a transaction ever touched v2. Before, and while v2 is not wanted, nothing is converted. */
  #hasMetV2 = false;
  /** Conversions that are not committed yet, by source. */
  readonly #made = new Map<Resource, Made>();
  #isFirst = true;

  constructor(options: ApiVersionConverterOptions) {
    this.#options = options;
    this.#areWanted = options.areWanted;
    this.#isComplete = options.areWanted;
  }

  /** Fields that the other API version cannot express, of all converted resources, by place. */
  get findings(): ReadonlyMap<string, ConversionFindings> {
    return this.#findings;
  }

  /** Whether all v3 resources exist in v2. */
  get areComplete(): boolean {
    return this.#isComplete;
  }

  /**
   * Starts serving v2: converts all missing resources, a few between two yields. Commit each yielded transaction at
   * once; until the end v2 is incomplete and must not be served.
   */
  *begin(): Generator<Transaction | undefined, void, void> {
    this.#areWanted = true;
    this.#made.clear();
    const work = this.#newWork();
    for (const { name: layer, types } of [...this.#options.layers()]) {
      for (const v3 of [...types.keys()]) {
        const v2 = this.#options.twinOf(v3);
        if (v2 !== undefined && !isOfV2(v3)) yield* this.#beginType(layer, v3, v2, work);
      }
    }
    this.#isComplete = true;
    this.#tell(work);
  }

  *#beginType(layer: string, v3: TypeUrl, v2: TypeUrl, work: Work): Generator<Transaction | undefined, void, void> {
    const { pace = usualPace, prepare } = this.#options;
    for (const _ of prepare?.(v3) ?? []) yield;
    let pairs: Pair[] = [];
    let [count, bytes] = [0, 0];
    const settled = (): Transaction => {
      const change = { layer, ...this.#settle(pairs, work) };
      pairs = [];
      work.given.clear();
      this.#made.clear();
      return { changes: [change] };
    };
    // What changes meanwhile is converted with the transaction that changes it.
    for (const member of this.#options.members(layer, v3)) {
      if (member.variant !== undefined) {
        this.#leaveOut(layer, member, work);
        continue;
      }
      pairs.push({ layer, v3, v2, name: member.name });
      if (member.error === undefined) this.#made.set(member, this.#make(v2, member));
      count++;
      bytes += member.bytes.byteLength;
      if (count < pace.made && bytes < pace.bytes) continue;
      yield pairs.length < pace.committed ? undefined : settled();
      [count, bytes] = [0, 0];
    }
    if (pairs.length > 0) yield settled();
  }

  /** Returns the transaction, extended with its changes in the other API version. */
  extend(transaction: Transaction): Transaction {
    this.#hasMetV2 ||= transaction.changes.some(touchesV2);
    if (!this.#hasMetV2 && !this.#areWanted) return this.#withTypeVersions(transaction);
    const work = this.#newWork();
    const changes = transaction.changes.map((change) => this.#extendChange(change, work));
    this.#isFirst = false;
    this.#tell(work);
    return { ...transaction, changes };
  }

  /** Extends a transaction of which nothing is converted: its cost does not depend on the number of resources. */
  #withTypeVersions(transaction: Transaction): Transaction {
    this.#isFirst = false;
    if (transaction.changes.every(({ typeVersions }) => typeVersions === undefined)) return transaction;
    const changes = transaction.changes.map(
      (change): LayerChange =>
        change.typeVersions === undefined ? change : { ...change, typeVersions: this.#withTwins(change.typeVersions) },
    );
    return { ...transaction, changes };
  }

  #extendChange(change: LayerChange, work: Work): LayerChange {
    const { layer, puts = [], deletes = [], typeVersions } = change;
    const pairs = new Map<string, Pair>();
    const touch = (type: TypeUrl, name: string): void => {
      const pair = this.#pairOf(layer, type, name);
      if (pair !== undefined) pairs.set(placeOf(layer, pair.v3, name), pair);
    };
    for (const put of puts) {
      if (put.variant !== undefined) {
        this.#leaveOut(layer, put, work);
        continue;
      }
      work.given.set(placeOf(layer, put.type, put.name), put);
      touch(put.type, put.name);
    }
    for (const deletion of deletes) {
      const { type, constraints } = deletion;
      const name = canonicalName(deletion.name);
      if (constraints !== undefined) {
        this.#findings.delete(placeOf(layer, this.#options.twinOf(type) ?? type, deletedKey(deletion)));
        continue;
      }
      work.given.set(placeOf(layer, type, name), undefined);
      touch(type, name);
    }
    if (pairs.size === 0 && typeVersions === undefined) return change;
    const derived = this.#settle(pairs.values(), work);
    const filled = new Set(derived.filled);
    return {
      ...change,
      puts: [...puts, ...derived.puts],
      // A delete does not apply where another resource takes the place.
      deletes: [...deletes.filter((one) => !filled.has(placeOf(layer, one.type, deletedKey(one)))), ...derived.deletes],
      ...(typeVersions !== undefined && { typeVersions: this.#withTwins(typeVersions) }),
    };
  }

  /** Computes the converted content of both places of each pair. */
  #settle(
    pairs: Iterable<Pair>,
    work: Work,
  ): { puts: Resource[]; deletes: { type: TypeUrl; name: string }[]; filled: string[] } {
    const puts: Resource[] = [];
    const deletes: { type: TypeUrl; name: string }[] = [];
    const filled: string[] = [];
    for (const pair of pairs) {
      const inV3 = this.#given(pair, pair.v3, work);
      const inV2 = this.#given(pair, pair.v2, work);
      const wanted: readonly (readonly [TypeUrl, Resource | undefined, Resource | undefined])[] = [
        [pair.v3, inV3, inV2],
        [pair.v2, inV2, this.#areWanted ? inV3 : undefined],
      ];
      for (const [type, own, source] of wanted) {
        const place = placeOf(pair.layer, type, pair.name);
        const before = this.#converted.get(place);
        // Until the transaction took effect, what is converted there still looks as if it had been given.
        work.given.set(place, own);
        const twin = own === undefined && source !== undefined ? this.#convert(pair, type, source, work) : undefined;
        if (twin === undefined) {
          this.#converted.delete(place);
          if (own !== undefined || source === undefined) this.#findings.delete(place);
          if (before !== undefined && own === undefined) deletes.push({ type, name: pair.name });
        } else {
          filled.push(place);
          if (twin !== "same") puts.push(twin);
        }
      }
    }
    return { puts, deletes, filled };
  }

  /** The given resource of a place; undefined if its content is converted. */
  #given({ layer, name }: Pair, type: TypeUrl, { given }: Work): Resource | undefined {
    const place = placeOf(layer, type, name);
    if (given.has(place)) return given.get(place);
    // Restored resources count only until the first transaction, which replaces them.
    if (this.#isFirst || this.#converted.has(place)) return undefined;
    return this.#options.holder(layer, type, name);
  }

  /** Omits variants from v2, under their key and under their shared name. */
  #leaveOut(layer: string, { type: v3, name: key, variant }: Resource, work: Work): void {
    const type = this.#options.twinOf(v3);
    if (!this.#areWanted || variant === undefined || type === undefined || isOfV2(v3)) return;
    const about = { layer, type, name: variant.name, findings: [noVariants] };
    this.#findings.set(placeOf(layer, type, key), about);
    work.findings.push(about);
  }

  #convert(pair: Pair, type: TypeUrl, source: Resource, work: Work): Resource | "same" | undefined {
    const place = placeOf(pair.layer, type, pair.name);
    if (this.#converted.get(place) === source) return "same";
    const { digest } = this.#options;
    work.resources++;
    this.#findings.delete(place);
    if (source.error !== undefined) {
      this.#converted.set(place, source);
      return createResourceError({ type, name: source.name, error: source.error }, digest);
    }
    const { converted, twin } = this.#made.get(source) ?? this.#make(type, source);
    if (converted !== undefined && converted.findings.length > 0) {
      const about = { layer: pair.layer, type, name: pair.name, findings: converted.findings };
      this.#findings.set(place, about);
      work.findings.push(about);
    }
    if (twin !== undefined) this.#converted.set(place, source);
    return twin;
  }

  #make(type: TypeUrl, source: Resource): Made {
    const { digest, convert, twinOf } = this.#options;
    const converted = convert(source.type, source.bytes);
    if (converted?.bytes === undefined) return { converted, twin: undefined };
    const references = source.references.map((to) => ({ type: twinOf(to.type) ?? to.type, name: to.name }));
    const twin = { ...withoutTtl(source), type, bytes: converted.bytes, references };
    return { converted, twin: createResource({ ...twin, ...ownVersion(source, converted.bytes, digest) }, digest) };
  }

  #pairOf(layer: string, type: TypeUrl, name: string): Pair | undefined {
    const twin = this.#options.twinOf(type);
    if (twin === undefined) return undefined;
    return isOfV2(type) ? { layer, v3: twin, v2: type, name } : { layer, v3: type, v2: twin, name };
  }

  /** Copies a given v3 type version to v2, unless v2 has its own. */
  #withTwins(versions: NonNullable<LayerChange["typeVersions"]>): NonNullable<LayerChange["typeVersions"]> {
    const twins = [...versions].flatMap(([type, version]) => {
      const twin = isOfV2(type) ? undefined : this.#options.twinOf(type);
      return twin === undefined ? [] : [[twin, version] as const];
    });
    return new Map([...twins, ...versions]);
  }

  #newWork(): Work {
    return { given: new Map(), startedAt: performance.now(), resources: 0, findings: [] };
  }

  #tell({ resources, findings, startedAt }: Work): void {
    if (resources === 0 && findings.length === 0) return;
    this.#options.report({ kind: "converted", resources, findings, tookMs: performance.now() - startedAt });
  }
}

const noVariants: FieldProblem = {
  code: "VERSION_LOSS",
  severity: "warning",
  path: [],
  message: "v2 has no variants of a resource: this one is for clients of v3 only",
};

function touchesV2({ puts = [], deletes = [] }: LayerChange): boolean {
  const types = new Set<TypeUrl>();
  for (const { type } of puts) types.add(type);
  for (const { type } of deletes) types.add(type);
  return [...types].some(isOfV2);
}

function placeOf(layer: string, type: TypeUrl, name: string): string {
  return `${layer}\n${type}\n${name}`;
}

/** A resource's options without its TTL, which v2 cannot express (B-TTL-18). */
function withoutTtl({
  name,
  aliases,
  doNotCache,
  metadata,
  onDemand,
}: Resource): Pick<Parameters<typeof createResource>[0], "name" | "aliases" | "doNotCache" | "metadata" | "onDemand"> {
  return { name, aliases, doNotCache, onDemand, ...(metadata !== undefined && { metadata }) };
}

/**
 * The version of a converted resource: the source's for equal bytes or if the caller gave it; otherwise absent, to be
 * computed from the content.
 */
function ownVersion(source: Resource, bytes: Uint8Array, digest: Digest): { version?: string } {
  if (bytes === source.bytes) return { version: source.version };
  const { version } = createResource({ ...withoutTtl(source), type: source.type, bytes: source.bytes }, digest);
  return version === source.version ? {} : { version: source.version };
}
