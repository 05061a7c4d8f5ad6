import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { parse } from "yaml";
import { describeWith, peerCommand } from "../e2e/support/peers.ts";

const deploy = fileURLToPath(new URL("../../deploy/", import.meta.url));
const command = join(inject("project"), "node_modules/xdskit/bin/xds.js");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "xdskit-deploy-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function xds(...args: readonly string[]): string {
  return execFileSync(process.execPath, [command, ...args], { encoding: "utf8" });
}

/** Parses a list in a Dockerfile instruction, such as `CMD ["a", "b"]`. */
function listIn(dockerfile: string, word: string): readonly string[] {
  const [, list = ""] = new RegExp(`^ *${word} (\\[.*\\])$`, "m").exec(dockerfile) ?? [];
  return JSON.parse(list) as readonly string[];
}

describe("the Dockerfile", () => {
  const dockerfile = readFileSync(join(deploy, "docker/Dockerfile"), "utf8");

  it("starts what is installed", () => {
    expect(listIn(dockerfile, "ENTRYPOINT")).toEqual(["node", "/opt/xdskit/node_modules/xdskit/bin/xds.js"]);
    expect(listIn(dockerfile, "^CMD")).toEqual(["serve", "/config"]);
  });

  it("sets nothing but settings of xds", () => {
    const help = xds("serve", "--help");
    const names = [...dockerfile.matchAll(/\b(XDS_[A-Z_]+)=/g)].map(([, name = ""]) => name);
    expect(names.filter((name) => !help.includes(`[${name}]`))).toEqual([]);
    expect(names).toEqual(["XDS_STATE_DIR", "XDS_LISTEN", "XDS_ADMIN", "XDS_LOG_FORMAT"]);
  });

  it("has a health check that fails where nobody listens", () => {
    const [, flag = "", script = ""] = listIn(dockerfile, "CMD");
    const unused = script.replace("18001", "1");
    expect(unused).not.toBe(script);
    expect(spawnSync(process.execPath, [flag, unused]).status).toBe(1);
  });
});

interface Container {
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly name: string }[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
}

interface Probe {
  readonly httpGet: unknown;
}

interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly maxUnavailable?: number;
    readonly serviceName?: string;
    readonly volumeClaimTemplates?: unknown;
    readonly template: {
      readonly spec: {
        readonly containers: readonly [Container];
        readonly volumes: unknown;
      };
    };
  };
}

function render(values: object): { findings: unknown; manifests: ReadonlyMap<string, Manifest> } {
  const [program = "", ...args] = peerCommand("helm") ?? [];
  const text = execFileSync(program, [...args, join(deploy, "helm/xdskit"), JSON.stringify(values)], {
    encoding: "utf8",
  });
  const { findings, manifests } = JSON.parse(text) as { findings: unknown; manifests: Record<string, string> };
  const parsed = Object.entries(manifests).map(([path, yaml]) => [basename(path), parse(yaml) as Manifest] as const);
  return { findings, manifests: new Map(parsed.filter(([name, manifest]) => name.endsWith(".yaml") && manifest)) };
}

describeWith("helm", "the Helm chart", () => {
  it("has no findings but that it has no icon, and renders what serves and what is served", () => {
    const { findings, manifests } = render({});
    expect(findings).toEqual([{ severity: 1, path: "Chart.yaml", error: "icon is recommended" }]);
    expect([...manifests].map(([file, { kind }]) => `${file} ${kind}`).toSorted()).toEqual([
      "configmap.yaml ConfigMap",
      "poddisruptionbudget.yaml PodDisruptionBudget",
      "server.yaml Deployment",
      "service.yaml Service",
    ]);
  });

  it("starts xds with flags that it has, and with a directory that is valid", () => {
    const endpoints = [
      { lb_endpoints: [{ endpoint: { address: { socket_address: { address: "::1", port_value: 1 } } } }] },
    ];
    const web = {
      "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      ...{ name: "web", connect_timeout: "1s", load_assignment: { cluster_name: "web", endpoints } },
    };
    const config = { "web.yaml": JSON.stringify({ resources: [web] }) };
    const { manifests } = render({ config, tls: { secretName: "certificate" }, admin: { tls: { secretName: "ops" } } });
    const help = xds("serve", "--help");
    const { args } = manifests.get("server.yaml")?.spec.template.spec.containers[0] ?? { args: [] };
    expect(args).toEqual([
      ...["serve", "/config", "--listen=:18000", "--admin=:18001", "--log-format=json", "--state-dir=/state"],
      ...["--tls-cert=/tls/tls.crt", "--tls-key=/tls/tls.key"],
      ...["--admin-tls-cert=/admin-tls/tls.crt", "--admin-tls-key=/admin-tls/tls.key"],
      "--admin-tls-ca=/admin-tls/ca.crt",
    ]);
    const flags = args.slice(2).map((flag) => flag.split("=")[0] ?? "");
    expect(flags.filter((flag) => !help.includes(`${flag} <`))).toEqual([]);
    for (const [name, text] of Object.entries(manifests.get("configmap.yaml")?.data ?? {}))
      writeFileSync(join(folder, name), text);
    expect(xds("validate", folder, "--strict")).toContain("no problems");
  });

  it.each([
    ["HTTP", {}],
    ["HTTPS", { admin: { tls: { secretName: "ops" } } }],
  ])("probes speak %s where the admin API does", (scheme, values) => {
    const xdsContainer = render(values).manifests.get("server.yaml")?.spec.template.spec.containers[0];
    const probes = [xdsContainer?.startupProbe, xdsContainer?.readinessProbe, xdsContainer?.livenessProbe];
    expect(probes.map((probe) => probe?.httpGet)).toEqual(
      ["/livez", "/readyz", "/livez"].map((path) => ({ path, port: "admin", scheme })),
    );
  });

  it("takes a ConfigMap and certificates that are there", () => {
    const { manifests } = render({ existingConfigMap: "mine", tls: { secretName: "certificate" } });
    expect(manifests.has("configmap.yaml")).toBe(false);
    expect(manifests.get("server.yaml")?.spec.template.spec.volumes).toEqual([
      { name: "state", emptyDir: {} },
      { name: "config", configMap: { name: "mine" } },
      { name: "tls", secret: { secretName: "certificate" } },
    ]);
  });
});

