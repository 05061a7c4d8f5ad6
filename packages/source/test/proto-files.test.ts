import { createEnvoyApi } from "@xdskit/envoy-api";
import { encodeDeltaResponse, encodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl, type Resource } from "@xdskit/protocol";
import { createDirectorySource } from "@xdskit/source";
import { expect, test } from "vitest";
import { cluster, temporaryDirectory } from "./support/temporary-directory.ts";

const api = createEnvoyApi();
const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const WRAPPER = formatTypeUrl("envoy.service.discovery.v3.Resource");

async function resourceOf(text: string): Promise<Resource> {
  const { state } = await createDirectorySource({ directory: temporaryDirectory({ "a.yaml": text }), api }).load();
  const [resource] = state?.layers.get("base") ?? [];
  if (resource === undefined) throw new Error("no resource");
  return resource;
}

function response(resources: readonly { typeUrl: string; value: Uint8Array }[]): Uint8Array {
  return encodeSotwResponse({ versionInfo: "1", resources, typeUrl: CLUSTER, nonce: "n" });
}

/** A `Resource` around a body, encoded: what a delta response holds behind a tag and a length. */
function wrapped(fields: Parameters<typeof encodeDeltaResponse>[0]["resources"]): Uint8Array {
  const encoded = encodeDeltaResponse({ resources: fields ?? [] });
  const start = encoded.findIndex((byte, index) => index > 0 && byte < 128) + 1;
  return encoded.subarray(start);
}

test("a binary response holds the same resources as the YAML they were made from, byte by byte", async () => {
  const a = await resourceOf(cluster("a"));
  const unknownField = Uint8Array.from([...a.bytes, 0xf8, 0xff, 0x07, 0x01]); // field 16383: newer than what we know
  const directory = temporaryDirectory({
    "a.pb": response([{ typeUrl: a.type, value: a.bytes }]),
    "groups/g/a.pb": response([{ typeUrl: a.type, value: unknownField }]),
  });
  const { state } = await createDirectorySource({ directory, api }).load();
  expect(state?.layers.get("base")).toEqual([a]);
  expect(state?.layers.get("group/g")?.map(({ name, bytes }) => [name, [...bytes]])).toEqual([
    ["a", [...unknownField]],
  ]);
});

test("a binary response holds errors in place of resources, and says what is wrong with them", async () => {
  const errorOf = (name: string, code: number): object => ({
    resourceName: { name },
    errorDetail: { code, message: "why", details: [] },
  });
  const file = (...resourceErrors: readonly object[]): Uint8Array =>
    encodeSotwResponse({ typeUrl: CLUSTER, ...({ resourceErrors } as object) });
  const good = temporaryDirectory({ "a.pb": file(errorOf("x", 7)) });
  const { state } = await createDirectorySource({ directory: good, api }).load();
  expect(state?.layers.get("base")?.map(({ type, name, error }) => ({ type, name, error }))).toEqual([
    { type: CLUSTER, name: "x", error: { code: 7, message: "why" } },
  ]);
  const bad = temporaryDirectory({ "a.pb": file(errorOf("x", 0), errorOf("*", 7)) });
  const { problems } = await createDirectorySource({ directory: bad, api }).load();
  expect(problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
    "RESOURCE_ERROR_INVALID resource_errors[0].error_detail.code",
    "RESOURCE_ERROR_INVALID resource_errors[1].resource_name.name",
  ]);
});

test("a Resource around a resource gives its name, aliases and time to live, also to a type that is not known", async () => {
  const a = await resourceOf(cluster("a"));
  const directory = temporaryDirectory({
    "a.pb": response([
      {
        typeUrl: WRAPPER,
        value: wrapped([{ name: "a", aliases: ["b"], ttlMs: 1500, resource: { typeUrl: CLUSTER, value: a.bytes } }]),
      },
      {
        typeUrl: WRAPPER,
        value: wrapped([
          { name: "own", resource: { typeUrl: "type.googleapis.com/my.Own", value: Uint8Array.of(8, 1) } },
        ]),
      },
    ]),
  });
  const { state, problems } = await createDirectorySource({ directory, api }).load();
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(state?.layers.get("base")?.map(({ type, name, aliases, ttlMs }) => ({ type, name, aliases, ttlMs }))).toEqual([
    { type: CLUSTER, name: "a", aliases: ["b"], ttlMs: 1500 },
    { type: "type.googleapis.com/my.Own", name: "own", aliases: [], ttlMs: undefined },
  ]);
});

test("other bytes, a file that is cut off and resources without a type are refused", async () => {
  const a = await resourceOf(cluster("a"));
  const whole = response([{ typeUrl: a.type, value: a.bytes }]);
  const directory = temporaryDirectory({
    "cut.pb": whole.subarray(0, -1),
    "text.pb": cluster("a"),
    "untyped.pb": response([{ typeUrl: "", value: a.bytes }]),
    "wrong.pb": response([{ typeUrl: CLUSTER, value: Uint8Array.of(10, 200) }]),
  });
  const { problems } = await createDirectorySource({ directory, api }).load();
  expect(problems.map(({ file, code, path }) => [file, code, path])).toEqual([
    ["cut.pb", "PROTO_MALFORMED", undefined],
    ["text.pb", "PROTO_MALFORMED", undefined],
    ["untyped.pb", "TYPE_MISSING", "resources[0]"],
    ["wrong.pb", "MESSAGE_MALFORMED", "resources[0]"],
  ]);
});
