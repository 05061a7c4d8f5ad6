import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { violations } from "./support/axe.ts";
import { startEnvoy } from "./support/envoy.ts";
import { configSource, modes } from "./support/mode.ts";
import { openPage, startBrowser } from "./support/page.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

const WITHIN_MS = 10_000;

describeWith("chromium", "the console", () => {
  describeWith("envoy", "with an Envoy", () => {
    const stack = createStack();
    let browser: Browser;
    let page: Page;
    beforeAll(async () => {
      browser = stack.use(await startBrowser());
      ({ page } = stack.use(await openPage(browser)));
      page.setDefaultTimeout(WITHIN_MS);
    });
    afterAll(() => stack[Symbol.asyncDispose]());

    test.each(modes.map((mode) => [mode.name, mode] as const))(
      "a node's page has each resource with its status, and compares what Envoy says (%s)",
      async (name, mode) => {
        await using own = createStack();
        const source = configSource(mode);
        const site = own.use(
          createSite({
            "listeners.json": [listener({ name: "http", port: await freePort(), routes: "routes", source })],
            "routes.json": [routes("routes", [{ cluster: "web" }])],
            "clusters.json": [cluster({ name: "web", source })],
            "endpoints.json": [endpoints("web", [9])],
          }),
        );
        const server = own.use(await startXdsServer({ site }));
        const envoy = own.use(await startEnvoy({ mode, xdsPort: server.port, node: { id: name } }));
        await envoy.ready(WITHIN_MS);
        const dump = async (): Promise<string> =>
          await (await fetch(`http://127.0.0.1:${envoy.adminPort}/config_dump?include_eds`)).text();
        const before = await dump();
        await page.goto(`http://127.0.0.1:${server.adminPort}/console/#/node?id=${name}`);
        const section = page.getByRole("region", { name: /^Resource by resource/ });
        const rows = section.getByRole("row");
        await until({ says: "all four are ACKed", withinMs: WITHIN_MS }, async () => {
          const texts = await rows.allTextContents();
          return texts.filter((text) => text.includes("ACKed")).length === 4;
        });
        const resources = (await rows.allTextContents()).slice(1).map((text) => text.split("ACKed")[0]?.trim());
        expect(resources.toSorted()).toEqual(["cds web", "eds web", "lds http", "rds routes"]);
        await section.getByText("Compare with what Envoy says").click();
        const compare = async (text: string): Promise<void> =>
          await section
            .getByLabel("Configuration dump")
            .setInputFiles({ name: "dump.json", mimeType: "application/json", buffer: Buffer.from(text) });
        await compare(before);
        await section.getByText("Envoy has all of 4 resources as the server says.").waitFor();
        site.write({ "clusters.json": [{ ...cluster({ name: "web", source }), connect_timeout: "7s" }] });
        await until({ says: "Envoy has the change", withinMs: WITHIN_MS }, async () => (await dump()).includes('"7s"'));
        // The server says what was ACKed, and Envoy ACKs after it has the change.
        await until({ says: "the change is compared", withinMs: WITHIN_MS }, async () => {
          await compare(before);
          const verdict = section.getByText("1 difference, and 3 resources as the server says.");
          return await verdict.waitFor({ timeout: 1_000 }).then(
            () => true,
            () => false,
          );
        });
        expect(await section.getByRole("listitem").allTextContents()).toEqual(["cds web differs in connect_timeout"]);
        await compare(await dump());
        await section.getByText("Envoy has all of 4 resources as the server says.").waitFor();
        await compare("{}");
        await section.getByText("this file is no answer of /config_dump").waitFor();
        expect(await violations(page)).toEqual([]);
      },
    );
  });
});
