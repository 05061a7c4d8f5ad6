import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource } from "@xdskit/source";
import { expect, test } from "vitest";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const api = createEnvoyApi();
const url = (name: string): string => `type.googleapis.com/envoy.${name}`;
const secret = (name: string, filename: string): object => ({
  "@type": url("extensions.transport_sockets.tls.v3.Secret"),
  name,
  tls_certificate: { certificate_chain: { filename }, private_key: { inline_string: "not looked at" } },
});

/** Resources with a mistake for each kind of text that names fields. */
const files = {
  "cluster.json": {
    "@type": url("config.cluster.v3.Cluster"),
    name: "c",
    type: "EDS",
    eds_cluster_config: { eds_config: { resource_api_version: "V3" } },
    track_timeout_budgets: true,
  },
  "missing.json": secret("missing", "none.pem"),
  "other.json": secret("other", "text.pem"),
  "routes.json": {
    "@type": url("config.route.v3.RouteConfiguration"),
    name: "rc",
    vhds: { config_source: { ads: {}, resource_api_version: "V3" } },
  },
};

const told = [
  ["PGV_REQUIRED", "expected one of path, path_config_source, api_config_source, ads, self, got none"],
  [
    "VERSION_LOSS",
    "v2, as it was in 2019, has no field track_timeout_budgets in envoy.api.v2.Cluster: clients of that time pass over it",
  ],
  [
    "ROUTE_BASE_HOSTS_MISSING",
    "put one outside of a folder on-demand, or set vhds.config_source.initial_fetch_timeout to 0.001s",
  ],
  ["SECRET_FILE_MISSING", 'expected a file for certificate_chain: found no file "none.pem"'],
  ["SECRET_PEM_INVALID", "expected certificates in PEM for certificate_chain, got none"],
] as const;

const toJson = (text: string): string => text.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

test.each([
  ["proto", (text: string) => text],
  ["ProtoJSON", toJson],
])("problems name fields as the file does: %s", async (_, spell) => {
  const texts = Object.entries(files).map(([file, resource]) => [
    file,
    JSON.stringify(resource).replaceAll(/"[a-z_]+":/g, (key) => spell(key)),
  ]);
  const directory = temporaryDirectory({ ...Object.fromEntries(texts), "text.pem": "hello" });
  const { problems } = await createDirectorySource({ directory, api, findsVersionLoss: true }).load();
  const naming = problems.filter(({ code }) => code !== "RESOURCE_UNUSED");
  expect(
    naming.map(({ code, message, hint }) => [code, code === "ROUTE_BASE_HOSTS_MISSING" ? hint : message]).sort(),
  ).toEqual(told.map(([code, text]) => [code, spell(text)]).sort());
});
