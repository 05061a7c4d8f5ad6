import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Cluster, type SubscriptionStats, validator, type XdsClient } from "../src/index.ts";
import { atEnd, folder } from "./support/ends.ts";
import { read, serve, start } from "./support/own-server.ts";
import { scriptedHttp } from "./support/scripted-http.ts";
import { CLUSTER } from "./support/sources.ts";
import { until } from "./support/until.ts";

/** Of the only type that was asked for. */
function counted(client: XdsClient): Pick<SubscriptionStats, "updateAttempt" | "updateSuccess" | "updateFailure"> {
  const { updateAttempt = 0, updateSuccess = 0, updateFailure = 0 } = client.stats().subscriptions[0] ?? {};
  return { updateAttempt, updateSuccess, updateFailure };
}

const cluster = (name: string, connectTimeout = "1s"): ReturnType<typeof read> =>
  read({ "@type": CLUSTER, name, type: "STATIC", connectTimeout });

test.each([
  ["gRPC", { server: "127.0.0.1:1" }],
  ["REST", { server: "127.0.0.1:1", transport: { rest: true } }],
  ["a file", { file: join(tmpdir(), "xdskit-no-such-file.yaml") }],
])("C-OBS-01 %s that is not there is not connected to, and each try counts as a failure", async (_, options) => {
  const client = await start(options);
  client.watch(Cluster);
  await until("it was tried", () => counted(client).updateFailure >= 3);
  expect(client.stats().sources.map(({ connectedState }) => connectedState)).toEqual([false]);
  expect(counted(client).updateSuccess).toBe(0);
});

test("C-OBS-01 polls: the server is connected to as long as it answers", async () => {
  let status = 200;
  const http = await scriptedHttp(({ answer }) =>
    answer(status, { versionInfo: "1", typeUrl: CLUSTER, resources: [] }),
  );
  atEnd(() => http.close());
  const client = await start({ server: `127.0.0.1:${http.port}`, transport: { rest: { refreshDelayMs: 5 } } });
  const isConnected = (): boolean | undefined => client.stats().sources[0]?.connectedState;
  const watch = client.watch(Cluster);
  await until("it is answered", () => isConnected() === true);
  expect(counted(client).updateFailure).toBe(0);
  status = 503;
  await until("it is not any more", () => isConnected() === false);
  await until("each failure counts", () => counted(client).updateFailure >= 3);
  status = 304;
  await until("nothing changed, which is an answer", () => isConnected() === true);
  watch.close();
  await until("nobody asks any more", () => isConnected() === false);
});

test("C-OBS-01 a file counts each time that it is read", async () => {
  const file = join(folder(), "clusters.json");
  writeFileSync(file, JSON.stringify({ versionInfo: "1", resources: [] }));
  const client = await start({ file });
  const watch = client.watch(Cluster);
  while (!watch.isSynced) await watch.next();
  expect(counted(client)).toEqual({ updateAttempt: 1, updateSuccess: 1, updateFailure: 0 });
  expect(client.stats().sources.map(({ connectedState }) => connectedState)).toEqual([true]);
  await client.close();
  expect(client.stats().sources.map(({ connectedState }) => connectedState)).toEqual([false]);
});

test("C-CLI-06 B-ACK-08 what is good in a response that is refused is kept as well", async () => {
  const cache = { path: join(folder(), "cache") };
  const { server, port } = await serve(cluster("good"), cluster("bad", "2s"));
  const short = validator(Cluster, ({ json }) => (json.connectTimeout === "2s" ? "2s is too long" : undefined));
  const validation = { validators: [short], nackPolicy: "apply-valid" } as const;
  const options = { server: `127.0.0.1:${port}`, cache, validation };
  const before = await start(options);
  const watch = before.watch(Cluster);
  while (!watch.current.has("good")) await watch.next();
  await before.close();
  await server.close();
  const after = await start(options);
  const { value } = await after.watch(Cluster).next();
  expect(value).toMatchObject({ kind: "added", resource: { name: "good", isRestored: true } });
});
