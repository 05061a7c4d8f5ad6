import { type DescMessage, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Converter } from "../../src/conversion/converter.ts";
import { createSchema } from "../../src/descriptor/schema.ts";
import { JsonReader } from "../../src/format/json-reader.ts";
import { ProblemList } from "../../src/format/problem-list.ts";
import { api, url, V3 } from "../support/api.ts";
import { arbitraryJson } from "../support/arbitrary-json.ts";
import { mutate, seededChance } from "../support/mutation.ts";

const schema = createSchema();
const { twins } = schema;
const converter = new Converter(schema);
const runs = Number(process.env["XDS_PROPERTY_RUNS"] ?? 300);

function messageNamed(name: string): DescMessage {
  const message = schema.message(name);
  if (message === undefined) throw new Error(name);
  return message;
}

function encode(message: DescMessage, json: unknown): Uint8Array {
  const content = new JsonReader(schema, new ProblemList()).readMessage(message, json);
  return content === undefined ? new Uint8Array() : toBinary(message, content);
}

function convert(name: string, bytes: Uint8Array): { name: string; bytes: Uint8Array } {
  const converted = converter.convert(url(name), bytes);
  if (converted?.bytes === undefined) throw new Error(`${name}: ${JSON.stringify(converted?.findings)}`);
  return { name: converted.type.slice(20), bytes: converted.bytes };
}

const ANYS_OF_V2 = [
  "envoy.config.filter.http.router.v2.Router",
  "envoy.api.v2.auth.UpstreamTlsContext",
  "google.protobuf.StringValue",
  "google.protobuf.Struct",
];

const ofV3 = [V3.cluster, V3.listener, V3.route, V3.endpoints, V3.secret, V3.http, V3.runtime];
const ofV2 = ofV3.map((name) => twins.in("v2", name) ?? "").map(messageNamed);

function messageOf(
  messages: readonly DescMessage[],
  anys?: readonly string[],
): fc.Arbitrary<[DescMessage, Uint8Array]> {
  return fc
    .constantFrom(...messages)
    .chain((message) =>
      arbitraryJson(message, schema, 4, anys).map((json): [DescMessage, Uint8Array] => [
        message,
        encode(message, json),
      ]),
    );
}

describe("S-TYP-10", () => {
  test("the types of the catalog have the twins that Envoy's files name", () => {
    const ofFiles = api.types.map(({ type }) => twins.in("v2", type.slice(20)));
    // Of those without one the API is of v3 only, but for these messages, which moved.
    const moved = [
      "envoy.api.v2.endpoint.LbEndpoint",
      "envoy.config.filter.network.thrift_proxy.v2alpha1.RouteConfiguration",
    ];
    expect(ofFiles.filter((name) => name === undefined || !moved.includes(name))).toEqual(
      api.types.flatMap(({ type, v2Twin }) =>
        moved.includes(twins.in("v2", type.slice(20)) ?? "") ? [] : [v2Twin?.slice(20)],
      ),
    );
  });

  test("every message of v3 that was in v2 can be converted, and the numbers of both agree in kind", () => {
    const kindOf = (field: DescMessage["fields"][number]): string =>
      field.message !== undefined ? "message" : field.enum !== undefined ? "enum" : String(field.scalar);
    const disagreeing = [...twins.pairs].flatMap(([name, previous]) => {
      convert(name, new Uint8Array());
      convert(previous, new Uint8Array());
      const of2019 = schema.message(previous);
      const fields = new Map(messageNamed(name).fields.map((field) => [field.number, field]));
      return (of2019?.fields ?? []).flatMap((field) => {
        const now = fields.get(field.number);
        return now === undefined || kindOf(now) === kindOf(field) ? [] : [`${name}.${field.name}`];
      });
    });
    expect([twins.pairs.size, disagreeing]).toEqual([expect.any(Number), []]);
    expect(twins.pairs.size).toBeGreaterThan(450);
  });

  test("what v2 can express comes back from v3 with equal bytes, but for what v3 has elsewhere, and is the same in v3 again", () => {
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
    let compared = 0;
    fc.assert(
      fc.property(messageOf(ofV2, ANYS_OF_V2), ([message, bytes]) => {
        const there = convert(message.typeName, bytes);
        const back = convert(there.name, there.bytes);
        expect(back.name).toBe(message.typeName);
        expect(hex(convert(back.name, back.bytes).bytes)).toBe(hex(there.bytes));
        const json = toJson(message, fromBinary(message, bytes), { registry: schema.registry });
        if (/"(tlsContext|hosts)":/.test(JSON.stringify(json))) return;
        compared++;
        expect(hex(back.bytes)).toBe(hex(bytes));
      }),
      { numRuns: runs },
    );
    expect(compared).toBeGreaterThan(runs / 2);
  });

  test("v3 comes back from v2 as it was, but for the version that sources are of, and v2 can read what it got", () => {
    const withoutVersions = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value, (key: string, inner: unknown) =>
          key === "resourceApiVersion" || key === "transportApiVersion" ? undefined : inner,
        ),
      );
    fc.assert(
      fc.property(messageOf(ofV3.map(messageNamed)), ([message, bytes]) => {
        const there = convert(message.typeName, bytes);
        fromBinary(messageNamed(there.name), there.bytes);
        const back = convert(there.name, there.bytes);
        const print = (content: Uint8Array): unknown =>
          withoutVersions(toJson(message, fromBinary(message, content), { registry: schema.registry }));
        expect(print(back.bytes)).toEqual(print(bytes));
      }),
      { numRuns: runs },
    );
  });

  test("damaged messages are converted, or an error says why not", () => {
    const chance = seededChance(7);
    const seeds = fc.sample(messageOf(ofV3.map(messageNamed)), { numRuns: 60, seed: 3 });
    const outcomes = { converted: 0, refused: 0 };
    const seedBytes = seeds.map(([, bytes]) => Buffer.from(bytes)).filter((bytes) => bytes.length > 0);
    for (let run = 0; run < Number(process.env["XDS_FUZZ_RUNS"] ?? 20_000); run++) {
      const name = ofV3[chance(ofV3.length)] ?? V3.cluster;
      const converted = converter.convert(url(name), mutate(seedBytes, chance));
      if (converted?.bytes === undefined) {
        outcomes.refused++;
        expect(converted?.findings).toMatchObject([{ code: "MESSAGE_MALFORMED", severity: "error" }]);
      } else outcomes.converted++;
    }
    expect(Math.min(outcomes.converted, outcomes.refused)).toBeGreaterThan(100);
  });

  test("messages nested without end are refused", () => {
    const rbac = "envoy.extensions.filters.http.rbac.v3.RBAC";
    const twin = twins.in("v2", rbac);
    expect(twin).toBeDefined();
    // Permission.not_rule in itself.
    let rule: Buffer = Buffer.from([0x18, 1]);
    for (let depth = 0; depth < 3_000; depth++) rule = field(8, rule);
    const entry = Buffer.concat([field(1, Buffer.from("p")), field(2, field(1, rule))]);
    const converted = converter.convert(url(rbac), field(1, field(2, entry)));
    expect(converted?.findings).toMatchObject([{ code: "MESSAGE_MALFORMED" }]);
  });
});

function field(number: number, content: Buffer): Buffer {
  const length: number[] = [];
  for (let rest = content.length; ; rest >>>= 7) {
    if (rest < 0x80) {
      length.push(rest);
      break;
    }
    length.push((rest & 0x7f) | 0x80);
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content]);
}
