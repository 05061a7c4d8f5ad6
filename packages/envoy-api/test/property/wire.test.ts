import {
  createBodyEncoder,
  createRequestReader,
  type DeltaRequestMessage,
  decodeConstraints,
  decodeDeltaResponse,
  decodeNode,
  decodeSotwResponse,
  encodeConstraints,
  encodeDeltaRequest,
  encodeDeltaResponse,
  encodeNode,
  encodeSotwRequest,
  encodeSotwResponse,
  type SotwRequestMessage,
} from "@xdskit/envoy-api/internal";
import { type Constraints, formatTypeUrl, type Node, type Resource } from "@xdskit/protocol";
import { type Body, canonicalName, locatedTerm, type Segment } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeAgainWithProtobufEs } from "../support/discovery-protos.ts";

const packageName = "envoy.service.discovery.v3";
const text = fc.string({ unit: "grapheme", maxLength: 20 });
const present = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
const bytes = fc.uint8Array({ maxLength: 200 });
const printable = fc.string({ unit: "grapheme-ascii", maxLength: 300 });

/** JSON as a Struct can hold it; keys that an object would put into another order are left out. */
const key = text.map((name) => `k${name}`);
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

const node: fc.Arbitrary<Node> = fc.record({
  id: text,
  cluster: text,
  metadata: fc.dictionary(key, json, { maxKeys: 4, noNullPrototype: true }),
  locality: fc.option(fc.record({ region: text, zone: text, subZone: text }), { nil: undefined }),
  userAgentName: text,
  userAgentVersion: text,
  clientFeatures: fc.array(text, { maxLength: 3 }),
});

const status = fc.record({
  code: fc.integer(),
  message: text,
  details: fc.array(fc.record({ typeUrl: text, value: bytes }), { maxLength: 2 }),
});
const parameters = fc.dictionary(key, text, { maxKeys: 3, noNullPrototype: true });
const locators = fc.array(fc.record({ name: text, dynamicParameters: parameters }), { maxLength: 3 });
const names = fc.array(text, { maxLength: 20 });

/** What the reader makes of a locator (B-LOC-11). */
function termOf({
  name,
  dynamicParameters = {},
}: {
  name: string;
  dynamicParameters?: Record<string, string>;
}): string {
  const values = new Map(Object.entries(dynamicParameters));
  return values.size === 0 ? name : locatedTerm(canonicalName(name), values);
}

const { constraints } = fc.letrec<{ constraints: Constraints }>((tie) => ({
  constraints: fc.oneof(
    { depthSize: "small" },
    fc.record({ kind: fc.constant("value" as const), key: text, value: text }),
    fc.record({ kind: fc.constant("exists" as const), key: text }),
    fc.record({ kind: fc.constant("not" as const), of: tie("constraints") }),
    fc.record({
      kind: fc.constantFrom("any" as const, "all" as const),
      of: fc.array(tie("constraints"), { maxLength: 3 }),
    }),
  ),
}));

const sotwRequest: fc.Arbitrary<SotwRequestMessage> = fc.record(
  {
    versionInfo: text,
    node,
    resourceNames: names,
    typeUrl: text,
    responseNonce: text,
    errorDetail: status,
    resourceLocators: locators,
  },
  { requiredKeys: [] },
);

const deltaRequest: fc.Arbitrary<DeltaRequestMessage> = fc.record(
  {
    node,
    typeUrl: text,
    resourceNamesSubscribe: names,
    resourceNamesUnsubscribe: names,
    initialResourceVersions: fc.uniqueArray(fc.tuple(key, text), { maxLength: 20, selector: ([name]) => name }),
    responseNonce: text,
    errorDetail: status,
    resourceLocatorsSubscribe: locators,
    resourceLocatorsUnsubscribe: locators,
  },
  { requiredKeys: [] },
);

const any = fc.record({ typeUrl: text, value: bytes });
const resourceName = fc.record({ name: text, dynamicParameterConstraints: bytes }, { requiredKeys: ["name"] });
const resourceErrors = fc.array(fc.record({ resourceName, errorDetail: status }), { maxLength: 3 });
const controlPlane = fc.option(text, { nil: undefined });

