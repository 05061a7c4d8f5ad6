import { expect, test } from "vitest";
import { XdsClientError } from "../error.ts";
import { checkOptions } from "./check-options.ts";
import type { XdsClientOptions } from "./options.ts";

function check(options: unknown, environment: Readonly<Record<string, string>> = {}): unknown {
  try {
    checkOptions(options as XdsClientOptions, environment);
  } catch (error) {
    return error instanceof XdsClientError ? error.problems.map(({ path, message }) => `${path}: ${message}`) : error;
  }
  return [];
}

test("every mistake is told at once, and never what may be a secret", () => {
  const options = {
    server: ["somewhere"],
    bootstrap: "",
    transport: {
      rest: { refreshDelayMs: 0 },
      variant: "incremental",
      isAggregated: 1,
      tls: "yes",
      headers: { authorization: 7 },
      keepalive: { intervalMs: 0 },
    },
    node: 7,
    limits: {
      maxResponseBytes: 0.5,
      connectTimeoutMs: 2 ** 40,
      backOff: { baseMs: 10, maxMs: 5 },
      rateLimit: {},
    },
    dialect: { nackByVersion: true },
    validation: { validators: {} },
    reading: "yes",
    nodeId: "x",
    cache: { path: "", maxBytes: -1 },
    signal: {},
    onReport: "log",
  };
  expect(check(options)).toEqual([
    "server: expected host:port or a gRPC target such as unix:/run/xds.sock, or a list of at least one, got a list",
    'bootstrap: expected the path of a file, or its content as an object, got ""',
    "transport.rest.refreshDelayMs: expected a whole number from 1 to 2147483647, got 0",
    'transport.variant: expected one of sotw, delta, got "incremental"',
    "transport.isAggregated: expected true or false, got 1",
    'transport.tls: expected true, false or an object, got "yes"',
    "transport.headers.authorization: expected a string, got a value of type number",
    "transport.keepalive.intervalMs: expected a whole number from 1 to 2147483647, got 0",
    "transport.keepalive.timeoutMs: expected a whole number from 1 to 2147483647, got undefined",
    "node: expected an id, or an object, got 7",
    "limits.maxResponseBytes: expected a whole number from 1 to 2147483647, got 0.5",
    "limits.connectTimeoutMs: expected a whole number from 1 to 2147483647, got 1099511627776",
    "limits.backOff: expected baseMs above 0, and maxMs no smaller, got an object",
    "limits.rateLimit: expected maxTokens and tokensPerSecond above 0, got an object",
    "dialect.nackByVersion: unknown switch",
    "validation.validators: expected a list, got an object",
    'reading: expected an object, got "yes"',
    "nodeId: unknown option",
    'cache.path: expected the path of a file, got ""',
    "cache.maxBytes: expected a whole number from 1 to 9007199254740991, got -1",
    "signal: expected an AbortSignal, got an object",
    'onReport: expected a function, got "log"',
    "server: expected a server, a bootstrap or a file, got server and bootstrap",
  ]);
});

test("every field of the node is checked down to its values", () => {
  const node = {
    locality: { region: 5, sub_zone: "a" },
    metadata: { a: { b: [1, () => {}] }, d: new Date(0) },
    clientFeatures: [1],
    dynamicParameters: { t: { a: 1 } },
  };
  expect(check({ server: "a:1", node })).toEqual([
    "node.locality.region: expected a string, got 5",
    "node.locality.sub_zone: unknown field",
    "node.metadata.a.b[1]: expected a JSON value, got a function",
    "node.metadata.d: expected a JSON value, got an instance of Date",
    "node.clientFeatures: expected a list of strings, got a list",
    "node.dynamicParameters.t.a: expected a string, got a value of type number",
  ]);
});

test("the error says what was meant, and the variable that names a bootstrap", () => {
  expect(() => checkOptions({ server: "a:1", limits: { maxResponseByte: 1 } } as XdsClientOptions, {})).toThrow(
    'the configuration is not valid: limits.maxResponseByte: unknown option (did you mean "maxResponseBytes"?)',
  );
  expect(() => checkOptions({}, {})).toThrow(
    "server: expected a server, a bootstrap or a file, got none of them " +
      "(pass one, or set GRPC_XDS_BOOTSTRAP to the path of a gRPC bootstrap)",
  );
});

test.each([
  ["variant", "delta", "transport"],
  ["tls", true, "transport"],
  ["initialFetchTimeoutMs", 5, "limits"],
  ["backOff", { baseMs: 1, maxMs: 2 }, "limits"],
  ["nackPolicy", "apply-valid", "validation"],
  ["onWarning", () => {}, "reading"],
])("an option outside its group is refused, and the group named: %s", (name, value, group) => {
  expect(() => checkOptions({ server: "a:1", [name]: value } as XdsClientOptions, {})).toThrow(
    `the configuration is not valid: ${name}: unknown option (did you mean "${group}.${name}"?)`,
  );
});

test("checked options have no groups", () => {
  const options: XdsClientOptions = {
    server: "a:1",
    transport: { variant: "delta" },
    limits: { connectTimeoutMs: 7 },
    validation: { clientPgv: false },
    reading: { fileFormat: "json" },
  };
  expect(checkOptions(options, {})).toEqual({
    server: "a:1",
    variant: "delta",
    connectTimeoutMs: 7,
    clientPgv: false,
    fileFormat: "json",
  });
});

test("a client has to know where to start", () => {
  expect(check({})).toEqual(["server: expected a server, a bootstrap or a file, got none of them"]);
  expect([check({ file: "cds.yaml" }), check({ file: "" })]).toEqual([
    [],
    ['file: expected the path of a file, got ""'],
  ]);
  expect(check({}, { GRPC_XDS_BOOTSTRAP: "b.json" })).toEqual([]);
  expect(check({ bootstrap: "b.yaml", transport: { tls: true }, mode: "proxy" })).toEqual([
    "transport.tls: expected it in the bootstrap, where it is said of each server, got it as an option",
  ]);
});

test("a server is a host and a port, or a gRPC target of a kind that is known", () => {
  const good = [
    "xds:18000",
    "127.0.0.1:1",
    "[::1]:65535",
    "dns:///xds:443",
    "ipv4:127.0.0.1:1",
    "unix:x",
    "unix-abstract:x",
  ];
  expect(check({ server: good })).toEqual([]);
  for (const server of [
    "xds",
    "xds:",
    "127.0.0.1:18000:3",
    "::1:18000",
    "xds:0",
    "xds:65536",
    "https://xds:443",
    "[::1]",
    "",
    "unix:",
  ]) {
    const message = "expected host:port or a gRPC target such as unix:/run/xds.sock, or a list of at least one";
    expect(check({ server })).toEqual([`server: ${message}, got "${server}"`]);
  }
});
