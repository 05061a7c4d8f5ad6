import { contentDigest } from "@xdskit/envoy-api";
import {
  createResource,
  createResourceError,
  type LayerChange,
  type Resource,
  type Transaction,
  type TypeUrl,
} from "@xdskit/protocol";
import { ServerMachine } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ApiVersionConverter } from "./api-version-converter.ts";
import type { ConversionReport } from "./port.ts";

const CDS: TypeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const CDS_V2: TypeUrl = "type.googleapis.com/envoy.api.v2.Cluster";
const EDS: TypeUrl = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
const EDS_V2: TypeUrl = "type.googleapis.com/envoy.api.v2.ClusterLoadAssignment";
const ECDS: TypeUrl = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
const twins = new Map<TypeUrl, TypeUrl>([
  [CDS, CDS_V2],
  [CDS_V2, CDS],
  [EDS, EDS_V2],
  [EDS_V2, EDS],
]);

function resource(type: TypeUrl, name: string, text: string, more: object = {}): Resource {
  return createResource({ type, name, bytes: Buffer.from(text), ...more }, contentDigest);
}

/** A server machine, with twins before it. Converting puts a word before the text; "same" and "lossy …" are what they say. */
class World {
  readonly machine = new ServerMachine({
    digest: contentDigest,
    traits: (type) => {
      const twin = twins.get(type);
      return { type, kind: "opaque", isFullState: false, owes: [], ...(twin !== undefined && { twin }) };
    },
    nodeMapping: () => ["base"],
  });
  readonly reports: ConversionReport[] = [];
  readonly converted: string[] = [];
  readonly converter: ApiVersionConverter;

  constructor(areWanted = false) {
    const { machine } = this;
    this.converter = new ApiVersionConverter({
      convert: (type, bytes) => {
        const text = Buffer.from(bytes).toString();
        this.converted.push(text);
        const twin = twins.get(type);
        if (twin === undefined) return undefined;
        const finding = { code: "VERSION_LOSS", severity: "warning", path: ["x", 1], message: "lost" } as const;
        const findings = text.startsWith("lossy") ? [finding] : [];
        if (text === "broken") return { type: twin, bytes: undefined, findings: [{ ...finding, severity: "error" }] };
        return { type: twin, bytes: text === "same" ? bytes : Buffer.from(`from ${text}`), findings };
      },
      twinOf: (type) => twins.get(type),
      digest: contentDigest,
      layers: () => machine.layers(),
      members: function* (layer, type) {
        yield* machine.resources([layer], type);
        yield* machine.resourceErrors([layer], type);
      },
      holder: (layer, type, name) => machine.holder(layer, type, name),
      report: (report) => this.reports.push({ ...report, tookMs: 0 }),
      areWanted,
      pace: { made: 1, bytes: 1_000, committed: 2 },
    });
  }

  commit(...changes: readonly LayerChange[]): Transaction {
    const transaction = this.converter.extend({ changes });
    this.machine.on({ kind: "transaction-committed", transaction });
    return transaction;
  }

  begin(): void {
    const making = this.converter.begin();
    while (this.goOn(making));
  }

  /** Makes some of v2; whether there may be more. */
  goOn(making: ReturnType<ApiVersionConverter["begin"]>): boolean {
    const { done, value } = making.next();
    if (value !== undefined) this.machine.on({ kind: "transaction-committed", transaction: value });
    return done !== true;
  }

  /** What a layer holds of a type: `name=text`, sorted. */
  held(type: TypeUrl, layer = "base"): readonly string[] {
    const all = [...this.machine.resources([layer], type), ...this.machine.resourceErrors([layer], type)];
    return all.map((one) => `${one.name}=${one.error?.message ?? Buffer.from(one.bytes).toString()}`).sort();
  }
}

const noVariants = {
  code: "VERSION_LOSS",
  severity: "warning",
  path: [],
  message: "v2 has no variants of a resource: this one is for clients of v3 only",
};
const base = (change: Omit<LayerChange, "layer">): LayerChange => ({ layer: "base", ...change });

