import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { clusters, Serving, Site, until } from "./serving.ts";

const guide = fileURLToPath(new URL("../../../docs/guides/kubernetes.md", import.meta.url));
/** An address of this machine by which it is not on loopback, as another pod is not. */
const outer = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

let serving: Serving | undefined;
let site: Site | undefined;
afterEach(async () => {
  await serving?.stop();
  await site?.remove();
});

/** The flags of the guide's Deployment, at ports of this test. */
function flagsOfGuide(): readonly string[] {
  const [, args = ""] = /^ +args: \[serve, \/config, (.*)\]$/m.exec(readFileSync(guide, "utf8")) ?? [];
  const flags = args.split(", ").map((one) => one.replaceAll('"', ""));
  expect(flags.slice(0, 4)).toEqual(["--listen", ":18000", "--admin", ":18001"]);
  return flags.map((flag) => flag.replace(/^:\d+$/, "0.0.0.0:0"));
}

test.runIf(outer !== undefined)("the Deployment of the guide gives other pods health and metrics only", async () => {
  site = await Site.make({ "clusters.yaml": clusters("one") });
  serving = await Serving.start(site, flagsOfGuide());
  const at = (host: string, path: string, method = "GET"): Promise<number> =>
    fetch(`http://${host}:${serving?.admin.split(":")[1]}${path}`, { method }).then(({ status }) => status);
  await until("it is ready", async () => (await at("127.0.0.1", "/readyz")) === 200);
  const other = outer ?? "";
  const asked = [
    "/livez",
    "/readyz",
    "/metrics",
    "/",
    "/console/",
    "/api/v1/resources",
    "/api/v1/revisions",
    "/api/v1/events",
  ];
  expect(await Promise.all(asked.map((path) => at(other, path)))).toEqual([200, 200, 200, 403, 403, 403, 403, 403]);
  expect(await Promise.all(["/api/v1/approve/1", "/api/v1/rollback/1"].map((path) => at(other, path, "POST")))).toEqual(
    [403, 403],
  );
  expect(await at("127.0.0.1", "/api/v1/resources")).toBe(200);
});
