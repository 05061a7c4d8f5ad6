import { Cluster, createXdsClient, validator, type XdsClient, type XdsClientOptions } from "@xdskit/client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ControlPlane, startControlPlane } from "./control-plane.ts";

/** Our rule for this test: nobody waits for more than ten seconds. */
const patience = validator(Cluster, ({ json }) =>
  Number.parseFloat(json.connectTimeout ?? "5s") > 10 ? "connect_timeout is above 10 s" : undefined,
);

let plane: ControlPlane;
const clients: XdsClient[] = [];

beforeEach(async () => {
  plane = await startControlPlane({ a: "1s" });
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await plane.stop();
});

async function connect(options: XdsClientOptions): Promise<XdsClient> {
  const backOff = { baseMs: 20, maxMs: 100 };
  const client = await createXdsClient({ server: plane.address, node: "test", limits: { backOff }, ...options });
  clients.push(client);
  return client;
}

describe.each(["sotw", "delta"] as const)("%s", (variant) => {
  test("what is served is accepted, all of it", async () => {
    plane.putCluster("b", "2s");
    const client = await connect({ transport: { variant } });
    const found = await client.list(Cluster);
    expect(found.map(({ name, json }) => [name, json.connectTimeout])).toEqual([
      ["a", "1s"],
      ["b", "2s"],
    ]);
    expect(client.stats().subscriptions).toMatchObject([{ type: Cluster.typeUrl, updateRejected: 0 }]);
  });

  test("a change is told once, and what did not change is not told", async () => {
    plane.putCluster("b", "1s");
    const client = await connect({ transport: { variant } });
    const watch = client.watch(Cluster);
    const told: string[] = [];
    for await (const change of watch) {
      told.push("key" in change ? `${change.kind} ${change.key}` : change.kind);
      if (change.kind === "synced") plane.putCluster("b", "2s");
      if (change.kind === "changed") break;
    }
    expect(told).toEqual(["added a", "added b", "synced", "changed b"]);
  });

  test("a refusal arrives with its reason, and what was good stays in force", async () => {
    const client = await connect({ transport: { variant }, validation: { validators: [patience] } });
    const watch = client.watch(Cluster, "a");
    expect((await watch.next()).value).toMatchObject({ kind: "added", key: "a" });
    plane.putCluster("a", "60s");
    expect((await watch.next()).value).toMatchObject({
      kind: "error",
      error: { code: "REJECTED" },
      held: { json: { connectTimeout: "1s" } },
    });
    await vi.waitFor(() => expect(plane.refusals).toEqual([expect.stringContaining("connect_timeout is above 10 s")]));
    expect(client.dump()).toMatchObject([{ key: "a", status: "nacked" }]);
    plane.putCluster("a", "2s");
    expect((await watch.next()).value).toMatchObject({ kind: "changed", resource: { json: { connectTimeout: "2s" } } });
    expect(client.dump()).toMatchObject([{ key: "a", status: "acked", failure: undefined }]);
  });

  test("after a restart with the same content there are no news", async () => {
    const answers: { readonly resources: number; readonly isNews: boolean }[] = [];
    const client = await connect({
      transport: { variant },
      onReport: (report) => {
        if (report.kind === "response-accepted") answers.push({ resources: report.resources, isNews: report.isNews });
      },
    });
    const watch = client.watch(Cluster);
    await vi.waitFor(() => expect(watch.current.size).toBe(1));
    await plane.stop();
    plane = await startControlPlane({ a: "1s" }, Number(plane.address.split(":").at(-1)));
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    // In delta the client says what it has, and nothing is sent again.
    expect(answers[1]).toEqual({ resources: variant === "delta" ? 0 : 1, isNews: false });
    expect(client.dump()).toMatchObject([{ key: "a", status: "acked" }]);
  });
});

test("what does not exist is said at once in delta", async () => {
  const client = await connect({ transport: { variant: "delta" } });
  await expect(client.get(Cluster, "b", { timeoutMs: 2_000 })).rejects.toMatchObject({ code: "DOES_NOT_EXIST" });
});
