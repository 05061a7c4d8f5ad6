import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { describeWith, peerCommand } from "../e2e/support/peers.ts";
import { ImageStore } from "./support/image.ts";

const BUILD_MS = 300_000;
const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

const isUsable = peerCommand("buildah") !== undefined && ImageStore.isUsable;
const title = "is built from the tarballs of a release, and serves what is mounted";

describeWith("buildah", "the image", () => {
  let store: ImageStore;
  let config: string;
  beforeAll(() => {
    store = new ImageStore();
    config = mkdtempSync(join(tmpdir(), "xdskit-config-"));
    chmodSync(config, 0o755); // the image has another user
    writeFileSync(join(config, "hello.yaml"), JSON.stringify({ resources: [{ "@type": CLUSTER, name: "hello" }] }));
  });
  afterAll(() => {
    store[Symbol.dispose]();
    rmSync(config, { recursive: true });
  });

  it.skipIf(!isUsable)(isUsable ? title : `${title} (skipped: no container here)`, { timeout: BUILD_MS }, async () => {
    const image = store.build(inject("release"));
    await using running = store.start(image, config, { XDS_LISTEN: "127.0.0.1:0", XDS_ADMIN: "127.0.0.1:0" });
    const { address, admin } = await running.hears("serving");
    await expect.poll(async () => (await fetch(`http://${admin}/readyz`)).status).toBe(200);
    const answer = await fetch(`http://${address}/v3/discovery:clusters`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ node: { id: "n" } }),
    });
    expect(await answer.json()).toMatchObject({ resources: [{ "@type": CLUSTER, name: "hello" }] });
  });
});