describe("twins", () => {
  test("S-TYP-10 of v3 are made when v2 is first wanted, and from then on with each change", () => {
    const world = new World();
    world.commit(base({ puts: [resource(CDS, "a", "A"), resource(EDS, "a", "same"), resource(ECDS, "x", "X")] }));
    expect([world.held(CDS_V2), world.converted]).toEqual([[], []]);
    world.begin();
    expect([world.held(CDS_V2), world.held(EDS_V2)]).toEqual([["a=from A"], ["a=same"]]);
    world.commit(base({ puts: [resource(CDS, "b", "B")], deletes: [{ type: CDS, name: "a" }] }));
    expect([world.held(CDS), world.held(CDS_V2), world.held(EDS_V2)]).toEqual([["b=B"], ["b=from B"], ["a=same"]]);
    expect(world.converted).toEqual(["A", "same", "B"]);
  });

  test("cost a transaction nothing while v2 was never given or wanted", () => {
    const world = new World();
    const given = { changes: [base({ puts: [resource(CDS, "a", "A")], deletes: [{ type: EDS, name: "b" }] })] };
    expect(world.converter.extend(given)).toBe(given);
    const typeVersions = new Map([[CDS, "7"]]);
    const both = [
      [CDS_V2, "7"],
      [CDS, "7"],
    ] as const;
    expect(world.commit(base({ typeVersions })).changes).toEqual([base({ typeVersions: new Map(both) })]);
  });

  test("of v2 are made at once", () => {
    const world = new World();
    world.commit(base({ puts: [resource(CDS_V2, "a", "old")] }));
    expect([world.held(CDS), world.held(CDS_V2)]).toEqual([["a=from old"], ["a=old"]]);
  });

  test("give way to what is given, and come back when that goes", () => {
    const world = new World(true);
    world.commit(base({ puts: [resource(CDS, "a", "A")] }));
    world.commit(base({ puts: [resource(CDS_V2, "a", "own")] }));
    expect([world.held(CDS), world.held(CDS_V2)]).toEqual([["a=A"], ["a=own"]]);
    world.commit(base({ deletes: [{ type: CDS_V2, name: "a" }] }));
    expect(world.held(CDS_V2)).toEqual(["a=from A"]);
    world.commit(base({ puts: [resource(CDS_V2, "a", "own")] }), base({ deletes: [{ type: CDS, name: "a" }] }));
    expect([world.held(CDS), world.held(CDS_V2)]).toEqual([["a=from own"], ["a=own"]]);
    world.commit(base({ deletes: [{ type: CDS, name: "a" }] }));
    expect(world.held(CDS)).toEqual(["a=from own"]);
    world.commit(base({ deletes: [{ type: CDS_V2, name: "a" }] }));
    expect([world.held(CDS), world.held(CDS_V2)]).toEqual([[], []]);
  });

  test("are given what was converted although it is equal to it, and keep it", () => {
    const world = new World(true);
    world.commit(base({ puts: [resource(CDS, "a", "A")] }));
    world.commit(base({ puts: [resource(CDS_V2, "a", "from A")] }));
    world.commit(base({ deletes: [{ type: CDS, name: "a" }] }));
    expect([world.held(CDS), world.held(CDS_V2)]).toEqual([["a=from from A"], ["a=from A"]]);
  });

  test("S-LOC-03 are not made of variants, which v2 does not have, and that is told", () => {
    const world = new World(true);
    const constraints = { kind: "value", key: "env", value: "prod" } as const;
    world.commit(base({ puts: [resource(CDS, "a", "A", { constraints }), resource(CDS, "b", "B")] }));
    expect([world.held(CDS_V2), world.reports.map(({ findings }) => findings)]).toEqual([
      ["b=from B"],
      [[{ layer: "base", type: CDS_V2, name: "a", findings: [noVariants] }]],
    ]);
    world.commit(base({ deletes: [{ type: CDS, name: "a", constraints }] }));
    expect([world.held(CDS), world.held(CDS_V2), world.converter.findings.size]).toEqual([["b=B"], ["b=from B"], 0]);
  });

  test("refer to resources of their own version, have no ttl, and are as their sources otherwise", () => {
    const world = new World(true);
    const metadata = Uint8Array.of(1);
    const references = [
      { type: EDS, name: "e" },
      { type: ECDS, name: "x" },
    ];
    const more = { references, aliases: ["b"], ttlMs: 5_000, doNotCache: true, metadata, onDemand: true };
    world.commit(base({ puts: [resource(CDS, "a", "A", more)] }));
    expect(world.machine.holder("base", CDS_V2, "a")).toMatchObject({
      references: [
        { type: EDS_V2, name: "e" },
        { type: ECDS, name: "x" },
      ],
      aliases: ["b"],
      ttlMs: undefined,
      doNotCache: true,
      metadata,
      onDemand: true,
    });
  });

  test("have the version of their content; that of their source if the content is the same, or if it was given", () => {
    const world = new World(true);
    const changed = resource(CDS, "changed", "A");
    const puts = [changed, resource(CDS, "same", "same"), resource(CDS, "own", "B", { version: "v7" })];
    world.commit(base({ puts }));
    const versions = puts.map(({ name }) => world.machine.holder("base", CDS_V2, name)?.version);
    expect(versions).toEqual([resource(CDS_V2, "changed", "from A").version, puts[1]?.version, "v7"]);
    expect(versions[0]).not.toBe(changed.version);
  });

  test("of an error are that error", () => {
    const world = new World(true);
    world.commit(
      base({ puts: [createResourceError({ type: CDS, name: "a", error: { code: 7, message: "no" } }, contentDigest)] }),
    );
    expect(world.held(CDS_V2)).toEqual(["a=no"]);
  });

  test("have the version that was given to their type, unless they have one of their own", () => {
    const world = new World(true);
    const typeVersions = new Map([
      [CDS, "7"],
      [EDS, "8"],
      [EDS_V2, "9"],
    ]);
    const [change] = world.commit(base({ typeVersions })).changes;
    expect([...(change?.typeVersions ?? [])].sort()).toEqual([
      [CDS_V2, "7"],
      [EDS_V2, "9"],
      [CDS, "7"],
      [EDS, "8"],
    ]);
  });

  test("what they lack is told with the transaction, and kept for as long as it is so", () => {
    const world = new World(true);
    world.commit(base({ puts: [resource(CDS, "a", "lossy"), resource(CDS, "b", "broken"), resource(CDS, "c", "C")] }));
    const a = { layer: "base", type: CDS_V2, name: "a" };
    const findings = [expect.objectContaining({ path: ["x", 1], message: "lost" })];
    expect(world.reports).toMatchObject([
      { kind: "converted", resources: 3, findings: [{ ...a, findings }, { name: "b" }] },
    ]);
    expect(world.held(CDS_V2)).toEqual(["a=from lossy", "c=from C"]);
    expect([...world.converter.findings.values()].map(({ name }) => name)).toEqual(["a", "b"]);
    world.commit(base({ puts: [resource(CDS, "a", "fine")], deletes: [{ type: CDS, name: "b" }] }));
    expect([world.converter.findings.size, world.held(CDS_V2)]).toEqual([0, ["a=from fine", "c=from C"]]);
    world.commit(base({ puts: [resource(ECDS, "x", "X")] }));
    expect(world.reports).toHaveLength(2);
  });

  test("of what a server before left, the first transaction decides", () => {
    const world = new World(true);
    const restored = { kind: "changed", revision: 3, type: CDS_V2, layer: "base", deletes: [] } as const;
    const puts = [resource(CDS_V2, "a", "from A"), resource(CDS_V2, "gone", "from G")];
    world.machine.on({ kind: "history-restored", remembered: [{ ...restored, puts }] });
    world.commit(base({ puts: [resource(CDS, "a", "A")] }));
    expect([world.held(CDS), world.held(CDS_V2)]).toEqual([["a=A"], ["a=from A"]]);
  });
});

