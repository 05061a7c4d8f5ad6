import { createEnvoyApi } from "@xdskit/envoy-api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allPassed } from "./browser/plays.ts";
import { decode } from "./browser/stories.ts";
import { deliveries, fates } from "./support/admin.ts";
import { type Browser, openInBrowser } from "./support/browser.ts";
import { type Bundle, bundleForBrowsers, type PageSite, startPageSite } from "./support/page-site.ts";
import { describeWith } from "./support/peers.ts";
import { staticCluster } from "./support/resource.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

describeWith("chromium", "the protocol and the decoding of resources in a browser", () => {
  const stack = createStack();
  let site: Site;
  let server: XdsServer;
  let page: PageSite;
  let browser: Browser;
  let script: Bundle;
  let plays: Bundle;

  beforeAll(async () => {
    site = stack.use(
      createSite({ "web.json": [staticCluster("web", [8081])], "shop.json": [staticCluster("shop", [8082])] }),
    );
    server = stack.use(await startXdsServer({ site }));
    script = await bundleForBrowsers("test/e2e/browser/page.ts");
    plays = await bundleForBrowsers("test/e2e/browser/plays.ts");
    page = stack.use(await startPageSite({ "/page.js": script.code, "/plays.js": plays.code }, server.port));
    browser = stack.use(await openInBrowser(page.url));
  });

  afterAll(() => stack[Symbol.asyncDispose]());

  const outcome = (story: string): Promise<unknown> =>
    page.outcome(story, 30_000).catch((error: unknown) => {
      throw new Error(`the browser said:\n${browser.log().slice(-3000)}`, { cause: error });
    });

  test("finds nothing of Node, and a bundler has nothing to put in its place", async () => {
    const { imports, warnings } = script;
    expect({ imports, warnings, importsOfPlays: plays.imports }).toEqual({
      imports: [],
      warnings: [],
      importsOfPlays: [],
    });
    expect(await outcome("surroundings")).toEqual({ browser: true, ofNode: [] });
  });

  test.each(["state of the world", "delta"])("client, mesh and server talk to each other: %s", async (story) => {
    expect(await outcome(story)).toEqual([
      // The event is emitted when everything that the Listener refers to is ready.
      "ACK lds",
      "ACK rds",
      "ACK cds",
      "mesh: cds web ready, eds web ready, lds in ready, rds table ready",
      "ACK eds",
      // The Listener's routes change to another cluster.
      "ACK rds",
      "ACK cds",
      "mesh: cds shop ready, eds shop ready, lds in ready, rds table ready",
      "ACK eds",
      // The client NACKs a Cluster: the previous one stays in use, and its endpoints, which the server resends, are
      // confirmed.
      "mesh: cds shop ready (rejected), eds shop ready, lds in ready, rds table ready",
      "NACK cds: shop: connect_timeout: expected more than 0s, got 0s",
      "mesh: cds shop ready (rejected), eds shop ready, lds in ready, rds table ready",
      "ACK eds",
      "ACK cds",
      "mesh: cds shop ready, eds shop ready, lds in ready, rds table ready",
      "ACK eds",
      "mesh: lds in absent",
      "ACK lds",
    ]);
  });

  test("resources are decoded as on Node, from descriptors that the page fetched", async () => {
    const onNode = decode(createEnvoyApi());
    expect(await outcome("decoding")).toEqual(JSON.parse(JSON.stringify(onNode)));
  });

  test("every play in memory passes, as on Node", async () => {
    expect(await outcome("plays")).toEqual(allPassed());
  });

  test("polls a server over HTTP: takes, refuses, and lets go what it says", async () => {
    const isTold = (line: string): Promise<unknown> =>
      until({ says: `the page tells "${line}"`, withinMs: 20_000 }, () => page.lines("polls").includes(line));
    await isTold("web changed");
    await until({ says: "the server knows that it was taken", withinMs: 10_000 }, async () => {
      return (await fates(server, "page"))["cds"] === "acked";
    });
    site.write({ "web.json": [staticCluster("web", [8081], { connect_timeout: "0s" })] });
    await until({ says: "the server knows that it was refused", withinMs: 10_000 }, async () => {
      return (await fates(server, "page"))["cds"] === "nacked";
    });
    const [refused] = (await deliveries(server)).filter(({ node }) => node === "page");
    expect(refused?.reason).toBe("web: connect_timeout: expected more than 0s, got 0s");
    site.write({ "web.json": undefined });
    expect(await outcome("polls")).toEqual([
      "shop changed",
      "web changed",
      "synced",
      "web rejected: connect_timeout: expected more than 0s, got 0s",
      "web removed",
    ]);
  });
});