const sotwResponse = fc.record({
  versionInfo: text,
  resources: fc.array(any, { maxLength: 5 }),
  canary: fc.boolean(),
  typeUrl: text,
  nonce: text,
  controlPlane,
  resourceErrors,
});

const deltaResponse = fc.record({
  systemVersionInfo: text,
  resources: fc.array(
    fc.record({
      name: text,
      version: text,
      resource: fc.option(any, { nil: undefined }),
      aliases: names,
      ttlMs: fc.option(fc.integer({ min: -1_000_000, max: 1_000_000_000_000 }), { nil: undefined }),
      doNotCache: fc.boolean(),
      resourceName: fc.option(resourceName, { nil: undefined }),
      metadata: fc.option(bytes, { nil: undefined }),
    }),
    { maxLength: 5 },
  ),
  typeUrl: text,
  nonce: text,
  removedResources: names,
  controlPlane,
  removedResourceNames: fc.array(resourceName, { maxLength: 3 }),
  resourceErrors,
});

const orAbsent = (value: string | undefined): string | undefined => (value === "" ? undefined : value);

describe("what is encoded comes back", () => {
  test("a node", () => {
    fc.assert(
      fc.property(node, (value) => {
        expect(decodeNode(encodeNode(value))).toEqual(value);
      }),
    );
  });

  test("constraints", () => {
    fc.assert(
      fc.property(constraints, (value) => {
        const encoded = encodeConstraints(value);
        expect(decodeConstraints(encoded)).toEqual(value);
        const message = `${packageName}.DynamicParameterConstraints`;
        expect(Buffer.from(encodeAgainWithProtobufEs(message, encoded)).toString("hex")).toBe(
          Buffer.from(encoded).toString("hex"),
        );
      }),
    );
  });

  test("a DiscoveryRequest", () => {
    fc.assert(
      fc.property(sotwRequest, printable, (message, reason) => {
        const sent = { ...message, ...(message.errorDetail && { errorDetail: { code: 3, message: reason } }) };
        expect(createRequestReader("sotw").read(encodeSotwRequest(sent))).toMatchObject({
          node: sent.node,
          nonce: orAbsent(sent.responseNonce),
          versionInfo: orAbsent(sent.versionInfo),
          error: sent.errorDetail,
          names: [...(sent.resourceNames ?? []), ...(sent.resourceLocators ?? []).map(termOf)],
        });
      }),
    );
  });

  test("a DeltaDiscoveryRequest", () => {
    fc.assert(
      fc.property(deltaRequest, (message) => {
        const request = createRequestReader("delta").read(encodeDeltaRequest(message));
        expect({
          ...request,
          initialVersions: "initialVersions" in request && [...request.initialVersions],
        }).toMatchObject({
          node: message.node,
          nonce: orAbsent(message.responseNonce),
          subscribe: [
            ...(message.resourceNamesSubscribe ?? []),
            ...(message.resourceLocatorsSubscribe ?? []).map(termOf),
          ],
          unsubscribe: [
            ...(message.resourceNamesUnsubscribe ?? []),
            ...(message.resourceLocatorsUnsubscribe ?? []).map(termOf),
          ],
          initialVersions: [...(message.initialResourceVersions ?? [])],
        });
      }),
    );
  });

  test("a DiscoveryResponse", () => {
    fc.assert(
      fc.property(sotwResponse, (value) => {
        expect(decodeSotwResponse(encodeSotwResponse(value))).toEqual(value);
      }),
    );
  });

  test("a DeltaDiscoveryResponse", () => {
    fc.assert(
      fc.property(deltaResponse, (value) => {
        expect(decodeDeltaResponse(encodeDeltaResponse(value))).toEqual(value);
      }),
    );
  });
});

