import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { violations } from "./support/axe.ts";
import { closing } from "./support/closing.ts";
import { type ConsoleScene, MARKUP, MARKUP_REASON, startConsoleScene } from "./support/console-scene.ts";
import { openPage, startBrowser, type WatchedPage } from "./support/page.ts";
import { describeWith, root } from "./support/peers.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

// `npm run pictures` writes the pictures of the guide.

const NODES = 5_000;
const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const ROUTE = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
const SECRET = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

describeWith("chromium", "the console in a browser, with 5,000 nodes", () => {
  const stack = createStack();
  let scene: ConsoleScene;
  let browser: Browser;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    scene = await startConsoleScene(stack, { nodes: NODES, hasMarkup: true });
    browser = stack.use(await startBrowser());
    watched = stack.use(await openPage(browser));
    page = watched.page;
    await page.goto(scene.url);
  });

  afterAll(() => stack[Symbol.asyncDispose]());

  const visible = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

  test("the overview shows the fleet, and follows a change as it happens", async () => {
    await page.getByRole("link", { name: "5,000 nodes" }).waitFor();
    expect(await page.getByRole("link", { name: /acked/ }).first().textContent()).toContain("5,000");
    await visible("of the nodes have it");
    await visible("envoy 1.34.1");
    await scene.change();
    await page.getByRole("heading", { name: "NACKed" }).waitFor();
    const [nacked, waiting] = [await scene.nodesIn("nacked"), await scene.nodesIn("waiting")];
    await page.locator(".counts .count.nacked", { hasText: String(nacked) }).waitFor();
    await page.locator(".counts .count.waiting", { hasText: String(waiting) }).waitFor();
  });

  /** Goes to a place of the console. */
  const go = async (place: string): Promise<void> => {
    await page.goto(`${scene.url}#${place}`);
  };

  test("the list of nodes holds 5,000 in few elements, filters in the URL, and scrolls to its end", async () => {
    await go("/nodes");
    await page.getByRole("heading", { name: "Nodes 5,000" }).waitFor();
    const table = page.getByRole("table", { name: "Nodes" });
    expect(await table.getAttribute("aria-rowcount")).toBe("5001");
    expect(await table.getByRole("row").count()).toBeLessThan(60);
    await table.getByRole("rowgroup").evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
    await table.getByRole("link", { name: "mesh-04996" }).waitFor();
    await page.getByLabel("Id").fill("edge-00002");
    await page.getByRole("heading", { name: "Nodes 1", exact: true }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/nodes?id=edge-00002");
    await page.reload();
    await page.getByRole("heading", { name: "Nodes 1", exact: true }).waitFor();
    await table.getByRole("link", { name: "edge-00002" }).waitFor();
    await page.getByLabel("Id").fill("");
    await page.getByLabel("State").selectOption("nacked");
    await page.getByRole("heading", { name: `Nodes ${await scene.nodesIn("nacked")}`, exact: true }).waitFor();
    await visible("cluster ledger-v2: unknown field in the HTTP protocol options");
  });

  test("a node's page says what it waits for, and a rejection with its reason", async () => {
    await go("/node?id=edge-00002");
    await page.getByRole("heading", { name: /Does not have revision/ }).waitFor();
    await visible(/waits for cluster/);
    await visible(/, for \d+(\.\d)? (s|min)/);
    await visible(/holds back checkout-routes/);
    const sequence = await page
      .getByRole("region", { name: /^Sequence/ })
      .getByRole("listitem")
      .allTextContents();
    // What is held back comes last; before it the Cluster that it waits for was sent.
    expect(sequence.at(-1)).toMatch(/Route waits for cluster ledger-v2/);
    expect(sequence.some((text) => text.endsWith("agoCluster"))).toBe(true);
    await go(`/node?id=${encodeURIComponent(`edge-${MARKUP}`)}`);
    await page.getByRole("heading", { name: `edge-${MARKUP}` }).waitFor();
    await visible(MARKUP_REASON);
    await go("/node?id=batch-00005");
    await visible(/Has revision \d+, the newest/);
    await go("/node?id=nobody");
    await visible("No connected node has this id.");
  });

  test("resources are searched by name; one is shown as YAML, with its neighbours and who has it", async () => {
    await go("/resources");
    await page.getByLabel("Name").fill("ledger-v");
    await page.getByRole("heading", { name: "Resources 2", exact: true }).waitFor();
    await page.getByLabel("Type").selectOption({ label: "Cluster" });
    await page.getByRole("heading", { name: "Resources 1", exact: true }).waitFor();
    await page.getByRole("link", { name: "ledger-v2" }).click();
    await page.getByRole("heading", { name: "ledger-v2" }).waitFor();
    await visible(/edsClusterConfig:\n {2}edsConfig:\n {4}ads: \{\}/);
    const graph = page.getByRole("group", { name: "References around this resource" });
    expect((await graph.getByRole("link").allTextContents()).sort()).toEqual([
      "Cluster ledger-v2",
      "Endpoints ledger-v2",
      "Listener checkout",
      "Route checkout-routes",
    ]);
    const holders = page.getByRole("table", { name: "Nodes with this resource" });
    await holders.getByRole("row", { name: /batch-00005.*acked/ }).waitFor();
    await graph.getByRole("link", { name: "checkout-routes" }).click();
    await page.getByRole("heading", { name: "checkout-routes" }).waitFor();
  });

  test("a secret is redacted on its page, and in everything that the page was sent", async () => {
    const bodies: Promise<string>[] = [];
    page.on("response", (response) => {
      if (!response.url().endsWith("/events")) bodies.push(response.text().catch(() => ""));
    });
    await go(`/resource?type=${encodeURIComponent(SECRET)}&name=edge-tls`);
    await visible(/inlineString: ".*redacted.*"/i);
    await go("/resources");
    await page.getByRole("heading", { name: /^Resources \d/ }).waitFor();
    const texts = await Promise.all(bodies);
    expect(texts.some((text) => text.includes("edge-tls"))).toBe(true);
    expect(texts.filter((text) => text.includes("must-never-be-shown"))).toEqual([]);
  });

  const places = [
    ["the overview", "/"],
    ["nodes", "/nodes"],
    ["a node", `/node?id=${encodeURIComponent(`edge-${MARKUP}`)}`],
    ["a node that waits", "/node?id=edge-00002"],
    ["resources", "/resources"],
    ["a resource", `/resource?type=${encodeURIComponent(CLUSTER)}&name=ledger-v2`],
    ["no page", "/nothing"],
  ] as const;

  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
  ] as const)("axe finds nothing on any page: %s, %i pixels wide", async (scheme, width) => {
    await using other = await openPage(browser, { scheme, width });
    for (const [name, place] of places) {
      await other.page.goto(`${scene.url}#${place}`);
      await other.page.getByRole("heading", { level: 1 }).waitFor();
      await other.page.locator("[aria-busy=true]").waitFor({ state: "detached" });
      expect([name, await violations(other.page)]).toEqual([name, []]);
      const overflow = await other.page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect([name, overflow]).toEqual([name, 0]);
    }
    expect(other.faults).toEqual([]);
  });

  test("everything can be reached by keyboard alone", async () => {
    await page.goto(`${scene.url}#/`);
    await page.reload();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const focused = async (): Promise<string> =>
      String(await page.evaluate("document.activeElement?.textContent?.trim() ?? ''"));
    const press = async (key: string, wanted: string | RegExp): Promise<void> => {
      for (let presses = 0; presses < 30; presses++) {
        await page.keyboard.press(key);
        const now = await focused();
        if (typeof wanted === "string" ? now === wanted : wanted.test(now)) return;
      }
      throw new Error(`${key} does not lead to ${String(wanted)}, but to ${await focused()}`);
    };
    await press("Tab", "Skip to content");
    await press("Tab", "Nodes");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nodes 5,000" }).waitFor();
    await page.getByRole("link", { name: "batch-00005" }).waitFor();
    await press("Tab", /^batch-00005/);
    await press("ArrowDown", "batch-00011");
    await press("ArrowDown", "batch-00017");
    await press("ArrowUp", "batch-00011");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "batch-00011" }).waitFor();
    await page.locator("main:focus").waitFor();
  });

  test("nothing that a client or a file says became markup, and nothing broke the policy of the page", async () => {
    for (const [, place] of places) {
      await go(place);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
      expect(await page.evaluate("window.attacked")).toBeUndefined();
      expect(await page.locator("main img, main script").count()).toBe(0);
    }
    expect(watched.faults).toEqual([]);
  });

  test("it works behind a path prefix", async () => {
    await using proxy = await startPrefixProxy("/ops/xds", scene.server.adminPort);
    await using other = await openPage(browser);
    await other.page.goto(`${proxy.origin}/ops/xds/console`);
    await other.page.getByRole("link", { name: "5,000 nodes" }).waitFor();
    await other.page.getByText("live", { exact: true }).waitFor();
    expect([new URL(other.page.url()).pathname, other.faults]).toEqual(["/ops/xds/console/", []]);
  });

  test("it says so when the server is gone, and goes on when it is back", async () => {
    await go("/");
    await page.getByText("live", { exact: true }).waitFor();
    await scene.server.kill();
    await page.getByText("connection lost, retrying…").waitFor();
    await scene.server.start();
    await page.getByText("live", { exact: true }).waitFor();
    await visible("No node is connected.");
  });

  // Not a test that may be skipped: it asserts nothing.
  const writePictures = async (): Promise<void> => {
    await using again = createStack();
    const other = await startConsoleScene(again, { nodes: 600, hasMarkup: false });
    for (let times = 1; times <= 20; times++) await other.move(times);
    await other.change();
    for (const [file, scheme, place, width] of PICTURES) {
      await using shown = await openPage(browser, { scheme, width, height: 860 });
      await shown.page.goto(`${other.url}#${place}`);
      await shown.page.locator("[aria-busy=true]").waitFor({ state: "detached" });
      // The plots have nothing to show before their second sample.
      await until({ says: "two samples", withinMs: 30_000, everyMs: 500 }, async () => {
        const { items } = (await other.server.admin("/api/v1/samples")) as { items: unknown[] };
        return items.length > 2;
      });
      await shown.page.waitForTimeout(2_000);
      await shown.page.screenshot({ path: join(root, "docs/images", file) });
    }
  };
  if (process.env["XDS_E2E_PICTURES"] === "write") test("pictures for the guide", writePictures);
});

/** File, colours, place and width of each picture. */
const PICTURES = [
  ["console-overview.png", "light", "/", 1280],
  ["console-nodes.png", "light", "/nodes?state=nacked", 1280],
  ["console-node.png", "dark", "/node?id=edge-00002", 1280],
  ["console-resource.png", "light", `/resource?type=${encodeURIComponent(ROUTE)}&name=checkout-routes`, 1280],
] as const;

/** A proxy that serves another server below a path. */
async function startPrefixProxy(prefix: string, port: number): Promise<{ origin: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const path = request.url?.startsWith(prefix) === true ? request.url.slice(prefix.length) : undefined;
    if (path === undefined) {
      response.writeHead(404).end();
      return;
    }
    const headers = { ...request.headers, host: `127.0.0.1:${port}` };
    const passed = httpRequest({ host: "127.0.0.1", port, path, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    passed.end();
  });
  const close = closing(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: close,
  };
}
