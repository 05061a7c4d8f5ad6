import { encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { frame, framed, frameType } from "../../packages/server/test/support/http2-frames.ts";
import { ADS_SOTW, CLUSTER } from "../../packages/server/test/support/test-server.ts";
import { staticCluster } from "../e2e/support/resource.ts";
import { startXdsServer } from "../e2e/support/server.ts";
import { createSite } from "../e2e/support/site.ts";
import { createStack } from "../e2e/support/stack.ts";
import { until } from "../e2e/support/wait.ts";
import { Attacker, openCall } from "./support/attacker.ts";

const WINDOWLESS = 200;
const UNREAD = 20;
const BEGUN = 50;
/** The grace for streams is two seconds; the rest is for a busy machine. */
const ENDS_WITHIN_MS = 20_000;

const everything = (id: string): Buffer =>
  framed(encodeSotwRequest({ node: { ...anonymousNode, id }, typeUrl: CLUSTER }));

test(`SIGTERM ends the server with 0 while ${WINDOWLESS + UNREAD} streams are stuck and ${BEGUN} connections hardly began`, async () => {
  await using stack = createStack();
  const clusters = Array.from({ length: 3_000 }, (_, index) => staticCluster(`many-${index}`, [1]));
  const site = stack.use(createSite({ "many.json": clusters }));
  const server = stack.use(await startXdsServer({ site, flags: ["--log-format", "json", "--state-dir", "off"] }));
  const attacker = new Attacker("127.0.0.1", server.port);
  stack.use({ [Symbol.dispose]: () => attacker.end() });

  const windowless = await attacker.session({ initialWindowSize: 0 });
  for (let at = 0; at < WINDOWLESS; at++) openCall(windowless, ADS_SOTW).write(everything(`windowless-${at}`));
  const unread = await attacker.frames();
  unread.socket.pause();
  for (let at = 0; at < UNREAD; at++) {
    const call = unread.call(ADS_SOTW);
    await unread.write(call.frame, frame(frameType.data, 0, call.stream, everything(`unread-${at}`)));
  }
  await until({ says: "all streams are open", withinMs: 30_000, everyMs: 50 }, async () => {
    return (await server.metric("xds_server_limit_used", { limit: "maxStreams" })) === WINDOWLESS + UNREAD;
  });
  for (let at = 0; at < BEGUN; at++) {
    const socket = await attacker.socket();
    if (at % 2 === 0) socket.write("POST /v3/discovery:clusters HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{");
  }
  const connections = 2 + BEGUN / 2; // what has said nothing is not counted
  await until({ says: "all connections are seen", withinMs: 30_000, everyMs: 50 }, async () => {
    return (await server.metric("xds_server_limit_used", { limit: "maxConnections" })) === connections;
  });

  process.kill(server.process().pid, "SIGTERM");
  await until({ says: "the server ends", withinMs: ENDS_WITHIN_MS }, () => server.process().ended() !== undefined);
  expect(server.process().ended()).toEqual({ code: 0, signal: null });
  await server.process().closed;
  const events = [
    ...server
      .process()
      .log()
      .matchAll(/"event":"(stopping|stopped)"/g),
  ].map(([, event]) => event);
  expect(events).toEqual(["stopping", "stopped"]);
}, 120_000);