describeWith("helm", "the Helm chart with a store", () => {
  const url = "etcd://etcd:2379/mesh?ca=/store/ca.crt";

  it("follows it, without a directory of its own", () => {
    const { manifests } = render({ store: { url } });
    expect(manifests.has("configmap.yaml")).toBe(false);
    const pods = manifests.get("server.yaml")?.spec.template.spec;
    expect(pods?.containers[0].args).toEqual([
      ...["serve", "--listen=:18000", "--admin=:18001", "--log-format=json", "--state-dir=/state", `--store=${url}`],
    ]);
    expect(pods?.volumes).toEqual([{ name: "state", emptyDir: {} }]);
  });

  it("publishes what it is given, and mounts what the URL names", () => {
    const { manifests } = render({ store: { url, secretName: "etcd" }, config: { "web.yaml": "resources: []" } });
    expect(manifests.get("configmap.yaml")?.data).toEqual({ "web.yaml": "resources: []" });
    const pods = manifests.get("server.yaml")?.spec.template.spec;
    expect(pods?.containers[0].args.slice(0, 2)).toEqual(["serve", "/config"]);
    expect(pods?.containers[0].volumeMounts).toEqual([
      { name: "state", mountPath: "/state" },
      { name: "config", mountPath: "/config", readOnly: true },
      { name: "store", mountPath: "/store", readOnly: true },
    ]);
    expect(pods?.volumes).toEqual([
      { name: "state", emptyDir: {} },
      { name: "config", configMap: { name: "mesh-xdskit" } },
      { name: "store", secret: { secretName: "etcd" } },
    ]);
  });

  it("keeps the copy of the ledger in a volume that outlives the pod", () => {
    const { manifests } = render({ store: { url }, state: { size: "1Gi", storageClassName: "fast" } });
    const { kind, spec } = manifests.get("server.yaml") ?? {};
    expect({ kind, claims: spec?.volumeClaimTemplates, volumes: spec?.template.spec.volumes }).toEqual({
      kind: "StatefulSet",
      claims: [
        {
          metadata: { name: "state" },
          spec: {
            accessModes: ["ReadWriteOnce"],
            storageClassName: "fast",
            resources: { requests: { storage: "1Gi" } },
          },
        },
      ],
      volumes: null,
    });
    expect(manifests.get("pod-names.yaml")?.kind).toBe("Service");
  });

  it.each([
    ["one pod at a time", 3, 1],
    ["nothing, where there is one", 1, undefined],
  ])("lets a drained node take %s", (_, replicas, maxUnavailable) => {
    const { manifests } = render({ replicas });
    expect(manifests.get("poddisruptionbudget.yaml")?.spec.maxUnavailable).toBe(maxUnavailable);
  });
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
describe.skipIf(!hasSystemd)(
  `the unit of systemd${hasSystemd ? "" : " (skipped: systemd-analyze is not installed)"}`,
  () => {
    it("is one that systemd finds nothing wrong with", () => {
      const unit = readFileSync(join(deploy, "systemd/xdskit.service"), "utf8");
      const file = join(folder, "xdskit.service");
      // systemd-analyze requires an existing program.
      writeFileSync(file, unit.replace("/usr/local/bin/xds", process.execPath));
      const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
      expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: "" });
    });
  },
);
