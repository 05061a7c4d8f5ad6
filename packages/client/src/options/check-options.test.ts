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
    rest: { refreshDelayMs: 0 },
    variant: "incremental",
    isAggregated: 1,
    node: 7,
    tls: "yes",
    headers: { authorization: 7 },
    keepalive: { intervalMs: 0 },
    maxResponseBytes: 0.5,
    connectTimeoutMs: 2 ** 40,
    backOff: { baseMs: 10, maxMs: 5 },
    rateLimit: {},
    dialect: { nackByVersion: true },
    validators: {},
    nodeId: "x",
    cache: { path: "", maxBytes: -1 },
    signal: {},
    onReport: "log",
  };
  expect(check(options)).toEqual([
    "server: expected host:port, or a list of at least one, got something else",
    'bootstrap: expected the path of a file, or its content as an object, got ""',
    "rest.refreshDelayMs: expected a whole number from 1 to 2147483647, got 0",
    'variant: expected one of sotw, delta, got "incremental"',
    "isAggregated: expected true or false, got 1",
    "node: expected an id, or an object, got 7",
    'tls: expected true, false or an object, got "yes"',
    "headers: expected an object of texts, got something else",
    "keepalive.intervalMs: expected a whole number from 1 to 2147483647, got 0",
    "keepalive.timeoutMs: expected a whole number from 1 to 2147483647, got undefined",
    "maxResponseBytes: expected a whole number from 1 to 2147483647, got 0.5",
    "connectTimeoutMs: expected a whole number from 1 to 2147483647, got 1099511627776",
    "backOff: expected baseMs above 0, and maxMs no smaller, got something else",
    "rateLimit: expected maxTokens and tokensPerSecond above 0, got something else",
    "validators: expected a list, got something else",
    "nodeId: unknown option",
    'cache.path: expected the path of a file, got ""',
    "cache.maxBytes: expected a whole number from 1 to 9007199254740991, got -1",
    "signal: expected an AbortSignal, got something else",
    'onReport: expected a function, got "log"',
    "server: expected a server, a bootstrap or a file, got server and bootstrap",
    "dialect.nackByVersion: unknown switch",
  ]);
});

test("the error says what was meant, and the variable that names a bootstrap", () => {
  expect(() => checkOptions({ server: "a:1", maxResponseByte: 1 } as XdsClientOptions, {})).toThrow(
    'the configuration is not valid: maxResponseByte: unknown option (did you mean "maxResponseBytes"?)',
  );
  expect(() => checkOptions({}, {})).toThrow(
    "server: expected a server, a bootstrap or a file, got none of them " +
      "(pass one, or set GRPC_XDS_BOOTSTRAP to the path of a gRPC bootstrap)",
  );
});

test("a client has to know where to start", () => {
  expect(check({})).toEqual(["server: expected a server, a bootstrap or a file, got none of them"]);
  expect([check({ file: "cds.yaml" }), check({ file: "" })]).toEqual([
    [],
    ['file: expected the path of a file, got ""'],
  ]);
  const good = ["localhost:18000", "unix:/run/xds.sock", "dns:///xds.example.com:443", "[::1]:18000"];
  expect(check({}, { GRPC_XDS_BOOTSTRAP: "b.json" })).toEqual([]);
  expect(check({ server: "https://xds.example.com:443" })).toEqual([
    'server: expected host:port, or a list of at least one, got "https://xds.example.com:443"',
  ]);
  expect(check({ bootstrap: "b.yaml", tls: true, mode: "proxy" })).toEqual([
    "tls: expected it in the bootstrap, where it is said of each server, got it as an option",
  ]);
  expect(good.map((server) => check({ server }))).toEqual([[], [], [], []]);
});