const step = fc.record({
  layer: fc.constantFrom("base", "top"),
  type: fc.constantFrom(CDS, CDS_V2, EDS, EDS_V2, ECDS),
  name: fc.constantFrom("a", "b"),
  text: fc.option(fc.constantFrom("1", "2", "same", "from 1"), { nil: undefined }),
});

test("S-TYP-10 each version of a layer is what was given in it over what the other is converted to, after any transactions", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 12 }),
      fc.nat(12),
      fc.nat(4),
      (transactions, beginAt, pace) => {
        const world = new World();
        let making: ReturnType<ApiVersionConverter["begin"]> | undefined;
        const given = new Map<string, string>();
        transactions.forEach((steps, i) => {
          if (i === beginAt) making = world.converter.begin();
          // What is made of v2 meanwhile stands between the transactions.
          for (let n = 0; n < pace && making !== undefined; n++) world.goOn(making);
          world.commit(
            ...steps.map(({ layer, type, name, text }): LayerChange => {
              if (text === undefined) given.delete(`${layer} ${type} ${name}`);
              else given.set(`${layer} ${type} ${name}`, text);
              return text === undefined
                ? { layer, deletes: [{ type, name }] }
                : { layer, puts: [resource(type, name, text)] };
            }),
          );
          expectWhatIsGiven(world, given, making === undefined || world.converter.areComplete);
        });
        if (making === undefined) return;
        while (world.goOn(making));
        expectWhatIsGiven(world, given, true);
      },
    ),
    { numRuns: Number(process.env["XDS_PROPERTY_RUNS"] ?? 600) },
  );
});

/** While v2 is being made, nobody looks at it. */
function expectWhatIsGiven(world: World, given: ReadonlyMap<string, string>, isV2Seen: boolean): void {
  const expected = (layer: string, type: TypeUrl): readonly string[] =>
    ["a", "b"].flatMap((name) => {
      const own = given.get(`${layer} ${type} ${name}`);
      const isMade = (type === CDS || type === EDS || world.converter.areComplete) && type !== ECDS;
      const other = isMade ? given.get(`${layer} ${twins.get(type)} ${name}`) : undefined;
      const made = other === undefined || other === "same" ? other : `from ${other}`;
      return own === undefined && made === undefined ? [] : [`${name}=${own ?? made}`];
    });
  for (const layer of ["base", "top"]) {
    for (const type of isV2Seen ? [CDS, CDS_V2, EDS, EDS_V2, ECDS] : [CDS, EDS, ECDS]) {
      expect([layer, type, world.held(type, layer)]).toEqual([layer, type, expected(layer, type)]);
    }
  }
}
