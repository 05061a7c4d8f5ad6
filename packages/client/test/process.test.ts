/** What keeps a process alive, and what does not: real ones, with the built package. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { atEnd, folder } from "./support/ends.ts";
import { read, serve } from "./support/own-server.ts";
import { run } from "./support/program.ts";
import { CLUSTER } from "./support/sources.ts";

const cluster = (name: string): ReturnType<typeof read> =>
  read({ "@type": CLUSTER, name, type: "STATIC", connectTimeout: "1s" });

async function serveOne(): Promise<string> {
  return (await serve(cluster("a"))).address;
}

/** Takes connections, and says nothing on them. */
async function silentServer(): Promise<string> {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => void server.close());
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

describe("a process", { timeout: 60_000 }, () => {
  test("ends by itself once its client was closed, while connected and while not", async () => {
    const address = await serveOne();
    const printed = await run(`
      const client = await createXdsClient({ server: ${JSON.stringify(address)} });
      const vain = await createXdsClient({ server: "127.0.0.1:1" });
      vain.watch(Cluster, "x");
      console.log((await client.get(Cluster, "a")).name);
      client.watch(Cluster);
      await client.close();
      await vain.close();
    `);
    expect(printed).toBe("a\n");
  });

  test("is kept alive by nothing but what somebody waits for", async () => {
    const address = await serveOne();
    const printed = await run(`
      const client = await createXdsClient({ server: ${JSON.stringify(address)} });
      console.log((await client.list(Cluster)).length);
      const vain = await createXdsClient({ server: "127.0.0.1:1", limits: { connectTimeoutMs: 200 } });
      const error = await vain.get(Cluster, "x", { timeoutMs: 1500 }).catch((error) => error);
      console.log(error.code);
      vain.watch(Cluster, "x");
    `);
    expect(printed).toBe("1\nUNREACHABLE\n");
  });

  test("does not end while somebody iterates, though no server can be reached", async () => {
    const printed = await run(`
      const client = await createXdsClient({ server: "127.0.0.1:1" });
      setTimeout(() => client.close(), 1000).unref();
      const kinds = new Set();
      for await (const { kind } of client.watch(Cluster)) kinds.add(kind);
      console.log([...kinds].join());
    `);
    expect(printed).toBe("error\n");
  });

  test("does not end while somebody waits for a mesh to be ready, though no server can be reached", async () => {
    const printed = await run(`
      const client = await createXdsClient({ server: "127.0.0.1:1" });
      setTimeout(() => client.close(), 1000).unref();
      const error = await client.resolve(Cluster, "x").ready.catch((error) => error);
      console.log(error.code);
      const done = await createXdsClient({ server: "127.0.0.1:1" });
      done.resolve(Cluster, "x");
    `);
    expect(printed).toBe("CLOSED\n");
  });

  test("ends with its last line where nobody waits, whatever its clients try in vain", async () => {
    const file = join(folder(), "clusters.json");
    writeFileSync(file, JSON.stringify({ resources: [] }));
    const silent = await silentServer();
    const vain = [
      { server: "127.0.0.1:1" },
      { server: "127.0.0.1:1", transport: { rest: true } },
      { server: silent, limits: { connectTimeoutMs: 200 }, transport: { tls: { serverName: "xds.test" } } },
      {
        server: silent,
        limits: { connectTimeoutMs: 200 },
        transport: { rest: { requestTimeoutMs: 200, refreshDelayMs: 60_000 } },
      },
      { file: join(folder(), "none.json") },
      { file },
    ];
    const printed = await run(`
      const api = createEnvoyApi();
      for (const options of ${JSON.stringify(vain)}) {
        const client = await createXdsClient({ api, cache: { path: ${JSON.stringify(join(folder(), "cache"))} }, ...options });
        client.watch(Cluster, "x");
        client.resolve(Cluster, "x");
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
      console.log("last line");
    `);
    expect(printed).toBe("last line\n");
  });

  test("ends when what it has by await using is disposed of, however it is left", async () => {
    const address = JSON.stringify(await serveOne());
    const printed = await run(`
      const api = createEnvoyApi();
      const find = async (name, initialFetchTimeoutMs) => {
        await using client = await createXdsClient({ api, server: ${address}, limits: { initialFetchTimeoutMs } });
        await using watch = client.watch(Cluster, name);
        for await (const change of watch) {
          if (change.kind === "added") return change.key;
          throw new Error(change.kind);
        }
      };
      console.log(await find("a", 15_000));
      await find("b", 500).catch((error) => console.log(error.message));
    `);
    expect(printed).toBe("a\ndoes-not-exist\n");
  });

  test("is told of no rejection when its client is closed in the midst of anything", async () => {
    const address = await serveOne();
    const silent = await silentServer();
    const all = [
      { server: address },
      { server: "127.0.0.1:1" },
      { server: silent, transport: { tls: { serverName: "xds.test" } } },
      { server: silent, transport: { rest: true } },
      { file: join(folder(), "none.json") },
    ];
    const printed = await run(`
      process.on("unhandledRejection", (reason) => console.log("unhandled", reason));
      const api = createEnvoyApi();
      for (const options of ${JSON.stringify(all)}) {
        for (const turns of [0, 1, 3, 10, 100]) {
          const client = await createXdsClient({ api, cache: { path: ${JSON.stringify(join(folder(), "cache"))} }, ...options });
          const waiting = [client.get(Cluster, "a"), client.list(Cluster), client.watch(Cluster).next()];
          const settled = Promise.allSettled(waiting);
          const mesh = client.resolve(Cluster, "a");
          for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
          await Promise.all([client.close(), client.close()]);
          await settled;
        }
      }
      console.log("done");
    `);
    expect(printed).toBe("done\n");
  });

  test("hears what a listener of its own throws, and its client goes on", async () => {
    const address = JSON.stringify(await serveOne());
    const path = join(folder(), "cache");
    writeFileSync(path, "somebody else's");
    const printed = await run(`
      process.on("uncaughtException", ({ message }) => console.log("uncaught", message));
      process.on("unhandledRejection", (reason) => console.log("unhandled", reason));
      let isFirst = true;
      const onReport = () => {
        if (isFirst) queueMicrotask(() => console.log("reported"));
        if (isFirst) isFirst = false;
        else return;
        throw new Error("onReport");
      };
      const onProblem = () => { throw new Error("onProblem"); };
      const client = await createXdsClient({ server: ${address}, cache: { path: ${JSON.stringify(path)}, onProblem }, onReport });
      console.log((await client.get(Cluster, "a")).name);
      await client.close();
    `);
    expect(printed).toBe("uncaught onProblem\nreported\nuncaught onReport\na\n");
  });
});
