import { createEnvoyApi } from "@xdskit/envoy-api";
import { expect, test } from "vitest";
import { checkOptions } from "./check-options.ts";
import { XdsError } from "./error.ts";
import { defaultLimits, type Limits, limitNames } from "./limits.ts";
import type { ManagementServerOptions } from "./options.ts";

const api = createEnvoyApi();
const severity = "error";

test("every mistake is named at once", () => {
  const options: ManagementServerOptions = {
    api,
    listen: { host: "", port: 70_000 },
    admin: { port: -1 },
    tls: { cert: "", key: "k", requireClientCertificate: true },
    limits: { maxStreams: 0, keepaliveMs: 1.5, maxConnectionAgeMs: 2 ** 40, maxSteams: 1 } as Partial<Limits>,
  };
  expect(() => checkOptions(options)).toThrow(XdsError);
  expect(() => checkOptions(options)).toThrow(
    expect.objectContaining({
      code: "OPTIONS_INVALID",
      problems: [
        { severity, path: "listen.host", message: 'expected a host, got ""' },
        { severity, path: "listen.port", message: "expected a port from 0 to 65535, got 70000" },
        { severity, path: "admin.port", message: "expected a port from 0 to 65535, got -1" },
        { severity, path: "tls.cert", message: 'expected a file, got ""' },
        { severity, path: "tls.ca", message: "expected a file to check client certificates against, got nothing" },
        { severity, path: "limits.maxStreams", message: "expected a whole number from 1 to 9007199254740991, got 0" },
        { severity, path: "limits.keepaliveMs", message: "expected a whole number from 0 to 2147483647, got 1.5" },
        {
          severity,
          path: "limits.maxConnectionAgeMs",
          message: "expected a whole number from 0 to 2147483647, got 1099511627776",
        },
        { severity, path: "limits.maxSteams", message: "unknown option", hint: 'did you mean "maxStreams"?' },
      ],
    }),
  );
});

test("mistakes of listeners, switches and rules for clients are named with their place", () => {
  const options = {
    api,
    edition: "1999",
    dialect: { nackByVersions: true },
    listen: [{ port: 1 }, { host: "", edition: "old", tls: { cert: "", key: "k" }, dialect: { sticky: true } }],
    clientOverrides: [{ match: {} }, { match: {}, edition: "new" }],
  };
  const check = (): unknown => checkOptions(options as unknown as ManagementServerOptions);
  expect(check).toThrow(
    expect.objectContaining({
      problems: [
        { severity, path: "edition", message: 'expected one of 2018, 2020, 2021, current, got "1999"' },
        { severity, path: "dialect.nackByVersions", message: "unknown switch", hint: 'did you mean "nackByVersion"?' },
        { severity, path: "listen[1].host", message: 'expected a host, got ""' },
        { severity, path: "listen[1].edition", message: 'expected one of 2018, 2020, 2021, current, got "old"' },
        { severity, path: "listen[1].tls.cert", message: 'expected a file, got ""' },
        { severity, path: "listen[1].dialect.sticky", message: "unknown switch" },
        {
          severity,
          path: "clientOverrides[1].edition",
          message: 'expected one of 2018, 2020, 2021, current, got "new"',
        },
      ],
    }),
  );
  expect(() => checkOptions({ api, listen: [] })).toThrow(/listen: expected at least one address/);
});

test("defaults are filled in", () => {
  const checked = checkOptions({ api, limits: { maxStreams: 7 } });
  expect(checked).toMatchObject({
    listen: [{ host: "127.0.0.1", port: 0 }],
    admin: false,
    dialect: {},
    insecure: false,
    serveEmpty: false,
    controlPlane: "xdskit",
    limits: { ...defaultLimits, maxStreams: 7 },
  });
  expect(limitNames).toEqual(Object.keys(defaultLimits));
});

test("a field that is undefined has its default, as one that is absent", () => {
  const unset = undefined as never; // a program without exactOptionalPropertyTypes may pass it
  const checked = checkOptions({
    api,
    listen: { host: unset, port: unset, name: unset, tls: unset },
    admin: { host: unset, port: 1, names: unset, viewers: unset, operators: unset },
    rest: { holdMs: unset, maxHoldMs: unset },
    loadReports: { intervalMs: unset, endpoints: true },
    limits: { maxConnections: unset, maxStreams: 7 },
  });
  expect(checked).toMatchObject({
    listen: [{ host: "127.0.0.1", port: 0 }],
    admin: { host: "127.0.0.1", port: 1, names: [], viewers: [], operators: [] },
    rest: { holdMs: 800, maxHoldMs: 30_000, names: [] },
    loadReports: { intervalMs: 10_000, clusters: "all", endpoints: true },
    limits: { ...defaultLimits, maxStreams: 7 },
  });
});

test("S-NOD-06 nodes must say who they are when views depend on it", () => {
  const nodeMapping = () => ["base"];
  expect(checkOptions({ api, nodeMapping: nodeMapping }).dialect.requireNode).toBe(true);
  expect(checkOptions({ api, nodeMapping: nodeMapping, requireNode: false }).dialect.requireNode).toBe(false);
});

