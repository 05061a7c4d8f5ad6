import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { clusterOf } from "../../packages/store-etcd/test/support/etcd.ts";
import { describeWith, peerCommand, root } from "../e2e/support/peers.ts";
import { createStack } from "../e2e/support/stack.ts";
import { judge } from "./support/judge.ts";
import { Random } from "./support/random.ts";
import { drawTimeline, type Lane, type Mark } from "./support/timeline.ts";
import { startWorld } from "./support/world.ts";

const SEED = 1;
const CLIENTS = 200;
const AGREE_MS = 5_000;
const PICTURE = join(root, "docs/images/failover.svg");
const needed = (["envoy", "toxiproxy", "porcupine", "etcd"] as const).find((name) => peerCommand(name) === undefined);

describeWith(needed ?? "etcd", "failover", () => {
  const stack = createStack();
  afterAll(() => stack[Symbol.asyncDispose]());

  // What happens when is written down here, so that the guide can show it; chaos.test.ts is for what nobody thought of.
  test("a server, the leader of etcd and all of etcd are killed, and only publishing has to wait", async () => {
    const world = await startWorld(stack, { random: new Random(SEED), clients: CLIENTS });
    const { servers, members, history } = world;
    const servedBy = servers.map(({ is }): Lane => ({ name: `server ${is.index + 1}`, down: [] }));
    const memberOf = members.map(({ etcd }): Lane => ({ name: `etcd ${etcd.name}`, down: [] }));
    const marks: Mark[] = [];
    const from = performance.now();
    const whileDown = async (lanes: readonly (Lane | undefined)[], ms: number, back: () => Promise<unknown>) => {
      const began = performance.now();
      await pause(ms);
      await back();
      for (const lane of lanes) lane?.down.push({ from: began, to: performance.now() });
    };
    const mark = (what: string): void => void marks.push({ at: performance.now(), text: what });

    await pause(4_000);
    mark("kill -9 of a server");
    const [server] = servers;
    if (server === undefined) throw new Error("there is no server");
    await world.kill(server.is);
    await whileDown([servedBy[0]], 4_000, () => server.is.start());

    await pause(3_000);
    const leader = await world.leader();
    if (leader === undefined) throw new Error("nobody leads");
    const cluster = clusterOf(members.map(({ etcd }) => etcd));
    mark("the leader of etcd is killed");
    await leader.etcd.kill();
    await whileDown([memberOf[members.indexOf(leader)]], 5_000, () => leader.etcd.start(cluster));

    await pause(3_000);
    mark("all of etcd is killed");
    await Promise.all(members.map(({ etcd }) => etcd.kill()));
    // Two of three are enough to publish again, before the third one is there.
    let startedAt = Number.NaN;
    const started = (): Promise<unknown> => {
      startedAt = performance.now();
      return Promise.all(members.map(({ etcd }) => etcd.start(cluster)));
    };
    await whileDown(memberOf, 7_000, started);
    mark("etcd is back");
    await pause(6_000);

    const to = performance.now();
    const ledger = await world.end();
    const agreedMs = await world.agreement(AGREE_MS);
    const losses = (await Promise.all(world.envoys.map((one) => one.losses()))).flat();
    const verdict = judge(history, ledger);
    expect({ ...verdict, losses, ledger: world.linearizable(ledger), hasAgreed: agreedMs <= AGREE_MS }).toEqual({
      ...{ lost: [], invented: [], setBack: [], losses: [], ledger: "Ok", hasAgreed: true },
    });
    const outage = memberOf[0]?.down.at(-1);
    const during = history.appends.filter(({ outcome }) => outcome && outage && outcome.at > outage.from);
    expect(during.filter(({ outcome }) => outcome && outcome.at < startedAt)).toEqual([]);
    expect(during.length).toBeGreaterThan(0);
    const requests = "No request of four Envoys is lost; 200 clients get what is recorded";
    const lanes = [...servedBy, ...memberOf];
    const picture = drawTimeline({ from, to, lanes, marks, history, requests });
    if (process.env["XDS_E2E_PICTURES"] === "write") writeFileSync(PICTURE, picture);
  }, 180_000);
});
