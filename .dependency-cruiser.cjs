// SPDX-License-Identifier: Apache-2.0
// The layers of docs/architecture.md as rules (L2 and L5 look at names, so they are in eslint.config.js). Type imports count: they are dependencies of the reader too.
const { readdirSync, existsSync } = require("node:fs");
const { join } = require("node:path");

/** What a package may import besides itself: packages of the workspace, and packages from npm. */
const packages = {
  protocol: { workspace: [], npm: [] },
  "envoy-api": { workspace: ["protocol"], npm: ["@bufbuild/protobuf"] },
  disk: { workspace: [], npm: [] },
  source: { workspace: ["protocol", "envoy-api"], npm: ["typescript", "yaml"] },
  server: { workspace: ["protocol", "envoy-api", "disk", "source"], npm: ["@opentelemetry/api", "prom-client"] },
  "store-etcd": { workspace: ["server"], npm: ["@grpc/grpc-js"] },
  // Types of the admin API only; what is built is one script without imports.
  console: { workspace: ["server"], npm: ["preact"] },
  client: { workspace: ["protocol", "envoy-api", "disk"], npm: ["@grpc/grpc-js", "yaml"] },
  conformance: { workspace: ["protocol", "envoy-api", "server", "client"], npm: [] },
  cli: {
    workspace: ["protocol", "envoy-api", "disk", "source", "server", "client"],
    npm: ["commander", "picocolors", "pino", "yaml"],
  },
  bench: {
    workspace: ["protocol", "envoy-api", "server", "client", "conformance", "store-etcd"],
    npm: ["@grpc/grpc-js", "@grpc/grpc-js-xds", "@grpc/proto-loader"],
  },
};

/**
 * The folders of each src folder, and files that matter, in the order of the data path. An import stays in its place or
 * points to an earlier one; `index.ts` is always the last. Names in one string share a place. A file that is not listed
 * is bound by the other rules only.
 */
const orders = {
  protocol: [
    "problem",
    "resource",
    "node",
    "access",
    "message dialect",
    "state",
    "server/contract server/memory",
    "server/progress",
    "server/subscription",
    "server/ack server/cache",
    "server/type",
    "server/order",
    "server/admission",
    "server/stream server/poll",
    "server client",
    "load mesh",
    "control",
  ],
  "envoy-api": [
    "problem digest platform resources",
    "descriptor",
    "format",
    "validation",
    "wire",
    "encoding",
    "soundness",
    "conversion",
    "catalog",
    "envoy-api",
  ],
  disk: ["system-error timers presence", "holder make-directory", "file-lock"],
  source: ["problem quiet", "layout", "document secret", "settings", "directory", "off-thread module"],
  server: [
    "error source-places",
    "health-discovery",
    "ledger/lease",
    "ledger/store",
    "limits",
    "options",
    "access-rules node-rules transaction-rules",
    "option-rules",
    "check-options",
    "hub",
    "store",
    "ledger",
    "transport",
    "load",
    "observe",
    "status health",
    "state",
    "admin/answers",
    "workers",
    "admin admin/live admin/merge admin/routes admin/schema",
    "management-server",
    "create-server",
  ],
  "store-etcd": ["wire", "client", "layout", "store", "open"],
  console: [
    "api router format yaml text-diff revision condition use-repeated use-clock",
    "live use-answer use-history",
    "parts",
    "pages",
    "app",
    "main",
  ],
  client: [
    "error argument",
    "config",
    "resource",
    "reading transport",
    "options",
    "driver",
    "store routing observe",
    "watch",
    "mesh",
    "status load health",
    "side",
    "xds-client",
    "create-xds-client",
  ],
  conformance: [
    "content",
    "case client-case",
    "peer",
    "requirement",
    "cases",
    "play/driver",
    "play/observed",
    "play/client/driver",
    "target/target",
    "target/client-target",
    "play",
    "target",
    "main",
  ],
  cli: ["io exit-code version", "output", "settings", "discovery", "commands", "command-line", "run", "main"],
  bench: ["figures", "peer", "client console fleet hostile", "main", "soak"],
};

