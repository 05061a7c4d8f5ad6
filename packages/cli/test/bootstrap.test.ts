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

  test.each([
    [
      "a DNS name",
      ["--server", "xds.example:18000"],
      { sni: "xds.example" },
      { san_type: "DNS", exact: "xds.example" },
    ],
    ["an IPv4 address", ["--server", "10.0.0.1:18000"], {}, { san_type: "IP_ADDRESS", exact: "10.0.0.1" }],
    ["an IPv6 address", ["--server", "[2001:DB8:0:0::1]:1"], {}, { san_type: "IP_ADDRESS", exact: "2001:db8::1" }],
    [
      "a name of its own",
      ["--server", "10.0.0.1:18000", "--server-name", "xds.example"],
      { sni: "xds.example" },
      { san_type: "DNS", exact: "xds.example" },
    ],
  ])("over TLS, Envoy accepts only the server's certificate, by %s", async (_, flags, sni, { san_type, exact }) => {
    const types = { v2: "api.v2.auth", v3: "extensions.transport_sockets.tls.v3" };
    for (const { version, transport } of cells.filter((cell) => cell.transport !== "file")) {
      const old = version === "v2" ? ["--v2"] : [];
      const text = await printed("--transport", transport, ...old, ...flags, "--ca", "/ca.pem");
      const names =
        version === "v2"
          ? { verify_subject_alt_name: [exact] }
          : { match_typed_subject_alt_names: [{ san_type, matcher: { exact } }] };
      expect(parse(text).static_resources.clusters[0].transport_socket.typed_config).toEqual({
        "@type": `type.googleapis.com/envoy.${types[version as "v2" | "v3"]}.UpstreamTlsContext`,
        ...sni,
        common_tls_context: {
          validation_context: { trusted_ca: { filename: "/ca.pem" }, ...names },
          alpn_protocols: [transport === "rest" ? "http/1.1" : "h2"],
        },
      });
    }
  });
});
