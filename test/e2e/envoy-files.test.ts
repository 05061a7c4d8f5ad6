import {
  cpSync,
  existsSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCertificate, shownCommonName } from "./support/certificate.ts";
import { type FileEnvoy, type FileWay, startFileEnvoy, swapTo } from "./support/file-envoy.ts";
import { httpGet } from "./support/http-load.ts";
import { clusterNames, NO_LOSS, noteLosses, onlyCluster } from "./support/loaded-envoy.ts";
import { times } from "./support/measure.ts";
import { adsDelta } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

const ways: readonly (readonly [string, FileWay])[] = [
  { name: "yaml", format: "yaml" } as const,
  { name: "json", format: "json" } as const,
  { name: "pb", format: "pb" } as const,
  { name: "pb_text", format: "pb_text" } as const,
  { name: "yaml behind a link", format: "yaml", symlinks: true } as const,
].map((way) => [way.name, way] as const);

/** Swaps the link to a generation with another content of one file. */
function swapLink(out: string, file: string, content: string | Uint8Array): void {
  cpSync(join(out, readlinkSync(join(out, "..data"))), join(out, "..bad"), { recursive: true });
  writeFileSync(join(out, "..bad", file), content);
  symlinkSync("..bad", join(out, "..data_bad"));
  renameSync(join(out, "..data_bad"), join(out, "..data"));
}

