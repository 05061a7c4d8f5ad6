import { createEnvoyApi } from "@xdskit/envoy-api";
import { expect, test } from "vitest";
import { checkOptions } from "./check-options.ts";
import { XdsError } from "./error.ts";
import { defaultLimits, type Limits, limitNames, type ManagementServerOptions } from "./options.ts";

const api = createEnvoyApi();

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
        { path: "listen.host", message: 'expected a host, got ""' },
        { path: "listen.port", message: "expected a port from 0 to 65535, got 70000" },
        { path: "admin.port", message: "expected a port from 0 to 65535, got -1" },
        { path: "tls.cert", message: "expected a file, got nothing" },
        { path: "tls.ca", message: "expected a file to check client certificates against, got nothing" },
        { path: "limits.maxStreams", message: "expected a whole number from 1 to 9007199254740991, got 0" },
        { path: "limits.keepaliveMs", message: "expected a whole number from 0 to 2147483647, got 1.5" },
        {
          path: "limits.maxConnectionAgeMs",
          message: "expected a whole number from 0 to 2147483647, got 1099511627776",
        },
        { path: "limits.maxSteams", message: "expected the name of a limit" },
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
        { path: "listen[1].host", message: 'expected a host, got ""' },
        { path: "listen[1].tls.cert", message: "expected a file, got nothing" },
        { path: "listen[1].edition", message: 'expected one of 2018, 2020, 2021, current, got "old"' },
        { path: "listen[1].dialect.sticky", message: "expected the name of a switch" },
        { path: "edition", message: 'expected one of 2018, 2020, 2021, current, got "1999"' },
        { path: "dialect.nackByVersions", message: "expected the name of a switch" },
        { path: "clientOverrides[1].edition", message: 'expected one of 2018, 2020, 2021, current, got "new"' },
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
  };
  const check = (): unknown => checkOptions(options as unknown as ManagementServerOptions);
  const message = "expected the name of an option";
  const paths = [
    ...["listn", "listen[0].prot", "listen[1].tls.chain", "admin.ports", "rest.hold", "loadReports.interval"],
    "files[0].formt",
  ];
  expect(check).toThrow(expect.objectContaining({ problems: paths.map((path) => ({ path, message })) }));
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
          path: "admin.tls.ca",
          message: "expected a file to check client certificates against, got nothing: nobody could read",
        },
        { path: "admin.viewers", message: 'expected dns:, uri:, ip:, email: or cn: and a name, got "grafana"' },
      ],
    }),
  );
  expect(() => checkOptions({ api, admin: { viewers: ["dns:a"] } })).toThrow(
    "admin.viewers: expected TLS (admin.tls) for names of certificates",
  );
});
