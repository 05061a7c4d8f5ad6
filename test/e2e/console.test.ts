import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleScene, MARKUP, MARKUP_REASON, startConsoleScene } from "./support/console-scene.ts";
import { openPage, startBrowser, type WatchedPage } from "./support/page.ts";
import { describeWith, root } from "./support/peers.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

// `npm run pictures` writes the pictures of the guide.

const NODES = 5_000;
const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const SECRET = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

describeWith("chromium", "the console in a browser, with 5,000 nodes", () => {
  const stack = createStack();
  let scene: ConsoleScene;
  let browser: Browser;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    scene = await startConsoleScene(stack, NODES);
    browser = stack.use(await startBrowser());
    watched = stack.use(await openPage(browser));
    page = watched.page;
    await page.goto(scene.url);
  });

  afterAll(() => stack[Symbol.asyncDispose]());

  const visible = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

  test("the overview shows the fleet, and follows a change as it happens", async () => {
    await page.getByRole("link", { name: "5,000 nodes" }).waitFor();
    expect(await page.getByRole("link", { name: /acked/ }).first().innerText()).toContain("5,000");
    await visible("of the nodes have it");
    await visible("envoy 1.34.1");
    await scene.change();
    await page.getByRole("heading", { name: "Rejected (NACK)" }).waitFor();
    const [rejected, waiting] = [await scene.nodesIn("rejected"), await scene.nodesIn("waiting")];
    await page.locator(".counts .count.rejected", { hasText: String(rejected) }).waitFor();
    await page.locator(".counts .count.waiting", { hasText: String(waiting) }).waitFor();
  });
});