/** An Envoy that is configured by files only (client-behaviours 2.16). */
describeWith("envoy", "Envoy", () => {
  describe.each(ways)("%s", (name, way) => {
    const stack = createStack();
    let world: FileEnvoy;

    beforeAll(async () => {
      world = await startFileEnvoy(stack, way);
    });
    afterAll(() => stack[Symbol.asyncDispose]());

    async function settle(scenario: string, rounds: number): Promise<void> {
      const losses = noteLosses(`files: ${scenario}`, { mode: { ...adsDelta, name } }, rounds, await world.losses());
      expect(losses).toEqual(NO_LOSS);
      const stats = await world.envoy.stats();
      const rejected = ["cluster_manager.cds", "listener_manager.lds", "http.http.rds.routes"].map((each) => [
        stats(`${each}.update_rejected`),
        stats(`${each}.update_failure`),
      ]);
      expect(rejected).toEqual([
        [0, 0],
        [0, 0],
        [0, 0],
      ]);
    }

    test("loses no request while a cluster is swapped for another under its route", async () => {
      const { site, load } = world;
      const rounds = times(4, 50);
      for (let round = 0; round < rounds; round++) {
        const backend = round % 2 === 0 ? world.green : world.blue;
        site.write(swapTo(`swap-${round}`, backend.port));
        await load.answeredBy(backend.name, 5_000);
        await onlyCluster(world, `swap-${round}`);
      }
      await settle("swaps", rounds);
    });

    test("loses no request while a cluster gets another name", async () => {
      const rounds = times(3, 50);
      for (let round = 0; round < rounds; round++) {
        world.site.write(swapTo(`name-${round}`, world.blue.port));
        await onlyCluster(world, `name-${round}`);
      }
      await settle("renames", rounds);
    });

    test("loses no request while the listener gets another name, with its own routes and cluster", async () => {
      const { site, load, blue, green } = world;
      const rounds = times(2, 20);
      for (let round = 0; round < rounds; round++) {
        const backend = round % 2 === 0 ? green : blue;
        const name = `moved-${round}`;
        site.write({
          "listeners.json": [world.listener(name, name)],
          "swap.json": [cluster({ name }), endpoints(name, [backend.port])],
          "routes.json": [routes(name, [{ cluster: name }])],
        });
        await load.answeredBy(backend.name, 5_000);
        await onlyCluster(world, name);
      }
      await settle("listener renames", rounds);
      site.write({ "listeners.json": [world.listener("http", "routes")], ...swapTo("back", blue.port) });
      await onlyCluster(world, "back");
      await settle("listener renamed back", 1);
    });

    test("has the versions of the files", async () => {
      const texts = await world.envoy.texts("(cds|lds|rds).*version_text");
      const versions = Object.values(texts);
      expect(versions.length).toBeGreaterThanOrEqual(3);
      for (const version of versions) expect(version).toMatch(/^[\w-]{16}$/);
    });

    test("moves endpoints, and takes listeners and routes that come and go", async () => {
      const { site, load, blue, green, envoy } = world;
      site.write(swapTo("moved", blue.port));
      await onlyCluster(world, "moved");
      site.write(swapTo("moved", green.port));
      await load.answeredBy(green.name, 5_000);
      const port = await freePort();
      site.write({
        "more.json": [
          listener({ name: "more", port, routes: "Routes/of More" }),
          routes("Routes/of More", [{ cluster: "moved" }]),
        ],
      });
      await until({ says: "the new listener answers", withinMs: 5_000 }, async () => {
        return (await httpGet({ port })).body === green.name;
      });
      site.write({ "more.json": undefined });
      await until({ says: "it is gone", withinMs: 5_000 }, async () => {
        return (await envoy.stats())("listener_manager.total_listeners_active") === 1;
      });
      await settle("moves", 1);
    });

    test("loses no request when the writer is killed, and the cluster is swapped before it comes back", async () => {
      const { site, load, green, writing } = world;
      await writing.process().kill();
      site.write(swapTo("meanwhile", green.port));
      await writing.start();
      await load.answeredBy(green.name, 5_000);
      await onlyCluster(world, "meanwhile");
      await settle("swap while the writer is away", 1);
    });

    test("keeps what it has while a file is no good", async () => {
      const { envoy, pathOf, site, blue, load } = world;
      const count = async (): Promise<number> => {
        const stats = await envoy.stats();
        return stats("cluster_manager.cds.update_rejected") + stats("cluster_manager.cds.update_failure");
      };
      const before = await count();
      const names = await clusterNames(envoy);
      const good = readFileSync(pathOf("cds"));
      const bad = way.format === "yaml" ? "resources: [" : good.subarray(0, good.length - 20);
      if (way.symlinks === true) swapLink(world.out, `cds.${way.format}`, bad);
      else {
        writeFileSync(`${pathOf("cds")}.new`, bad);
        renameSync(`${pathOf("cds")}.new`, pathOf("cds"));
      }
      await until({ says: "Envoy counts it", withinMs: 3_000 }, async () => (await count()) === before + 1);
      expect(await clusterNames(envoy)).toEqual(names);
      // The next change overwrites it.
      site.write(swapTo("after-bad", blue.port));
      await load.answeredBy(blue.name, 5_000);
      await onlyCluster(world, "after-bad");
      expect((await world.losses()).wronglyAnswered).toEqual({});
    });
  });

  test("loses requests where everything is written at once", async () => {
    await using stack = createStack();
    const flags = ["--no-make-before-break", "--settle", "0s"];
    const world = await startFileEnvoy(stack, { name: "yaml", format: "yaml" }, {}, flags);
    const rounds = times(20, 50);
    for (let round = 0; round < rounds; round++) {
      const backend = round % 2 === 0 ? world.green : world.blue;
      world.site.write(swapTo(`swap-${round}`, backend.port));
      await world.load.answeredBy(backend.name, 5_000);
    }
    const way = { mode: { ...adsDelta, name: "yaml" } };
    const { wronglyAnswered, lostToConfiguration } = noteLosses("files: no order", way, rounds, await world.losses());
    expect({ ...wronglyAnswered, ...lostToConfiguration }).not.toEqual({});
  });

  test("secrets come from files that only their owner reads, and are rotated", async () => {
    await using stack = createStack();
    const port = await freePort();
    const secret = (name: string): object => {
      const { cert, key } = createCertificate(name);
      return {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
        name: "server",
        tls_certificate: { certificate_chain: { inline_string: cert }, private_key: { inline_string: key } },
      };
    };
    const transportSocket = {
      name: "envoy.transport_sockets.tls",
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
        common_tls_context: {
          tls_certificate_sds_secret_configs: [{ name: "server", sds_config: { ads: {}, resource_api_version: "V3" } }],
        },
      },
    };
    const world = await startFileEnvoy(
      stack,
      { name: "yaml", format: "yaml" },
      {
        "tls.json": [listener({ name: "tls", port, routes: "routes", transportSocket })],
        "secret.json": [secret("one")],
      },
    );
    await until(
      { says: "the first certificate", withinMs: 5_000 },
      async () => (await shownCommonName(port)) === "one",
    );
    expect(statSync(join(world.out, "sds", "server.yaml")).mode & 0o777).toBe(0o600);
    world.site.write({ "secret.json": [secret("two")] });
    await until({ says: "the second one", withinMs: 5_000 }, async () => (await shownCommonName(port)) === "two");
    expect(statSync(join(world.out, "sds", "server.yaml")).mode & 0o777).toBe(0o600);
    expect((await world.envoy.stats())("listener_manager.listener_modified")).toBe(0);
    expect((await world.losses()).wronglyAnswered).toEqual({});
  });

  test("what is missing is an empty file: Envoy starts, and takes it when it comes", async () => {
    await using stack = createStack();
    const way: FileWay = { name: "json", format: "json" };
    const world = await startFileEnvoy(stack, way, { "late.json": [cluster({ name: "late" })] });
    expect(await clusterNames(world.envoy)).toEqual(["first", "late"]);
    const path = join(world.out, "eds", "late.json");
    expect(existsSync(path)).toBe(true);
    world.site.write({ "late.json": [cluster({ name: "late" }), endpoints("late", [world.green.port])] });
    await until({ says: "its endpoints", withinMs: 5_000 }, async () => {
      return (await world.envoy.stats())("cluster.late.membership_total") === 1;
    });
    await watchFor(100);
    expect(await world.losses()).toEqual(expect.objectContaining(NO_LOSS));
  });
});
