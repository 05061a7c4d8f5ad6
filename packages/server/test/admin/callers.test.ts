import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { wholeGrant } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AdminChange } from "../../src/admin/answer-request.ts";
import { type AdminServer, type AdminServerOptions, createAdminServer } from "../../src/admin/server.ts";
import { Authority } from "../support/authority.ts";
import { CDS, node, RealMachine } from "./real-machine.ts";

let world: RealMachine;
let admin: AdminServer | undefined;
const sockets: Socket[] = [];

beforeEach(() => {
  world = new RealMachine();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await admin?.close();
  world.metrics.close();
});

type Address = Pick<AddressInfo, "port"> & { readonly host: string };

async function start(options: Partial<AdminServerOptions> = {}): Promise<Address> {
  const { view, metrics, deliveries } = world;
  admin = createAdminServer({ view, metrics, deliveries, listen: { host: "127.0.0.1", port: 0 }, ...options });
  const address = await admin.start();
  if (address === undefined) throw new Error("expected a port");
  return address;
}

async function open(address: Address): Promise<Socket> {
  const socket = connect(address).on("error", () => undefined);
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

const asking = (path: string, method = "GET"): string => `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

/** Reads until so many answers have begun. */
async function readAnswers(socket: Socket, count: number): Promise<string> {
  let text = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.split("HTTP/1.1 ").length > count) break;
  }
  return text;
}

const times = { headMs: 100, requestMs: 100, blockedMs: 100, answerMs: 60_000 };

/** Makes the list of streams one that has no end; resolves when nobody reads it any more. */
function answerWithoutEnd(): Promise<void> {
  const stream = world.open();
  world.receive(stream, { kind: "delta", type: CDS, node: node("n") });
  const { streams } = world.view;
  return new Promise<void>((resolve) => {
    Object.assign(world.view, {
      streams: function* () {
        try {
          for (;;) yield* streams();
        } finally {
          resolve();
        }
      },
    });
  });
}

test("the requests of one packet are answered one after another", async () => {
  let running = 0;
  let most = 0;
  const scrape = async (): Promise<string> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return "x";
  };
  const socket = await open(await start({ metrics: { ...world.metrics, scrape } }));
  socket.write(asking("/metrics").repeat(500));
  await readAnswers(socket, 500);
  expect(most).toBe(1);
});

test("what waits behind another answer is not done for a caller that leaves, so that the audit has all that is done", async () => {
  const asked: string[] = [];
  const audited: AdminChange[] = [];
  const address = await start({
    access: {
      grant({ entryPoint }) {
        asked.push(entryPoint);
        return wholeGrant;
      },
    },
    onChange: (change) => audited.push(change),
  });
  const socket = await open(address);
  socket.write(asking("/api/v1/events") + asking("/api/v1/rollback/1", "POST"));
  await readAnswers(socket, 1);
  socket.destroy();
  const next = await open(address);
  next.write(asking("/api/v1/reject/1", "POST"));
  await readAnswers(next, 1);
  next.destroy();
  await expect.poll(() => audited.map(({ path }) => path)).toEqual(["/api/v1/reject/1"]);
  expect(asked.filter((entryPoint) => entryPoint === "admin-change")).toHaveLength(1);
});

test("a caller that stops reading is disconnected", async () => {
  const ended = answerWithoutEnd();
  const socket = await open(await start({ times }));
  socket.pause().write(asking("/api/v1/streams"));
  await ended;
});

test("a caller that takes too long to read its answer is disconnected, however little it reads at a time", async () => {
  const ended = answerWithoutEnd();
  const socket = await open(await start({ times: { ...times, blockedMs: 60_000, answerMs: 200 } }));
  socket.resume().write(asking("/api/v1/streams"));
  await ended;
});

test("a caller whose answer takes longer than that is not", async () => {
  const scrape = async (): Promise<string> => {
    await new Promise((resolve) => setTimeout(resolve, 3 * times.blockedMs));
    return "x";
  };
  const socket = await open(await start({ times, metrics: { ...world.metrics, scrape } }));
  socket.write(asking("/metrics"));
  expect(await readAnswers(socket, 1)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test.each(["", "GET /livez HTTP/1.1\r\nHo"])(
  "over TLS, a caller that goes no further than %j is disconnected",
  async (text) => {
    const directory = mkdtempSync(join(tmpdir(), "xdskit-callers-"));
    try {
      using authority = new Authority("authority");
      const files = { cert: join(directory, "own.crt"), key: join(directory, "own.key") };
      const { cert, key } = authority.issue("DNS:localhost");
      writeFileSync(files.cert, cert);
      writeFileSync(files.key, key);
      const address = await start({ times, tls: files });
      const socket = connectTls({ ...address, rejectUnauthorized: false }).on("error", () => undefined);
      sockets.push(socket);
      await once(socket, "secureConnect");
      socket.resume().write(text);
      await once(socket, "close");
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);

test("callers that say nothing make room, and those that asked for something stay", async () => {
  const address = await start();
  const events = await open(address);
  events.write(asking("/api/v1/events"));
  await readAnswers(events, 1);
  const silent = await Promise.all(Array.from({ length: 300 }, () => open(address)));
  const late = await open(address);
  late.write(asking("/api/v1/nodes"));
  expect(await readAnswers(late, 1)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  await expect.poll(() => silent.filter((socket) => socket.resume().closed).length).toBe(46);
  expect(events.closed).toBe(false);
});
