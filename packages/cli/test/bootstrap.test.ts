import { createEnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";

const api = createEnvoyApi();

const cells = ["v2", "v3"].flatMap((version) =>
  ["file", "rest", "grpc", "delta", "ads", "ads-delta"].map((transport) => ({ version, transport })),
);

async function printed(...flags: readonly string[]): Promise<string> {
  const io = new CapturedIo();
  expect([await run(["bootstrap", "envoy", ...flags], io), io.stderr.text]).toEqual([0, ""]);
  return io.stdout.text;
}

describe("bootstraps of Envoy", () => {
  test("S-CFG-10 every cell of transport and version is printed, and is a bootstrap by that version's descriptors", async () => {
    const server = ["--server", "xds.example:18000", "--ca", "ca.pem", "--cert", "a.pem", "--key", "a.key"];
    const who = ["--locality", "region/zone/sub-zone", "--metadata", "group=edge"];
    for (const { version, transport } of cells) {
      const where = transport === "file" ? ["--files", "/etc/envoy/xds"] : server;
      const flags = ["--transport", transport, ...(version === "v2" ? ["--v2"] : []), ...where, ...who];
      const bootstrap = JSON.parse(await printed(...flags, "--output", "json"));
      expect(parse(await printed(...flags))).toEqual(bootstrap);
      const type = formatTypeUrl(`envoy.config.bootstrap.${version}.Bootstrap`);
      const { input, problems } = api.readResource({ "@type": type, ...bootstrap }, { name: "bootstrap" });
      expect([version, transport, problems]).toEqual([version, transport, []]);
      expect(api.validate(type, input?.bytes ?? new Uint8Array())).toEqual([]);
    }
  });

  test("what is new in v3 stands in none of v2", async () => {
    const ofV2 = cells.filter(({ version }) => version === "v2");
    const texts = await Promise.all(
      ofV2.map(({ transport }) => {
        const where = transport === "file" ? ["--files", "/x"] : [];
        return printed("--transport", transport, "--v2", ...where);
      }),
    );
    expect(texts.join("")).not.toMatch(/V3|v3|path_config_source|typed_extension|set_node_on_first/);
  });
});
