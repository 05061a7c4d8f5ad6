/**
 * Reads a `DiscoveryRequest` in JSON, v2 and v3 alike: with JSON or proto names, `null` for absent fields, and any
 * number of unknown fields (B-RST-02, client-behaviours I1).
 */
import { anonymousNode, type Node, type Status } from "@xdskit/protocol";
import type { SotwRequest, Steps } from "@xdskit/protocol/internal";
import { setOwnProperty } from "../format/well-known.ts";
import { JsonScanner, VALUES_PER_STEP } from "./json-scanner.ts";
import { MAX_NODE_BYTES } from "./node.ts";
import { MAX_NAMES } from "./requested-names.ts";
import { parseRequestedType } from "./requested-type.ts";
import { printableText } from "./status.ts";
import { NodeSizeError } from "./wire-error.ts";

const MAX_FEATURES = 1_000;

type FieldReader = (scanner: JsonScanner, path: string) => Steps<void> | void;

/**
 * Decodes the body of a poll, in steps for a large one. The result does not refer to the bytes.
 *
 * @throws {WireError} with the position, if it is not such a request; a `NodeSizeError` if its node exceeds
 * `maxNodeBytes`
 */
export function* decodeJsonRequest(bytes: Uint8Array, maxNodeBytes: number = MAX_NODE_BYTES): Steps<SotwRequest> {
  const scanner = new JsonScanner(bytes);
  if (scanner.peek() !== "an object")
    scanner.fail(`expected a DiscoveryRequest, which is an object, got ${scanner.peek()}`);
  let versionInfo = "";
  let node: Node | undefined;
  const names: string[] = [];
  let typeText = "";
  let nonce = "";
  let error: Status | undefined;
  yield* readFields(scanner, "", {
    versionInfo: (at, path) => {
      versionInfo = readString(at, path);
    },
    *node(at, path) {
      node = yield* readNode(at, path, maxNodeBytes);
    },
    resourceNames: (at, path) => readStrings(at, path, names, MAX_NAMES),
    resourceLocators: (at, path) => readLocators(at, path, names),
    typeUrl: (at, path) => {
      typeText = readString(at, path);
    },
    responseNonce: (at, path) => {
      nonce = readString(at, path);
    },
    *errorDetail(at, path) {
      error = yield* readStatus(at, path);
    },
  });
  scanner.end();
  return {
    kind: "sotw",
    type: parseRequestedType(typeText),
    node,
    nonce: nonce === "" ? undefined : nonce,
    error,
    versionInfo: versionInfo === "" ? undefined : versionInfo,
    names,
  };
}

function* readNode(scanner: JsonScanner, path: string, maxBytes: number): Steps<Node> {
  const node: { -readonly [K in keyof Node]: Node[K] } = { ...anonymousNode };
  const clientFeatures: string[] = [];
  const fields: Readonly<Record<string, FieldReader>> = {
    id: (at, inner) => {
      node.id = readString(at, inner);
    },
    cluster: (at, inner) => {
      node.cluster = readString(at, inner);
    },
    metadata: (at, inner) => {
      node.metadata = readMetadata(at, inner);
    },
    *locality(at, inner) {
      node.locality = yield* readLocality(at, inner);
    },
    userAgentName: (at, inner) => {
      node.userAgentName = readString(at, inner);
    },
    userAgentVersion: (at, inner) => {
      node.userAgentVersion = readString(at, inner);
    },
    *userAgentBuildVersion(at, inner) {
      node.userAgentVersion = yield* readBuildVersion(at, inner);
    },
    clientFeatures: (at, inner) => readStrings(at, inner, clientFeatures, MAX_FEATURES),
  };
  yield* readFields(scanner, path, countBytes(fields, maxBytes));
  node.clientFeatures = clientFeatures;
  return node;
}

/** Wraps readers so that they throw once they have read more than `maxBytes` in total. */
function countBytes(fields: Readonly<Record<string, FieldReader>>, maxBytes: number): Record<string, FieldReader> {
  let bytes = 0;
  const counting = ([name, read]: readonly [string, FieldReader]): readonly [string, FieldReader] => [
    name,
    function* (scanner, path) {
      const start = scanner.position;
      const check = (): void => {
        const taken = bytes + scanner.position - start;
        if (taken > maxBytes) throw new NodeSizeError(taken, maxBytes);
      };
      yield* scanner.checking(check, () => read(scanner, path));
      check();
      bytes += scanner.position - start;
    },
  ];
  return Object.fromEntries(Object.entries(fields).map(counting));
}

