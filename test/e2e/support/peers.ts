import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";

/** The root of the repository. */
export const root: string = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");

/** The current gRPC clients. */
export const grpcClients = ["grpc-python", "grpc-node", "grpc-go", "grpc-java"] as const;
/** The last gRPC clients that use v2 unless their bootstrap has `xds_v3`. */
export const grpcV2Clients = ["grpc-python-v2", "grpc-go-v2", "grpc-java-v2"] as const;
export type GrpcV2ClientName = (typeof grpcV2Clients)[number];
/** Every program that speaks the protocol of `test/e2e/clients/README.md`. */
export type GrpcClientName = (typeof grpcClients)[number] | GrpcV2ClientName | "junction";
export type PeerName =
  | GrpcClientName
  | "envoy"
  | "route-descriptors"
  | "node-24"
  | "node-26"
  | "helm"
  | "chromium"
  | "h2spec"
  | "testssl"
  | "buildah"
  | "promtool"
  | "zsh"
  | "fish"
  | "etcd"
  | "etcd-with-clock"
  | "toxiproxy"
  | "porcupine"
  | "libfaketime";

export function speaksV2(name: PeerName): name is GrpcV2ClientName {
  return grpcV2Clients.some((one) => one === name);
}

/** The command that starts a peer; undefined if it is not installed. */
export function peerCommand(name: PeerName): readonly string[] | undefined {
  if (name === "envoy") {
    const named = process.env["ENVOY_BIN"];
    if (named !== undefined && named !== "") return [named];
    const found = commands.get("envoy") ?? findOnPath("envoy");
    return found;
  }
  return commands.get(name);
}

/**
 * Describes tests that need a peer. They are skipped without it, and the title says so; with `XDS_E2E_REQUIRE=1`, they
 * fail.
 */
export function describeWith(peer: PeerName, title: string, body: () => void): void {
  if (peerCommand(peer) !== undefined) describe(title, body);
  else if (process.env["XDS_E2E_REQUIRE"] === "1") {
    describe(title, () => {
      throw new Error(`${peer} is not installed: node tools/peers/install.mjs ${peer}`);
    });
  } else describe.skip(`${title} (skipped: ${peer} is not installed)`, body);
}

const commands = readInstalled();

function readInstalled(): ReadonlyMap<string, readonly string[]> {
  const listed = spawnSync(process.execPath, [join(root, "tools/peers/install.mjs"), "--list"], { encoding: "utf8" });
  if (listed.status !== 0) throw new Error(`the list of installed peers cannot be read: ${listed.stderr}`);
  const rows = JSON.parse(listed.stdout) as readonly { name: string; command?: readonly string[] }[];
  return new Map(rows.flatMap((row) => (row.command === undefined ? [] : [[row.name, row.command] as const])));
}

function findOnPath(program: string): readonly string[] | undefined {
  const found = (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((directory) => join(directory, program))
    .find((file) => existsSync(file));
  return found === undefined ? undefined : [found];
}
