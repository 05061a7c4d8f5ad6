import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { longestFirst } from "./vitest.sequencer.ts";

const source = (name: string, entry = "index"): string =>
  fileURLToPath(new URL(`./packages/${name}/src/${entry}.ts`, import.meta.url));

/** What holds for all tests of the packages, on whatever HTTP/2. */
export const shared = {
  globalSetup: [fileURLToPath(new URL("./vitest.global-setup.ts", import.meta.url))],
  setupFiles: [fileURLToPath(new URL("./vitest.setup.ts", import.meta.url))],
  // Servers that tests start as processes keep what they keep there.
  env: { XDG_STATE_HOME: join(tmpdir(), `xdskit-test-${process.pid}`) },
  testTimeout: 60_000,
  // One more than there are cores: tests with processes and sockets mostly wait.
  maxWorkers: availableParallelism() + 1,
};

/** Unit tests leave nothing behind in the process. */
const units = "packages/*/src/**/*.test.ts";
/** Other files that leave nothing behind, but for sockets that close while the next one begins. */
const together = ["packages/{client,envoy-api,server}/test/**/*.test.ts", "packages/protocol/test/*.test.ts"];
/** Of those, the ones that change tables of the product, stop the clock or measure their process. */
const notTogether = [
  "client/test/file",
  "server/test/admin/live",
  "server/test/one-row",
  "server/test/wire/close-while-starting",
  "server/test/wire/packed-frames",
  "server/test/wire/unread-bytes",
].map((name) => `packages/${name}.test.ts`);

/** The next file finds the modules loaded: to load them anew for each takes longer than most tests. */
const inOneProcess = { isolate: false, restoreMocks: true };

export default defineConfig({
  resolve: {
    alias: {
      "@xdskit/protocol/internal": source("protocol", "internal"),
      "@xdskit/protocol/problem": source("protocol", "problem"),
      "@xdskit/envoy-api/internal": source("envoy-api", "internal"),
      "@xdskit/protocol": source("protocol"),
      "@xdskit/envoy-api/resources": source("envoy-api", "resources/index"),
      "@xdskit/envoy-api": source("envoy-api"),
      "@xdskit/disk": source("disk"),
      "@xdskit/source/checks": source("source", "checks"),
      "@xdskit/source/settings": source("source", "settings"),
      "@xdskit/source/thread": source("source", "thread"),
      "@xdskit/source": source("source"),
      "@xdskit/server/envoy-dump": source("server", "envoy-dump"),
      "@xdskit/server/internal": source("server", "internal"),
      "@xdskit/server/ledger-store": source("server", "ledger-store"),
      "@xdskit/store-etcd": source("store-etcd"),
      "@xdskit/server": source("server"),
      "@xdskit/client": source("client"),
      "@xdskit/conformance": source("conformance"),
    },
  },
  test: {
    ...shared,
    sequence: {
      sequencer: longestFirst([
        "packages/store-etcd/test/faults",
        "packages/protocol/test/property",
        "packages/cli/test/workers",
        "packages/cli/test/check",
        "packages/server/test/files/order",
      ]),
    },
    projects: [
      { extends: true, test: { ...inOneProcess, name: "units", include: [units] } },
      {
        extends: true,
        test: {
          ...inOneProcess,
          name: "together",
          include: together,
          exclude: [...configDefaults.exclude, ...notTogether],
        },
      },
      {
        extends: true,
        test: {
          name: "apart",
          include: [
            ...notTogether,
            "packages/{bench,cli,conformance,console,disk,source,store-etcd}/test/**/*.test.ts",
            "packages/protocol/test/property/*.test.ts",
            "examples/**/*.test.ts",
          ],
        },
      },
    ],
  },
});