function readMetadata(scanner: JsonScanner, path: string): Record<string, unknown> {
  expectKind(scanner, path, "an object");
  const metadata: Record<string, unknown> = {};
  for (const key of scanner.keys()) setOwnProperty(metadata, key, scanner.value());
  return metadata;
}

function* readLocality(scanner: JsonScanner, path: string): Steps<NonNullable<Node["locality"]>> {
  const locality = { region: "", zone: "", subZone: "" };
  const field =
    (name: keyof typeof locality): FieldReader =>
    (at, inner) => {
      locality[name] = readString(at, inner);
    };
  yield* readFields(scanner, path, { region: field("region"), zone: field("zone"), subZone: field("subZone") });
  return locality;
}

/** Returns "major.minor.patch"; "" without a version. */
function* readBuildVersion(scanner: JsonScanner, path: string): Steps<string> {
  let text = "";
  yield* readFields(scanner, path, {
    *version(at, inner) {
      const numbers = { majorNumber: 0, minorNumber: 0, patch: 0 };
      const field =
        (name: keyof typeof numbers): FieldReader =>
        (there, innermost) => {
          numbers[name] = readInteger(there, innermost);
        };
      yield* readFields(at, inner, {
        majorNumber: field("majorNumber"),
        minorNumber: field("minorNumber"),
        patch: field("patch"),
      });
      text = `${numbers.majorNumber}.${numbers.minorNumber}.${numbers.patch}`;
    },
  });
  return text;
}

function* readLocators(scanner: JsonScanner, path: string, names: string[]): Steps<void> {
  expectKind(scanner, path, "a list");
  for (const index of scanner.elements()) {
    let name = "";
    yield* readFields(scanner, `${path}[]`, {
      name: (at, inner) => {
        name = readString(at, inner);
      },
    });
    addName(scanner, path, names, name, MAX_NAMES);
    if (index % VALUES_PER_STEP === 0) yield;
  }
}

function* readStatus(scanner: JsonScanner, path: string): Steps<Status> {
  let code = 0;
  let message = "";
  yield* readFields(scanner, path, {
    code: (at, inner) => {
      code = readInteger(at, inner);
    },
    message: (at, inner) => {
      message = printableText(Buffer.from(readString(at, inner)));
    },
  });
  return { code, message };
}

/** Reads the fields of an object by JSON name or proto name, each at most once. Skips unknown ones. */
function* readFields(scanner: JsonScanner, path: string, readers: Readonly<Record<string, FieldReader>>): Steps<void> {
  if (path !== "") expectKind(scanner, path, "an object");
  const seen = new Set<string>();
  for (const key of scanner.keys()) {
    const name = key.includes("_") ? toJsonName(key) : key;
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (read === undefined) {
      yield* scanner.skip();
      continue;
    }
    const inner = path === "" ? key : `${path}.${key}`;
    if (seen.has(name)) scanner.fail(`expected the field "${inner}" once, got it twice`);
    seen.add(name);
    const steps = scanner.peek() === "null" ? scanner.skip() : read(scanner, inner);
    if (steps !== undefined) yield* steps;
  }
}

function toJsonName(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function readString(scanner: JsonScanner, path: string): string {
  expectKind(scanner, path, "a string");
  return scanner.string();
}

/** Numbers may be quoted. */
function readInteger(scanner: JsonScanner, path: string): number {
  const number = scanner.peek() === "a string" ? Number(scanner.string()) : readNumber(scanner, path);
  return Number.isSafeInteger(number) ? number : scanner.fail(`expected a whole number in "${path}"`);
}

function readNumber(scanner: JsonScanner, path: string): number {
  expectKind(scanner, path, "a number");
  return scanner.number();
}

function* readStrings(scanner: JsonScanner, path: string, strings: string[], most: number): Steps<void> {
  expectKind(scanner, path, "a list");
  for (const index of scanner.elements()) {
    addName(scanner, path, strings, readString(scanner, `${path}[]`), most);
    if (index % VALUES_PER_STEP === 0) yield;
  }
}

function addName(scanner: JsonScanner, path: string, names: string[], name: string, most: number): void {
  if (names.length >= most) scanner.fail(`expected at most ${most} in "${path}", got more`);
  names.push(name);
}

function expectKind(scanner: JsonScanner, path: string, kind: ReturnType<JsonScanner["peek"]>): void {
  const got = scanner.peek();
  if (got !== kind) scanner.fail(`expected ${kind} in "${path}", got ${got}`);
}