describe("what is encoded is what protobuf-es reads, and would write", () => {
  const again = (messageName: string, encoded: Uint8Array): void => {
    expect(encodeAgainWithProtobufEs(`${packageName}.${messageName}`, encoded)).toEqual(Buffer.from(encoded));
  };

  test("a DiscoveryRequest", () => {
    fc.assert(fc.property(sotwRequest, (message) => again("DiscoveryRequest", encodeSotwRequest(message))));
  });

  test("a DeltaDiscoveryRequest", () => {
    fc.assert(fc.property(deltaRequest, (message) => again("DeltaDiscoveryRequest", encodeDeltaRequest(message))));
  });

  test("a DiscoveryResponse", () => {
    fc.assert(
      fc.property(sotwResponse, (message) => {
        again("DiscoveryResponse", encodeSotwResponse({ ...message, resourceErrors: [] }));
      }),
    );
  });

  test("a DeltaDiscoveryResponse", () => {
    // Metadata and constraints are passed through unread, so random bytes in them are none that protobuf-es would take.
    const withoutRawBytes = deltaResponse.map((message) => ({
      ...message,
      resourceErrors: [],
      removedResourceNames: message.removedResourceNames.map(({ name }) => ({ name })),
      resources: message.resources.map((resource) => ({
        ...resource,
        metadata: undefined,
        resourceName: resource.resourceName && { name: resource.resourceName.name },
      })),
    }));
    fc.assert(fc.property(withoutRawBytes, (message) => again("DeltaDiscoveryResponse", encodeDeltaResponse(message))));
  });
});

describe("a body", () => {
  const type = formatTypeUrl("envoy.service.runtime.v3.Runtime");
  const resource: fc.Arbitrary<Resource> = fc.record({
    type: fc.constant(type),
    name: present,
    bytes: fc.oneof(
      { weight: 20, arbitrary: fc.integer({ min: 0, max: 5000 }).map((length) => new Uint8Array(length).fill(1)) },
      { weight: 1, arbitrary: fc.constant(new Uint8Array(40_000)) },
    ),
    aliases: fc.array(text, { maxLength: 2 }),
    ttlMs: fc.constant(undefined),
    doNotCache: fc.boolean(),
    metadata: fc.option(bytes, { nil: undefined }),
    onDemand: fc.boolean(),
    references: fc.constant([]),
    version: text,
    sum: fc.constant(0n),
  });
  /** One position of a list, as a part of its length, and what is put there; nothing deletes. */
  const edit = fc.record({
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    deleted: fc.integer({ min: 0, max: 2 }),
    put: fc.array(resource, { maxLength: 2 }),
  });

  const heldIn = (variant: Body["variant"], encoded: Uint8Array): unknown =>
    variant === "sotw"
      ? decodeSotwResponse(encoded).resources.map(({ value }) => value.length)
      : decodeDeltaResponse(encoded).resources.map((message) => ({
          ...message,
          resource: message.resource?.value.length,
        }));

  const said = (variant: Body["variant"], { puts, missing }: Segment): unknown =>
    variant === "sotw"
      ? puts.map((put) => put.bytes.length)
      : [
          ...puts.map(({ name, version, aliases, doNotCache, metadata, bytes: { length } }) => {
            return {
              name,
              version,
              resource: length,
              aliases,
              ttlMs: undefined,
              doNotCache,
              resourceName: undefined,
              metadata,
            };
          }),
          ...missing.map((name) => {
            return {
              name,
              version: "",
              resource: undefined,
              aliases: [name],
              ttlMs: undefined,
              doNotCache: false,
              resourceName: undefined,
              metadata: undefined,
            };
          }),
        ];

  test("holds what its segments say, however often the state was edited since the last one", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("sotw" as const, "delta" as const),
        fc.array(resource, { minLength: 0, maxLength: 150, size: "max" }),
        fc.array(edit, { maxLength: 6 }),
        fc.array(present, { maxLength: 3 }),
        (variant, start, edits, missing) => {
          const encoder = createBodyEncoder({ controlPlane: "cp" });
          let puts: readonly Resource[] = start;
          for (const { at, deleted, put } of [{ at: 0, deleted: 0, put: [] }, ...edits]) {
            puts = puts.toSpliced(Math.floor(at * puts.length), deleted, ...put);
            const segment = { puts, missing, removed: [] };
            const encoded = encoder.encode({ variant, type, version: "1", segments: [segment] });
            expect(heldIn(variant, Buffer.concat(encoded.chunks))).toEqual(said(variant, segment));
          }
        },
      ),
      { numRuns: 50 },
    );
  });
});
