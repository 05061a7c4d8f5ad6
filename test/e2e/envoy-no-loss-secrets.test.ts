import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deliveries } from "./support/admin.ts";
import { createCertificate, shownCommonName } from "./support/certificate.ts";
import { timersFired } from "./support/envoy.ts";
import type { Backend } from "./support/http-backend.ts";
import { startHttpLoad } from "./support/http-load.ts";
import {
  type LoadedEnvoy,
  NO_LOSS,
  noteLosses,
  onlyCluster,
  routeTo,
  startLoadedEnvoy,
} from "./support/loaded-envoy.ts";
import { times } from "./support/measure.ts";
import { modes, named } from "./support/mode.ts";
import { describeWith } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { endpoints } from "./support/resource.ts";
import { certificateSecret, securedCluster, serverSocket, startHttpsBackend, trustSecret } from "./support/secrets.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

const own = createCertificate("own.example");
const [blueCertificate, greenCertificate] = [createCertificate("blue.example"), createCertificate("green.example")];

/** An Envoy under steady load while clusters with TLS, listeners with TLS, and the secrets of both are replaced. */
describeWith("envoy", "Envoy", () => {
  describe.each(named(modes))("%s", (_name, mode) => {
    const stack = createStack();
    let world: LoadedEnvoy;
    let blue: Backend;
    let green: Backend;

    beforeAll(async () => {
      world = await startLoadedEnvoy(stack, mode);
      blue = stack.use(await startHttpsBackend("blue over TLS", blueCertificate, own));
      green = stack.use(await startHttpsBackend("green over TLS", greenCertificate, own));
    });
    afterAll(() => stack[Symbol.asyncDispose]());

    test("loses no request while a cluster with TLS is swapped for another, with other secrets", async () => {
      const rounds = times(6, 30);
      for (let round = 0; round < rounds; round++) {
        const [backend, certificate] = round % 2 === 0 ? [green, greenCertificate] : [blue, blueCertificate];
        const name = `tls-${round}`;
        world.site.write({
          "swap.json": [
            securedCluster(mode, name, { trust: `trust-${round}`, own: `own-${round}` }),
            ...[endpoints(name, [backend.port]), trustSecret(`trust-${round}`, certificate)],
            certificateSecret(`own-${round}`, own),
          ],
          "routes.json": [routeTo(name)],
        });
        await world.load.answeredBy(backend.name, 5_000);
        await onlyCluster(world, name);
      }
      await settle("swaps with secrets", rounds);
    });

    test("loses no request while a cluster in use gets a secret that comes later", async () => {
      const cluster = (trust: string): readonly object[] => [
        securedCluster(mode, "same", { trust, own: "own" }),
        ...[endpoints("same", [blue.port]), certificateSecret("own", own)],
      ];
      world.site.write({
        "swap.json": [...cluster("first"), trustSecret("first", blueCertificate)],
        "routes.json": [routeTo("same")],
      });
      await onlyCluster(world, "same");
      world.site.write({ "swap.json": cluster("late") });
      await isMissing("late");
      await watchFor(500);
      world.site.write({ "swap.json": [...cluster("late"), trustSecret("late", blueCertificate)] });
      await until({ says: "the cluster has it", withinMs: 5_000 }, async () => {
        return JSON.stringify(await world.envoy.dumped("dynamic_active_clusters")).includes('"late"');
      });
      await settle("late secret of a cluster", 1);
    });

    test("accepts every connection while a listener gets a secret that comes later", async () => {
      const port = await freePort();
      const listener = (certificate: string): object =>
        world.listener({ name: "tls", port, transportSocket: serverSocket(mode, certificate) });
      const isShown = async (commonName: string): Promise<unknown> =>
        until({ says: `${commonName} is shown`, withinMs: 5_000 }, async () => {
          return (await shownCommonName(port).catch(() => undefined)) === commonName;
        });
      const first = certificateSecret("first-certificate", blueCertificate);
      world.site.write({ "tls.json": [listener("first-certificate"), first] });
      await isShown("blue.example");
      await using load = startHttpLoad({ port, tls: true, keptPerSecond: 0, newPerSecond: 30 });
      world.site.write({ "tls.json": [listener("late-certificate"), first] });
      await isMissing("late-certificate");
      await watchFor(500);
      expect(await shownCommonName(port)).toBe("blue.example");
      world.site.write({
        "tls.json": [listener("late-certificate"), certificateSecret("late-certificate", greenCertificate)],
      });
      await isShown("green.example");
      expect((await load.stop()).failed).toEqual({});
      expect(await timersFired(world.envoy)).toEqual({});
      world.site.write({ "tls.json": undefined });
    });

    /** Waits until Envoy has requested a secret that does not exist. */
    async function isMissing(name: string): Promise<void> {
      await until({ says: `Envoy requests ${name}`, withinMs: 5_000 }, async () =>
        (await deliveries(world.server)).some(
          ({ shortName, doesNotExist = [] }) => shortName === "sds" && doesNotExist.includes(name),
        ),
      );
    }

    /** Requests were served since the last call, and none was lost. */
    async function settle(what: string, rounds: number): Promise<void> {
      const losses = await world.losses();
      expect(losses.total).toBeGreaterThan(0);
      expect(noteLosses(`no loss: ${what}`, world, rounds, losses)).toEqual(NO_LOSS);
    }
  });
});