test("what is no option is refused by its name, wherever it is", () => {
  const options = {
    api,
    listn: {},
    listen: [{ prot: 1 }, { tls: { cert: "c", key: "k", chain: "x" } }],
    admin: { ports: 1 },
    rest: { hold: 1 },
    loadReports: { interval: 1 },
    files: [{ directory: "d", formt: "yaml" }],
    ledger: { fuses: { nodeMoved: "off" } },
  };
  const check = (): unknown => checkOptions(options as unknown as ManagementServerOptions);
  const message = "unknown option";
  expect(check).toThrow(
    expect.objectContaining({
      problems: [
        { severity, path: "listn", message, hint: 'did you mean "listen"?' },
        { severity, path: "listen[0].prot", message, hint: 'did you mean "port"?' },
        {
          ...{ severity, path: "listen[1].tls.chain", message },
          hint: "it may be cert, key, ca, crl, requireClientCertificate",
        },
        { severity, path: "admin.ports", message, hint: 'did you mean "port"?' },
        { severity, path: "rest.hold", message, hint: "it may be holdMs, maxHoldMs, names" },
        { severity, path: "loadReports.interval", message, hint: 'did you mean "intervalMs"?' },
        { severity, path: "files[0].formt", message, hint: 'did you mean "format"?' },
        { severity, path: "ledger.fuses.nodeMoved", message, hint: 'did you mean "nodesMoved"?' },
      ],
    }),
  );
});

test("an option in the wrong place is answered with its full path, in the message too", () => {
  expect(() => checkOptions({ api, port: 18_000 } as ManagementServerOptions)).toThrow(
    'the options are not valid: port: unknown option (did you mean "listen.port"?)',
  );
});

test("a value of the wrong kind is a problem, not a TypeError", () => {
  const problemsOf = (options: unknown): readonly string[] => {
    try {
      checkOptions(options as ManagementServerOptions);
    } catch (error) {
      if (error instanceof XdsError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
      throw error;
    }
    return [];
  };
  expect(problemsOf(18_200)).toEqual([": expected an object, got 18200"]);
  expect(problemsOf({ api: {}, healthDiscovery: { specifierFor: () => undefined } })).toEqual([
    "api: expected what createEnvoyApi makes, got an object",
    "healthDiscovery: expected an object with functions specifierFor and onHealth, got an object",
  ]);
  expect(problemsOf({ api, listen: "0.0.0.0:18200", limits: { maxStreams: 0 } })).toEqual([
    'listen: expected an object, or a list of objects, got "0.0.0.0:18200"',
    "limits.maxStreams: expected a whole number from 1 to 9007199254740991, got 0",
  ]);
  const wrong = {
    api,
    ...{ listen: [{ port: "1", host: 7, tls: "cert.pem" }], admin: 18_101, tls: [], rest: true, insecure: 1 },
    ...{ nodeMapping: "base", dialect: null, clientOverrides: {}, controlPlane: 5, limits: [], stateDir: 1 },
    ...{ files: "out", log: console.log, loadReports: { clusters: "some" }, v2: false, edition: 2021 },
  };
  expect(problemsOf(wrong)).toEqual([
    'listen[0].port: expected a port from 0 to 65535, got "1"',
    "listen[0].host: expected a host, got 7",
    'listen[0].tls: expected an object or false, got "cert.pem"',
    "admin: expected an object or false, got 18101",
    "tls: expected an object, got a list",
    "rest: expected an object or false, got true",
    "insecure: expected true or false, got 1",
    'nodeMapping: expected a function, or { groups: [...] }, got "base"',
    "dialect: expected an object, got null",
    "clientOverrides: expected a function, or a list of objects, got an object",
    "controlPlane: expected a string, got 5",
    "limits: expected an object, got a list",
    "stateDir: expected a string, got 1",
    'files: expected a list, got "out"',
    "log: expected consoleLog(), or an object with a function write, got a function",
    'loadReports.clusters: expected "all", or a list of strings, got "some"',
    "v2: expected one of convert, exact, off, got false",
    "edition: expected one of 2018, 2020, 2021, current, got 2021",
  ]);
});

test("roles of the admin API need TLS, a CA, and names with a kind", () => {
  const check = (): unknown =>
    checkOptions({
      api,
      admin: { tls: { cert: "c", key: "k" }, viewers: ["grafana"], operators: ["dns:ops.example"] },
    });
  expect(check).toThrow(
    expect.objectContaining({
      problems: [
        {
          severity,
          path: "admin.tls.ca",
          message: "expected a file to check client certificates against, got nothing: nobody could read",
        },
        {
          severity,
          path: "admin.viewers",
          message: 'expected dns:, uri:, ip:, email: or cn: and a name, got "grafana"',
        },
      ],
    }),
  );
  expect(() => checkOptions({ api, admin: { viewers: ["dns:a"] } })).toThrow(
    "admin.viewers: expected TLS (admin.tls) for names of certificates",
  );
});

test("a retention of nothing is a mistake", () => {
  expect(() => checkOptions({ api, ledger: { retention: { revisions: 0, days: 1.5 } } })).toThrow(
    "ledger.retention.revisions: expected a whole number from 1, got 0; ledger.retention.days: expected a whole number from 1, got 1.5",
  );
});
