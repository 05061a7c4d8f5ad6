import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource } from "@xdskit/protocol";
import { createServer } from "@xdskit/server";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { violations } from "./support/axe.ts";
import { MARKUP, MARKUP_REASON } from "./support/console-scene.ts";
import {
  ALL,
  clusters,
  LEDGER_NODES,
  type LedgerScene,
  secret,
  startLedgerScene,
  TEAMS,
} from "./support/ledger-scene.ts";
import { openPage, startBrowser, type WatchedPage } from "./support/page.ts";
import { describeWith, root } from "./support/peers.ts";
import { staticCluster } from "./support/resource.ts";
import { createStack } from "./support/stack.ts";

// `npm run pictures` writes the pictures of the guide.

/** The address of this machine that is not loopback. */
const outer = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

describeWith("chromium", "the revisions in the console", () => {
  const stack = createStack();
  let scene: LedgerScene;
  let browser: Browser;
  let watched: WatchedPage;
  let page: Page;

  beforeAll(async () => {
    scene = await startLedgerScene(stack, { hasMarkup: true });
    browser = stack.use(await startBrowser());
    watched = stack.use(await openPage(browser));
    page = watched.page;
    page.setDefaultTimeout(10_000);
  });

  afterAll(() => stack[Symbol.asyncDispose]());

  const go = async (place: string): Promise<void> => {
    await page.goto(`${scene.url}#${place}`);
  };
  const visible = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();
  const newest = async (): Promise<number> => (await scene.records())[0]?.number ?? 0;
  const entry = (number: number) =>
    page.locator(".entry", { has: page.getByRole("link", { name: `${number}`, exact: true }) });

  test("the timeline follows what is published: who, when, why, and who has it", async () => {
    await go("/revisions");
    await page.getByRole("heading", { name: "Revisions" }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "release pipeline" }).first().waitFor();
    await scene.publish(clusters([...ALL, MARKUP], 2), "Wait longer for connections");
    const number = await newest();
    const row = entry(number);
    await row.getByText("Wait longer for connections").waitFor();
    await row.getByText(/release pipeline · directory · commit [0-9a-f]{10} · 25 changed/).waitFor();
    await row.getByText("applied").waitFor();
    await row.getByRole("link", { name: `${LEDGER_NODES} have it` }).waitFor();
    await row.getByRole("img", { name: `${LEDGER_NODES} have it` }).waitFor();
  });

  test("the server filters by kind, author and resource, and the filter is in the address", async () => {
    await scene.publish(clusters([...ALL, MARKUP, "extra"], 2), "One more");
    const number = await newest();
    await go("/revisions");
    await page.getByLabel("Changes resource").fill("extra");
    await entry(number - 1).waitFor({ state: "detached" });
    await entry(number).waitFor();
    expect(new URL(page.url()).hash).toBe("#/revisions?resource=extra");
    await page.getByRole("link", { name: "Clear filters" }).click();
    await entry(number - 1).waitFor();
    await page.getByLabel("Kind").selectOption("rejected");
    await visible("No revision matches these filters.");
    await page.reload();
    await visible("No revision matches these filters.");
    await scene.publish({ "secrets.json": [secret("must-never-be-shown-after-a-rotation")] }, "Rotate a key");
    await page.getByLabel("Kind").selectOption("live");
    await page.locator(".entry").getByText("live data").first().waitFor();
  });

  test("a revision's page has the difference by field, and its stragglers by name", async () => {
    await scene.publish(clusters([...ALL, MARKUP, "extra"], 3), "Something broken");
    const number = await newest();
    await go(`/revision?number=${number}`);
    const difference = page.getByRole("region", { name: "Difference: changed Cluster cart", exact: true });
    await difference.waitFor();
    expect(await difference.locator("del").allTextContents()).toEqual(
      ['- connectTimeout: "2s"\n'].map((line) => expect.stringContaining(line.slice(0, 16)) as string),
    );
    expect(await difference.locator("ins").textContent()).toContain("3s");
    await page.getByRole("heading", { name: "NACKed it or an earlier revision 2" }).waitFor();
    await page.locator(".stragglers").getByRole("link", { name: "edge-01" }).waitFor();
    await visible(MARKUP_REASON);
    await page.getByRole("button", { name: "Show more of 26 changes" }).click();
    await page.getByRole("region", { name: "Difference: changed Cluster shipping-v2" }).waitFor();
    await go("/node?id=edge-01");
    await page.getByRole("heading", { name: /History/ }).waitFor();
    const past = page.locator(".past li");
    await past.filter({ hasText: "nacked" }).getByText(MARKUP_REASON).waitFor();
    await past
      .getByRole("link", { name: `revision ${number}`, exact: true })
      .first()
      .waitFor();
    await page
      .getByRole("link", { name: `revision ${number}`, exact: true })
      .first()
      .click();
    await page.getByRole("heading", { name: `Revision ${number}` }).waitFor();
    await scene.publish(clusters([...ALL, MARKUP, "extra"], 4), "Good again");
  });

  test("any two revisions are compared, by an address that can be shared; secrets stay hidden", async () => {
    const first = (await scene.records()).findLast(({ kind }) => kind === "revision")?.number ?? 0;
    await scene.publish({ "secrets.json": [secret("must-never-be-shown-either")] }, "Another secret");
    const last = (await scene.records()).find(({ kind }) => kind === "revision")?.number ?? 0;
    const bodies: Promise<string>[] = [];
    page.on("response", (response) => {
      if (!response.url().endsWith("/events")) bodies.push(response.text().catch(() => ""));
    });
    await go("/diff");
    await page.getByLabel("From", { exact: true }).selectOption("0");
    await page.getByLabel("To", { exact: true }).selectOption(`${last}`);
    expect(new URL(page.url()).hash).toBe(`#/diff?from=0&to=${last}`);
    await page.reload();
    await page.getByRole("region", { name: "Difference: added Cluster cart", exact: true }).waitFor();
    await page.getByRole("link", { name: "Swap" }).click();
    await page.getByRole("region", { name: "Difference: deleted Cluster cart", exact: true }).waitFor();
    await go(`/diff?from=${first}&to=${last}`);
    await page.getByRole("region", { name: "Difference: changed Cluster cart", exact: true }).waitFor();
    for (const { number } of await scene.records()) {
      await go(`/revision?number=${number}`);
      await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
    }
    const texts = await Promise.all(bodies);
    expect(texts.some((text) => text.includes("edge-tls"))).toBe(true);
    expect(texts.filter((text) => text.includes("must-never-be-shown"))).toEqual([]);
  });

  /** Deletes most clusters, which a fuse holds. */
  const publishHeld = async (): Promise<number> => {
    await scene.publish(clusters(TEAMS, 4), "Only the teams' own");
    const held = await scene.held();
    if (held === undefined) throw new Error("nothing is held");
    return held;
  };

  test("a held change is announced on every page, and rejected from its own", async () => {
    const held = await publishHeld();
    for (const place of ["/", "/nodes", "/resources", "/revisions", "/traffic"]) {
      await go(place);
      await page.getByRole("alert").getByText(`Revision ${held} is held.`).waitFor();
      await page
        .getByRole("alert")
        .getByText(/resources-removed: \d+ of 26 Cluster resources would be gone/)
        .waitFor();
    }
    await page.getByRole("link", { name: "Review and decide" }).click();
    await page.getByRole("heading", { name: "Held: nothing of it is sent until it is approved" }).waitFor();
    await page.getByRole("button", { name: "Reject…" }).click();
    const dialog = page.getByRole("dialog", { name: `Reject revision ${held}?` });
    await dialog.getByText(`0 of ${LEDGER_NODES} connected nodes affected.`).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await scene.held()).toBe(held);
    await page.getByRole("button", { name: "Reject…" }).click();
    await dialog.getByLabel("Reason").fill(MARKUP);
    await dialog.getByRole("button", { name: "Reject", exact: true }).click();
    await dialog.getByText(`Done. It is recorded as ${held + 1}.`).waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByRole("heading", { name: "Decisions" }).waitFor();
    await page
      .getByRole("listitem")
      .filter({ hasText: `by loopback: ${MARKUP}` })
      .waitFor();
    expect(await scene.held()).toBeUndefined();
    const about = { number: held + 1, kind: "rejected", of: held, author: "loopback", message: MARKUP };
    expect((await scene.records())[0]).toMatchObject(about);
    await go("/");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  /** Presses a key until the focus is where it should be. */
  const press = async (key: string, wanted: string | RegExp): Promise<void> => {
    let now = "";
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press(key);
      now = String(await page.evaluate("document.activeElement?.textContent?.trim() ?? ''"));
      if (typeof wanted === "string" ? now === wanted : wanted.test(now)) return;
    }
    throw new Error(`${key} does not lead to ${String(wanted)}, but to ${now}`);
  };

  test("a held change is approved by keyboard alone, and every node gets it", async () => {
    await scene.publish(clusters(ALL, 5), "All again");
    const held = await publishHeld();
    await go("/");
    await page.reload();
    await page.getByRole("link", { name: "Review and decide" }).waitFor();
    await press("Tab", "Review and decide");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Approve…" }).waitFor();
    await press("Tab", "Approve…");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: `Approve revision ${held}?` });
    await dialog.getByText(`${LEDGER_NODES} of ${LEDGER_NODES} connected nodes affected.`).waitFor();
    await dialog.getByText("8 changed, 16 deleted").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.locator("button:focus").getByText("Approve…").waitFor();
    await page.keyboard.press("Enter");
    await dialog.getByText(`${LEDGER_NODES} of ${LEDGER_NODES} connected nodes affected.`).waitFor();
    await page.keyboard.type("The canaries are gone on purpose");
    await page.keyboard.press("Enter");
    await dialog.getByText(`Done. It is recorded as ${held + 1}.`).waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.locator("main:focus").waitFor();
    await go(`/revision?number=${held + 1}`);
    await page.getByRole("img", { name: `${LEDGER_NODES} have it` }).waitFor();
    await visible("The canaries are gone on purpose");
    const about = { kind: "approved", of: held, author: "loopback", message: "The canaries are gone on purpose" };
    expect((await scene.records())[0]).toMatchObject(about);
  });

  test("a revision is taken back from the page of the one before; the other says so", async () => {
    const approved = await newest();
    const before = (await scene.records()).find(({ kind }) => kind === "revision")?.number ?? 0;
    await go(`/revision?number=${before}`);
    await page.getByRole("button", { name: "Roll back to here…" }).click();
    const dialog = page.getByRole("dialog", { name: `Roll back to revision ${before}?` });
    await dialog.getByText("16 added, 8 changed").waitFor();
    await dialog.getByText(`${LEDGER_NODES} of ${LEDGER_NODES} connected nodes affected.`).waitFor();
    await dialog.getByLabel("Reason").fill("It was too much");
    await dialog.getByRole("button", { name: "Roll back", exact: true }).click();
    await dialog.getByText(`Done. It is recorded as ${approved + 1}.`).waitFor();
    await dialog.getByRole("link", { name: `${approved + 1}` }).click();
    await page.getByRole("heading", { name: `Revision ${approved + 1}` }).waitFor();
    await page.getByRole("img", { name: `${LEDGER_NODES} have it` }).waitFor();
    await go(`/revision?number=${approved}`);
    await page.getByRole("listitem").filter({ hasText: "rolled back" }).getByText("It was too much").waitFor();
  });

  /** Publishes many more clusters, and deletes them, which is held: what was approved before does not cover them. */
  const publishMoreAndDelete = async (word: string): Promise<number> => {
    const more = Array.from({ length: 40 }, (_, index) => `${word}-${index}`);
    await scene.publish(clusters([...ALL, ...more], 6), "More");
    await scene.publish(clusters(ALL, 6), "Not so many");
    const held = await scene.held();
    if (held === undefined) throw new Error("nothing is held");
    return held;
  };

  test("what cannot be decided any more says why, and another's decision is noticed", async () => {
    const held = await publishMoreAndDelete("one");
    await go(`/revision?number=${held}`);
    await page.getByRole("button", { name: "Approve…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/connected nodes affected/).waitFor();
    const api = `http://127.0.0.1:${scene.server.adminPort}/api/v1`;
    expect((await fetch(`${api}/reject/${held}`, { method: "POST" })).status).toBe(200);
    await dialog.getByRole("alert").getByText(`${held} is not held; nothing is`).waitFor();
    expect(await dialog.getByRole("button", { name: "Approve", exact: true }).isDisabled()).toBe(true);
    await dialog.getByRole("button", { name: "Cancel" }).click();
  });

  test("a page of another origin decides nothing", async () => {
    const held = await publishMoreAndDelete("two");
    const before = await newest();
    const api = `http://127.0.0.1:${scene.server.adminPort}/api/v1`;
    const server = createHttpServer((_, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<form method="post" action="${api}/approve/${held}"></form>`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await using other = await openPage(browser);
    // Another port is the same site, another name of the machine is another site.
    for (const host of ["127.0.0.1", "localhost"]) {
      await other.page.goto(`http://${host}:${(server.address() as AddressInfo).port}/`);
      for (const mode of ["no-cors", "cors"])
        await other.page.evaluate(
          `fetch("${api}/approve/${held}", { method: "POST", mode: "${mode}" }).catch(() => 0)`,
        );
      const sent = other.page.waitForResponse((response) => response.url().includes("/approve/"));
      await other.page.evaluate("document.forms[0].submit()");
      expect((await sent).status()).toBe(403);
      // The refusal is the next page: the browser has to be there before it goes on.
      await other.page.waitForURL("**/approve/**");
    }
    server.closeAllConnections();
    server.close();
    expect([await scene.held(), await newest()]).toEqual([held, before]);
  });

  test("load reports are shown by cluster and locality, and sorted", async () => {
    await go("/traffic");
    await visible("No client reports its load yet.");
    await scene.reportLoad();
    const table = page.getByRole("table");
    await table.getByRole("row", { name: /cart eu-central \/ eu-central-1 .*900.*90 \(10 %\).*7/ }).waitFor();
    const names = (): Promise<string[]> => table.locator("tbody th").allTextContents();
    expect(await names()).toEqual(["cart", "search"]);
    await table.getByRole("button", { name: "Requests", exact: true }).click();
    await table.getByRole("button", { name: "Requests" }).last().click();
    expect(await names()).toEqual(["search", "cart"]);
    await table.getByRole("button", { name: "Cluster" }).click();
    expect(await names()).toEqual(["cart", "search"]);
    expect(await table.getByRole("columnheader", { name: /Cluster/ }).getAttribute("aria-sort")).toBe("ascending");
    await page.getByRole("searchbox", { name: "Cluster" }).fill("sea");
    await table.getByRole("row", { name: /cart/ }).waitFor({ state: "detached" });
    expect(await names()).toEqual(["search"]);
  });

  const places = async (): Promise<readonly (readonly [string, string])[]> => {
    const held = await scene.held();
    const records = await scene.records();
    const of = (kind: string): number => records.find((record) => record.kind === kind)?.number ?? 0;
    return [
      ["the overview with a held change", "/"],
      ["the revisions", "/revisions"],
      ["a held revision", `/revision?number=${held}`],
      ["an applied revision", `/revision?number=${of("revision")}`],
      ["a decision", `/revision?number=${of("rejected")}`],
      ["no revision", "/revision?number=9999"],
      ["a difference", `/diff?from=0&to=${of("revision")}`],
      ["a node with a past", `/node?id=${encodeURIComponent(`edge-${MARKUP}`)}`],
      ["traffic", "/traffic"],
    ];
  };

  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
  ] as const)("axe finds nothing on any page: %s, %i pixels wide", async (scheme, width) => {
    await using other = await openPage(browser, { scheme, width });
    const check = async (name: string): Promise<void> => {
      await other.page.locator("[aria-busy=true]").waitFor({ state: "detached" });
      expect([name, await violations(other.page)]).toEqual([name, []]);
      const overflow = await other.page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect([name, overflow]).toEqual([name, 0]);
    };
    for (const [name, place] of await places()) {
      await other.page.goto(`${scene.url}#${place}`);
      await other.page.getByRole("heading", { level: 1 }).waitFor();
      await check(name);
    }
    await other.page.goto(`${scene.url}#/revision?number=${await scene.held()}`);
    await other.page.getByRole("button", { name: "Approve…" }).click();
    await other.page.getByText(/connected nodes affected/).waitFor();
    await check("a dialog");
    expect(other.faults.filter((fault) => !fault.includes("404"))).toEqual([]);
  });

  test("nothing that a file, a client or an operator wrote became markup, and nothing broke the policy", async () => {
    for (const [, place] of await places()) {
      await go(place);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
      expect(await page.evaluate("window.attacked")).toBeUndefined();
      expect(await page.locator("main img, main script").count()).toBe(0);
    }
    expect(watched.faults.filter((fault) => !/40[49]/.test(fault))).toEqual([]);
  });

  test.runIf(outer !== undefined)("a viewer sees everything and is offered nothing; authors are text", async () => {
    const admin = { host: "0.0.0.0" };
    const api = createEnvoyApi();
    const server = createServer({ api, ledger: {}, admin, insecure: true });
    stack.use({ [Symbol.asyncDispose]: () => server.close() });
    const { adminAddress } = await server.listen();
    const origin = { writer: MARKUP, git: { commit: MARKUP, isDirty: false } };
    const layers = (...names: readonly string[]) => {
      const read = names.map((name) => api.readResource(staticCluster(name, [9_000])));
      const inputs = read.flatMap(({ input }) => input ?? []);
      return new Map([[MARKUP, inputs.map((input) => createResource(input, contentDigest))]]);
    };
    const by = { author: MARKUP, message: MARKUP, origin };
    await server.publish({ ...by, layers: layers(...ALL) });
    expect(await server.publish({ ...by, layers: layers("cart") })).toMatchObject({ kind: "held" });
    await using other = await openPage(browser);
    const url = `http://${outer}:${adminAddress?.port}/console/`;
    for (const [place, heading] of [
      ["/", "Overview"],
      ["/revisions", /Revisions/],
      ["/revision?number=2", /Revision 2/],
      ["/diff?from=0&to=1", "Compare two revisions"],
    ] as const) {
      await other.page.goto(`${url}#${place}`);
      await other.page.getByRole("heading", { name: heading }).waitFor();
      await other.page.getByText(MARKUP).first().waitFor();
      expect(await other.page.evaluate("window.attacked")).toBeUndefined();
      expect(await other.page.locator("main img, main script").count()).toBe(0);
    }
    await other.page.goto(`${url}#/revision?number=2`);
    await other.page.getByText("Only operators decide; you are a viewer.").waitFor();
    expect(await other.page.getByRole("button", { name: /Approve|Reject|Roll back/ }).count()).toBe(0);
    expect(other.faults.filter((fault) => !fault.includes("Cross-Origin-Opener-Policy"))).toEqual([]);
  });

  // Not a test that may be skipped: it asserts nothing.
  const writePictures = async (): Promise<void> => {
    await using again = createStack();
    const other = await startLedgerScene(again, { hasMarkup: false });
    await other.publish(clusters(ALL, 2), "Wait longer for connections");
    await other.publish(clusters([...ALL, "ledger-next"], 2), "Add the next ledger");
    await other.publish(clusters([...ALL, "ledger-next"], 3), "Wait still longer: broken for two builds");
    const rejected = (await other.records())[0]?.number;
    await other.publish(clusters(TEAMS, 3), "Only the teams' own");
    const held = await other.held();
    await other.reportLoad();
    for (const [file, scheme, place, isDialog] of [
      ["console-revisions.png", "light", "/revisions", false],
      ["console-revision.png", "dark", `/revision?number=${rejected}`, false],
      ["console-approve.png", "light", `/revision?number=${held}`, true],
      ["console-traffic.png", "light", "/traffic", false],
    ] as const) {
      await using shown = await openPage(browser, { scheme, width: 1280, height: 860 });
      await shown.page.goto(`${other.url}#${place}`);
      await shown.page.locator("[aria-busy=true]").waitFor({ state: "detached" });
      if (isDialog) {
        await shown.page.getByRole("button", { name: "Approve…" }).click();
        await shown.page.getByText(/connected nodes affected/).waitFor();
      }
      await shown.page.waitForTimeout(1_500);
      await shown.page.screenshot({ path: join(root, "docs/images", file) });
    }
  };
  if (process.env["XDS_E2E_PICTURES"] === "write") test("pictures for the guide", writePictures);
});
