import type { ReplicasAnswer } from "@xdskit/server";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { EtcdMember } from "../../packages/store-etcd/test/support/etcd.ts";
import { violations } from "./support/axe.ts";
import {
  concerns,
  type DrillScene,
  NACK_REASON,
  NODES,
  OLD_BUILD,
  refuseOnOldBuild,
  SEEN_WITHIN_MS,
  seeOnOverview,
  startDrillScene,
} from "./support/drill-scene.ts";
import { adsDelta } from "./support/mode.ts";
import { openPage, startBrowser } from "./support/page.ts";
import { describeWith } from "./support/peers.ts";
import { cluster, staticCluster } from "./support/resource.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { startTcpProxy } from "./support/tcp-proxy.ts";
import { until } from "./support/wait.ts";

/** Within which a replica finds out that its store is silent: it asks every 5 s, and waits for 10 s. */
const OUTAGE_MS = 20_000;
/** How long etcd keeps what a replica told that is cut off. */
const LEASE_MS = 15_000;

// Somebody is paged and has nothing but the console: each incident is seen within ten seconds, found, and ended where that is possible.

const allIsWell = async (page: Page): Promise<void> => {
  await page
    .getByText("Nothing needs attention.")
    .waitFor({ timeout: SEEN_WITHIN_MS })
    .catch(async (cause: unknown) => {
      throw new Error(`the overview says that this needs attention: ${(await concerns(page)).join("; ")}`, { cause });
    });
  expect(await concerns(page)).toEqual([]);
};

