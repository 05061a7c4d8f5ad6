import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { staticCluster } from "../e2e/support/resource.ts";
import { createStack } from "../e2e/support/stack.ts";
import { until } from "../e2e/support/wait.ts";
import { Attacker } from "./support/attacker.ts";
import { GIVE_UP_MS } from "./support/good-client.ts";
import { createScene, type Scene } from "./support/scene.ts";

/** Descriptors that the server may open in addition to those that it has. */
const SPARE_DESCRIPTORS = 16;
const CONNECTIONS = 100;

const pidOf = (scene: Scene): number => scene.server.process().pid;

/** Sets a resource limit of the server. */
function limit(scene: Scene, what: "nofile" | "fsize", value: number | "unlimited"): void {
  execFileSync("prlimit", ["--pid", String(pidOf(scene)), `--${what}=${value}:`]);
}

function untilLogged(scene: Scene, event: string, from: number): Promise<unknown> {
  return until({ says: `${event} is logged`, withinMs: 20_000, everyMs: 50 }, () =>
    scene
      .logged()
      .slice(from)
      .some((line) => line.event === event),
  );
}

test("connections that use up all descriptors end neither the server nor the client that it has", async () => {
  await using scene = await createScene();
  const attacker = new Attacker(scene.nextHost(), scene.server.port);
  const before = readdirSync(`/proc/${pidOf(scene)}/fd`).length;
  limit(scene, "nofile", before + SPARE_DESCRIPTORS);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => attacker.socket()));
  await until({ says: "no descriptor is left", withinMs: 20_000, everyMs: 50 }, () => {
    return readdirSync(`/proc/${pidOf(scene)}/fd`).length >= before + SPARE_DESCRIPTORS - 1;
  });
  const from = scene.logged().length;
  scene.site.write({ "more.json": [staticCluster("more", [1])] });
  await untilLogged(scene, "load-failed", from);

  attacker.end();
  const [editMs = GIVE_UP_MS] = await scene.client.edit(1);
  expect(editMs, "an edit arrives on the same stream once there are descriptors").toBeLessThan(GIVE_UP_MS);
  expect(scene.server.process().ended(), "the server lives").toBeUndefined();
}, 120_000);

test("a state directory that is full takes no change and loses no client; the next change goes on", async () => {
  await using stack = createStack();
  const state = mkdtempSync(join(tmpdir(), "xds-full-"));
  stack.use({ [Symbol.dispose]: () => rmSync(state, { recursive: true }) });
  const scene = stack.use(await createScene({ flags: ["--state-dir", state] }));
  const from = scene.logged().length;
  const revision = await scene.server.revision();
  limit(scene, "fsize", 1);
  scene.site.write({ "more.json": [staticCluster("more", [1])] });
  await untilLogged(scene, "ledger-problem", from);
  expect(await scene.server.revision(), "nothing changed").toBe(revision);

  limit(scene, "fsize", "unlimited");
  const [editMs = GIVE_UP_MS] = await scene.client.edit(1);
  expect(editMs, "an edit arrives on the same stream once there is room").toBeLessThan(GIVE_UP_MS);
  expect(scene.server.process().ended(), "the server lives").toBeUndefined();
}, 120_000);
