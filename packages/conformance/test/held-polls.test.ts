import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import { serverCases } from "../src/cases/server/cases.ts";
import { playOverTheWire } from "../src/play/over-the-wire.ts";
import { playsOf } from "../src/play/plays.ts";
import { createOurs } from "../src/target/ours.ts";
import type { Target } from "../src/target/target.ts";

const ours = createOurs();
afterAll(() => ours[Symbol.asyncDispose]());

/** Our server behind a proxy by which it holds polls for 32 ms only. */
const impatient: Target = {
  ...ours,
  async start(setup, kind) {
    const server = await ours.start(setup, kind);
    const [host, port] = server.address.split(":");
    const proxy = createServer((incoming, answer) => {
      const { method, url, headers } = incoming;
      const toldLimit = { ...headers, "x-envoy-expected-rq-timeout-ms": "40" };
      const onward = request({ host, port, path: url, method, headers: toldLimit }, (response) => {
        answer.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(answer);
      });
      onward.on("error", () => answer.destroy());
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    return {
      ...server,
      address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      async stop() {
        proxy.closeAllConnections();
        proxy.close();
        await server.stop();
      },
    };
  },
};

const held = ["S-RST-03", "S-RST-10/other", "S-RST-12", "S-RST-12/silent", "S-RST-14"];

test.each(held)("%s is failed by a server that holds polls for a moment only", async (id) => {
  const [play] = playsOf(serverCases.filter((each) => each.id === id));
  if (play === undefined) throw new Error(`no play of ${id}`);
  const verdict = await playOverTheWire(play, impatient);
  const step = play.case.steps.findIndex((each) => "passes" in each) + 1;
  expect(verdict).toMatchObject({ passed: false, step });
});
