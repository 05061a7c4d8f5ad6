import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test("xds nodes asks at the local socket of a server", async () => {
  const site = await Site.make({ "a.yaml": clusters("a") });
  cleanups.push(() => site.remove());
  const socket = join(site.directory, "admin.sock");
  const serving = await Serving.start(site, ["--admin-socket", socket]);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  const io = new CapturedIo({ env: { NO_COLOR: "1" } });
  expect(await run(["nodes", "-o", "json", "--admin", `unix:${socket}`], io)).toBe(0);
  expect(JSON.parse(io.stdout.text)).toEqual({ items: [], total: 0 });
  const nowhere = new CapturedIo({ env: { NO_COLOR: "1", XDS_ADMIN_SERVER: `unix:${socket}.none` } });
  expect(await run(["nodes"], nowhere)).toBe(69);
  expect(nowhere.stderr.text).toBe(
    `xds: cannot reach the admin API at unix:${socket}.none: connect ENOENT ${socket}.none\nhint: is \`xds serve\` running? --admin says where\n`,
  );
});

test.each([
  [
    ["--admin-viewers", "dns:a"],
    "--admin-viewers: names of certificates need TLS of the admin API (set admin-tls.cert, admin-tls.key and admin-tls.ca)",
  ],
  [
    ["--admin-tls-cert", "serve.test.ts"],
    "--admin-tls-cert: TLS needs both a certificate and its key (set admin-tls.cert and admin-tls.key)",
  ],
])("xds serve %j is a mistake in the flags", async (flags, says) => {
  const site = await Site.make({ "a.yaml": clusters("a") });
  cleanups.push(() => site.remove());
  const io = new CapturedIo({ env: { NO_COLOR: "1" } });
  expect(await run(["serve", site.directory, ...flags], io)).toBe(2);
  expect(io.stderr.text).toBe(`xds: ${says}\n`);
});
