import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { type AddressInfo, createServer, type Server } from "node:net";
import { contentDigest, createBodyEncoder } from "@xdskit/envoy-api";
import { statusCode } from "@xdskit/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Hub } from "../../hub/hub.ts";
import type { ServerReport } from "../../hub/port.ts";
import { defaultLimits } from "../../options.ts";
import { describePeer } from "../peer.ts";
import { RestServer } from "../rest/rest-server.ts";
import { GrpcConnection } from "./connection.ts";
import { Decompression } from "./decompression.ts";
import type { GrpcMethod } from "./method.ts";

const fault = new Error("a bug");
const fail = (): never => {
  throw fault;
};
const nothing = (): void => undefined;
const listener = { onMessage: nothing, onHalfClose: nothing, onFailure: nothing, onClose: nothing };

const methods = new Map<string, GrpcMethod>([
  ["/at-once", fail],
  ["/with-a-message", throwingIn({ onMessage: fail })],
  ["/with-its-end", throwingIn({ onHalfClose: fail })],
  ["/with-a-failure", throwingIn({ onMessage: fail, onFailure: fail })],
  ["/when-it-is-gone", throwingIn({ onClose: fail })],
  [
    "/fine",
    (call) => {
      call.end({ code: statusCode.OK, message: "" });
      return nothing;
    },
  ],
]);

function throwingIn(throwing: Partial<typeof listener>): GrpcMethod {
  return (call) => {
    call.accept({ ...listener, onFailure: (status) => call.end(status), ...throwing });
    return nothing;
  };
}

let server: Server;
let client: ClientHttp2Session;
const reports: ServerReport[] = [];

beforeEach(async () => {
  reports.length = 0;
  const hub = new Hub({
    digest: contentDigest,
    traits: () => undefined,
    placement: () => ["base"],
    insecure: false,
    encoder: createBodyEncoder({ controlPlane: "" }),
    limits: defaultLimits,
    telemetry: { report: (report) => reports.push(report) },
  });
  const rest = new RestServer({ handlers: new Map(), maxRequestBytes: 1_000 });
  const options = {
    hub,
    limits: defaultLimits,
    methods,
    listener: undefined,
    rest,
    decompression: new Decompression(),
  };
  server = createServer((socket) => {
    socket.on("error", nothing);
    GrpcConnection.open(socket, describePeer(socket), options);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on("error", nothing);
});
afterEach(() => {
  client.destroy();
  server.close();
});

/** Calls a method with one message; its status, or the code that it was reset with. */
async function call(path: string, cancel = false): Promise<string> {
  const stream = client.request({ ":method": "POST", ":path": path, "content-type": "application/grpc" });
  let said = "";
  const note = (headers: Readonly<Record<string, unknown>>): void => {
    if (headers["grpc-status"] !== undefined) said = `status ${String(headers["grpc-status"])}`;
  };
  stream.on("response", note).on("trailers", note).on("error", nothing).resume();
  if (cancel) stream.once("response", () => stream.close(8));
  else stream.end(Buffer.alloc(5));
  await new Promise<void>((resolve) => stream.once("close", () => resolve()));
  return said === "" ? `reset ${stream.rstCode}` : said;
}

test.each([
  ["/at-once", "reset 2"],
  ["/with-a-message", "status 13"],
  ["/with-its-end", "status 13"],
  ["/with-a-failure", "reset 8"],
])("a mistake in serving a call ends that call, and is told: %s", async (path, end) => {
  expect(await call(path)).toBe(end);
  const told = reports.flatMap((report) => (report.kind === "invariant-broken" ? [report] : []));
  expect(told.length).toBeGreaterThan(0);
  for (const report of told) expect(report).toMatchObject({ during: `call ${path}`, error: fault });
  expect(await call("/fine")).toBe("status 0");
});

test("a mistake after a call has ended is told, and hurts nobody", async () => {
  expect(await call("/when-it-is-gone", true)).toBe("reset 8");
  expect(await call("/fine")).toBe("status 0");
  expect(reports).toContainEqual({
    kind: "invariant-broken",
    stream: undefined,
    during: "call /when-it-is-gone",
    error: fault,
  });
});