/** Only these files may touch what is named: the doors of the program. */
const doors = [
  {
    name: "L3-protobuf-stays-in-envoy-api",
    comment: "Above envoy-api a resource is { type, name, version, bytes }.",
    to: "(^|node_modules/)@bufbuild/protobuf",
    only: ["^packages/envoy-api/"],
  },
  {
    name: "L4-sockets-stay-in-transports",
    comment:
      "Sockets and HTTP are the business of transports, what hands connections to workers, the admin API and the peers.",
    to: "^(node:)?(net|tls|http|https|http2|dgram)$",
    only: [
      // Only `isIP` of node:net.
      "^packages/client/src/config/server-cluster",
      "^packages/server/src/(transport|admin|workers)/",
      // Only `isIP` of node:net.
      "^packages/server/src/expected-host",
      // Only `isIP`, the check of a certificate, and what is found out about an endpoint that refuses connections.
      "^packages/store-etcd/src/client/(etcd-client|endpoint|endpoint-fault|handshakes)",
      // A socket in the file system that says that a process lives.
      "^packages/disk/src/presence",
      "^packages/client/src/transport/",
      "^packages/client/src/health/check-tcp",
      "^packages/conformance/src/",
      "^packages/cli/src/",
      "^packages/bench/",
    ],
  },
  {
    name: "L4-http2-stays-in-grpc",
    comment: "gRPC is spoken in one folder of the server, and by the peers that connect to it.",
    to: "^(node:)?http2$",
    only: [
      "^packages/server/src/transport/",
      // Only whether an etcd speaks it without TLS.
      "^packages/store-etcd/src/client/endpoint-fault",
      "^packages/conformance/src/peer/",
      "^packages/cli/src/",
      "^packages/bench/",
    ],
  },
  {
    name: "L4-files-stay-at-the-edges",
    comment: "Reading and writing files is what source, disk and the cli are for; the rest is given bytes.",
    to: "^(node:)?fs(/promises)?$",
    only: [
      "^packages/source/src/",
      "^packages/disk/src/",
      "^packages/client/src/(config|store)/",
      "^packages/client/src/transport/(file|tls)/",
      "^packages/server/src/store/file",
      "^packages/server/src/ledger/(ledger|node-past|connected-node|store-copy)-files",
      // Keys of the ledger, and the certificates and keys of the connection to etcd.
      "^packages/store-etcd/src/(open|client/tls-files)",
      "^packages/server/src/transport/(grpc/)?tls",
      "^packages/server/src/transport/files/",
      // The mode of its socket.
      "^packages/server/src/admin/local-socket",
      // What the build of the console wrote.
      "^packages/server/src/admin/console",
      "^packages/envoy-api/src/platform\\.ts$",
      "^packages/cli/src/",
      "^packages/bench/",
      "^packages/conformance/src/",
    ],
  },
];

const isSource = "^packages/[^/]+/src/";
const isTest = ["\\.test\\.ts$", "^packages/[^/]+/test/", "^packages/[^/]+/tools/"];

function quoteForRegExp(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** A regular expression for everything of `name` that may not import what `to` says. */
function packageRules([name, allowed]) {
  const others = Object.keys(packages).filter((other) => other !== name && !allowed.workspace.includes(other));
  const npm = ["@xdskit/", ...allowed.npm].map(quoteForRegExp).join("|");
  return [
    {
      name: `L6-${name}-knows-only-its-neighbours`,
      comment: "The table of packages in docs/architecture.md.",
      severity: "error",
      from: { path: `^packages/${name}/src/`, pathNot: isTest },
      to: { path: `^packages/(${others.join("|")})/` },
    },
    {
      name: `L6-${name}-uses-only-its-dependencies`,
      comment: "Runtime dependencies are few, and each has its line in docs/decisions/0004-runtime-dependencies.md.",
      severity: "error",
      from: { path: `^packages/${name}/src/`, pathNot: isTest },
      to: { path: "node_modules/", pathNot: `node_modules/(${npm})` },
    },
  ];
}

function foldersOf(name, within = "") {
  const folder = join(__dirname, "packages", name, "src", within);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(join(folder, entry.name)).length > 0)
    .map((entry) => join(within, entry.name));
}