describeWith("chromium", "an on-call drill in the console", () => {
  const stack = createStack();
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = stack.use(await startBrowser());
    ({ page } = stack.use(await openPage(browser)));
    page.setDefaultTimeout(SEEN_WITHIN_MS);
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  describeWith("envoy", "with an Envoy under load and two builds", () => {
    let scene: DrillScene;
    beforeAll(async () => {
      scene = await startDrillScene(stack, adsDelta);
      await page.goto(scene.url);
      await allIsWell(page);
    });

    // What one incident leaves behind is not the next one's.
    afterEach(async () => {
      scene.fleet.answers = () => "ack";
      scene.site.write(scene.good);
      await page.goto(scene.url);
      await allIsWell(page);
    });

    const overview = async (): Promise<void> => {
      await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
    };

    /** Rolls the newest change back from its page, with a reason. */
    const takeBack = async (reason: string): Promise<void> => {
      await page.getByRole("button", { name: "Take it back…" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText(/connected nodes affected/).waitFor();
      await dialog.getByLabel("Reason").fill(reason);
      await dialog.getByRole("button", { name: "Roll back", exact: true }).click();
      await dialog.getByText(/Done. It is recorded as \d+\./).waitFor();
      await dialog.getByRole("button", { name: "Close" }).click();
    };

    test("a bad route: the failing cluster, the change that did it, and the way back", async () => {
      scene.load.take();
      scene.site.write(scene.routesTo("legacy"));
      await seeOnOverview(page, /\d+ of \d+ requests to cluster legacy failed since the report before/);
      // Live data goes on, and is not what somebody takes back.
      const before = await scene.server.revision();
      scene.site.write(scene.certificateUntil(new Date(Date.now() + 172_000_000)));
      await until({ says: "the certificate is served", withinMs: 10_000 }, async () => {
        return (await scene.server.revision()) > before;
      });
      await page.getByRole("link", { name: "what changed lately" }).click();
      await page.locator(".entry").first().getByRole("link").first().click();
      const difference = page.getByRole("region", { name: "Difference: changed Route web-routes", exact: true });
      await difference.waitFor();
      expect(await difference.locator("ins").allTextContents()).toEqual([expect.stringContaining("legacy")]);
      await takeBack("The legacy cluster is gone");
      await scene.load.answeredBy("web", SEEN_WITHIN_MS);
      scene.site.write(scene.good);
      await overview();
      await allIsWell(page);
    });

    test("a file with an error: the file and the line, while clients keep what they have", async () => {
      scene.load.take();
      scene.site.write(scene.brokenRoutes);
      await seeOnOverview(page, /The files have 1 error, so nothing of them is sent/);
      await page.getByRole("status").getByText("1 needs attention").waitFor();
      const problem = page.getByRole("listitem").filter({ hasText: "validate_clusters" });
      expect(await problem.locator("code.place").textContent()).toMatch(/^routes\.json:\d+:\d+$/);
      expect(scene.load.take().failed).toEqual({});
      scene.site.write(scene.good);
      await allIsWell(page);
    });

    test("endpoints that become empty: held back, with their place, and nothing is lost", async () => {
      scene.load.take();
      scene.site.write(scene.endpointsOf([]));
      await seeOnOverview(page, /Endpoints web \(endpoints\.json:\d+\) became empty\. Clients keep those of before/);
      await page
        .getByRole("region", { name: "Needs attention" })
        .getByRole("link", { name: /^revision \d+$/ })
        .click();
      await page.getByRole("button", { name: "Approve…" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText(`${NODES + 1} of ${NODES + 1} connected nodes affected.`).waitFor();
      await dialog.getByRole("button", { name: "Cancel" }).click();
      expect(scene.load.take().failed).toEqual({});
      scene.site.write(scene.good);
      await overview();
      await allIsWell(page);
    });

    test("one build that refuses: its name, its reason, and the change that it refuses", async () => {
      refuseOnOldBuild(scene.fleet);
      scene.site.write({
        "clusters.json": [
          cluster({ name: "web", connectTimeoutMs: 2_000, more: { lb_policy: "LEAST_REQUEST" } }),
          staticCluster("legacy", [9]),
        ],
      });
      const refusing = NODES / 3;
      await seeOnOverview(
        page,
        new RegExp(`${refusing} nodes NACKed what they were sent, all of build envoy ${OLD_BUILD} \\(4 of 4\\)`),
      );
      await page.getByRole("region", { name: "NACKed", exact: true }).getByRole("link", { name: "edge-00" }).click();
      await page.getByText(NACK_REASON).first().waitFor();
      await page.getByText(/web is from clusters\.json:\d+/).waitFor();
      await overview();
      await page
        .getByRole("region", { name: /^Revision/ })
        .getByRole("link", { name: /^Revision \d+$/ })
        .click();
      await page.getByRole("heading", { name: `NACKed it or an earlier revision ${refusing}` }).waitFor();
      scene.fleet.answers = () => "ack";
      await takeBack("The old build cannot do it");
      scene.site.write(scene.good);
      await overview();
      await allIsWell(page);
    });

    test("a certificate about to expire: whose, in which Secret and file, and until when", async () => {
      scene.site.write(scene.certificateUntil(new Date(Date.now() + 600_000)));
      await seeOnOverview(
        page,
        /The certificate of client, in Secret edge-tls \(secrets\.json:\d+\) expires in \d+ min, and was not renewed\./,
      );
      expect(await violations(page)).toEqual([]);
      await page.getByRole("link", { name: "edge-tls" }).click();
      await page.getByRole("heading", { name: "edge-tls" }).waitFor();
      await page.getByRole("link", { name: "1 needs attention" }).click();
      scene.site.write(scene.good);
      await allIsWell(page);
    });
  });

  describeWith("etcd", "with replicas that share a store", () => {
    test("a replica behind: which one, and at the replica why", async () => {
      await using own = createStack();
      const member = await EtcdMember.start();
      own.use({ [Symbol.asyncDispose]: () => member.end() });
      const line = own.use(await startTcpProxy(Number(member.endpoint.split(":")[1])));
      const site = own.use(createSite({ "clusters.json": [staticCluster("one", [9])] }));
      const empty = own.use(createSite());
      const store = (endpoint: string): readonly string[] => [
        "--store",
        `etcd://${endpoint}/mesh`,
        "--state-dir",
        "off",
      ];
      const publisher = own.use(await startXdsServer({ site, flags: store(member.endpoint) }));
      const follower = own.use(
        await startXdsServer({ site: empty, isFollower: true, flags: store(`127.0.0.1:${line.port}`) }),
      );
      await page.goto(`http://127.0.0.1:${publisher.adminPort}/console/`);
      await until({ says: "the follower has told where it is", withinMs: 15_000, everyMs: 100 }, async () => {
        const { replicas } = (await publisher.admin("/api/v1/replicas")) as ReplicasAnswer;
        return replicas.some(({ address, lag }) => address === `127.0.0.1:${follower.port}` && lag === 0);
      });
      await allIsWell(page);
      line.freeze(true);
      site.write({ "clusters.json": [staticCluster("two", [9])] });
      await seeOnOverview(page, new RegExp(`Replica .* at 127\\.0\\.0\\.1:${follower.port} is 1 record behind`));
      await page.goto(`http://127.0.0.1:${follower.adminPort}/console/`);
      await seeOnOverview(page, /This server has not reached its store for/, OUTAGE_MS);
      await page.goto(`http://127.0.0.1:${publisher.adminPort}/console/`);
      const lost = page.getByText(`at 127.0.0.1:${follower.port} was lost: it ended, or cannot reach the store`);
      await lost.waitFor({ timeout: LEASE_MS + SEEN_WITHIN_MS });
      line.freeze(false);
      await lost.waitFor({ state: "detached" });
      await allIsWell(page);
    });
  });
});
