import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority, type IssuedCertificate } from "../../server/test/support/authority.ts";
import { RawPeer } from "../../server/test/support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, sotwRequest } from "../../server/test/support/test-server.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const WITHIN_MS = 30_000;

let site: Site;
let authority: Authority;
let successor: Authority;
let client: IssuedCertificate;
let serving: Serving;
let peer: RawPeer;

beforeAll(async () => {
  [authority, successor] = [new Authority("authority"), new Authority("successor")];
  const own = authority.issue("IP:127.0.0.1");
  client = authority.issue("URI:spiffe://prod/edge");
  site = await Site.make({
    ...{ "a.yaml": clusters("one"), "ca.crt": authority.cert, "server.crt": own.cert, "server.key": own.key },
    "xdskit.yaml": "tls: { cert: server.crt, key: server.key, ca: ca.crt }\n",
  });
  serving = await Serving.start(site);
  await until("it serves", () => serving.isReady());
  const [host = "", port] = serving.address.split(":");
  peer = await RawPeer.connect({ host, port: Number(port) }, { ca: authority.cert, ...client });
  const call = peer.open(ADS_SOTW);
  call.send(sotwRequest(CLUSTER));
  await call.next(WITHIN_MS);
}, WITHIN_MS);
afterAll(async () => {
  await peer.close();
  await serving.stop();
  await site.remove();
  for (const one of [authority, successor]) one[Symbol.dispose]();
});

async function xds(...args: readonly string[]): Promise<readonly [number, string]> {
  const io = new CapturedIo();
  const code = await run([...args, "--admin", serving.admin], io);
  return [code, `${io.stdout.text}${io.stderr.text}`];
}

test("CAs that would cut off the fleet are in xds status, and xds approve puts them in force", async () => {
  expect(await xds("approve")).toEqual([1, "xds: nothing is held\n"]);
  await site.write("ca.crt", successor.cert);
  let shown = "";
  await until("xds status says so", async () => {
    [, shown] = await xds("status");
    return shown.includes("held");
  });
  const [, id = "", message] = /^held +(ca-[0-9a-f]{8}) \(\S+\/ca\.crt\) for [^:]+: ([^;]+);/m.exec(shown) ?? [];
  expect(message).toBe("1 of 1 connected nodes would be cut off: 1 by the CAs");
  expect(shown).toContain(`\`xds approve ${id}\` puts it in force\n`);
  expect(await xds("reject")).toEqual([1, "xds: nothing is held\n"]);
  expect(await xds("reject", id)).toEqual([2, `xds: expected a number of xds history, got "${id}"\n`]);
  expect(peer.isGone).toBe(false);

  expect(await xds("approve")).toEqual([0, `${id} is in force\n`]);
  await until("the client is cut off", () => peer.isGone);
  expect((await xds("status"))[1]).not.toContain("held");
  expect(await xds("approve", id)).toEqual([1, `xds: ${id} is not held; no CAs or revocation lists are\n`]);
});