function orderRules([name, order]) {
  const listed = order.flatMap((place) => place.split(" "));
  // Where one folder within a folder has a place, all have.
  const divided = foldersOf(name).filter((entry) => listed.some((place) => foldersOf(name, entry).includes(place)));
  const folders = [...foldersOf(name), ...divided.flatMap((entry) => foldersOf(name, entry))];
  const missing = folders.filter((entry) => !listed.includes(entry));
  if (missing.length > 0) {
    throw new Error(
      `.dependency-cruiser.cjs: give ${missing.join(", ")} of packages/${name}/src a place in \`orders\``,
    );
  }
  const places = [...order, "index"].map((place) => place.split(" ").map(quoteForRegExp).join("|"));
  return places.slice(0, -1).map((place, index) => ({
    name: `L9-${name}-${order[index].replaceAll("/", "-").replaceAll(" ", "-")}-points-backward`,
    comment: `The order of packages/${name}/src is ${[...order, "index"].join(", ")}.`,
    severity: "error",
    from: {
      path: `^packages/${name}/src/(${place})(/|\\.ts$)`,
      // A file that has a place of its own leaves the place of its folder.
      pathNot: [...isTest, ...places.slice(0, index).map((earlier) => `^packages/${name}/src/(${earlier})(/|\\.ts$)`)],
    },
    to: {
      path: `^packages/${name}/src/(${places.slice(index + 1).join("|")})(/|\\.ts$)`,
      pathNot: places.slice(0, index + 1).map((earlier) => `^packages/${name}/src/(${earlier})(/|\\.ts$)`),
    },
  }));
}

module.exports = {
  forbidden: [
    {
      name: "L1-protocol-imports-nothing",
      comment: "The protocol is pure: no package, no built-in module.",
      severity: "error",
      from: { path: "^packages/protocol/src/", pathNot: isTest },
      to: { pathNot: "^packages/protocol/src/" },
    },
    {
      name: "L4-browsers-have-no-node",
      comment:
        "Resources are decoded in browsers too: what is needed of Node is in two files, each with a twin for browsers.",
      severity: "error",
      from: {
        path: "^packages/envoy-api/src/",
        pathNot: [...isTest, "^packages/envoy-api/src/(platform|digest)\\.ts$"],
      },
      to: { dependencyTypes: ["core"] },
    },
    ...doors.map(({ name, comment, to, only }) => ({
      name,
      comment,
      severity: "error",
      from: { path: isSource, pathNot: [...isTest, ...only] },
      to: { path: to },
    })),
    ...Object.entries(packages).flatMap(packageRules),
    {
      name: "L7-no-cycles",
      comment: "Type imports included: a cycle of types is a cycle for the reader.",
      severity: "error",
      from: { path: isSource },
      to: { circular: true },
    },
    {
      name: "L8-public-entry-only",
      comment: "Another package is imported by its name, never by a path into it.",
      severity: "error",
      from: { path: "^packages/([^/]+)/" },
      to: {
        path: "^packages/([^/]+)/",
        // Entries of their own.
        pathNot: [
          "^packages/$1/",
          "^packages/[^/]+/src/(index|internal)\\.ts$",
          "^packages/envoy-api/src/resources/index\\.ts$",
          "^packages/source/src/(checks|settings|thread)\\.ts$",
          "^packages/protocol/src/problem\\.ts$",
          "^packages/server/src/(envoy-dump|ledger-store)\\.ts$",
          "^packages/envoy-api/gen/messages\\.d\\.ts$",
        ],
      },
    },
    {
      name: "no-tests-in-sources",
      comment: "What is published does not import what tests it.",
      severity: "error",
      from: { path: isSource, pathNot: isTest },
      to: { path: isTest },
    },
    ...Object.entries(orders).flatMap(orderRules),
    {
      name: "resolves",
      comment: "Every import leads somewhere.",
      severity: "error",
      from: { path: isSource },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsConfig: { fileName: "tsconfig.test.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^packages/[^/]+/dist/" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["types", "import", "node", "default"] },
  },
};
