import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority } from "../../server/test/support/authority.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Site } from "./serving.ts";

const name = "URI:spiffe://prod/sa/edge";
const settings = `access:
  rules:
    - identities: ["spiffe://prod/sa/edge"]
tls: { cert: server.crt, key: server.key, ca: ca.crt, crl: ca.crl }
`;
/** Certificates are judged at the time at which they were made. */
class TimedIo extends CapturedIo {
  override now(): Date {
    return new Date();
  }
}

let site: Site;
let authority: Authority;
let stranger: Authority;

beforeAll(async () => {
  [authority, stranger] = [new Authority("authority"), new Authority("stranger")];
  const revoked = authority.issue(name);
  authority.revoke(revoked);
  site = await Site.make({
    ...{ "a.yaml": clusters("one"), "xdskit.yaml": settings, "ca.crt": authority.cert, "ca.crl": authority.list() },
    ...{ "good.crt": authority.issue(name).cert, "revoked.crt": revoked.cert },
    "untrusted.crt": stranger.issue(name).cert,
    "expired.crt": authority.issue(name, { until: new Date(Date.now() - 60_000) }).cert,
  });
});
afterAll(async () => {
  await site.remove();
  for (const one of [authority, stranger]) one[Symbol.dispose]();
});

test.each([
  ["good", 0, undefined],
  ["expired", 1, "expired"],
  ["untrusted", 1, "untrusted"],
  ["revoked", 1, "revoked"],
])("a certificate that a server would not trust counts for nothing: %s", async (file, code, certificate) => {
  const io = new TimedIo();
  const asked = ["access", "explain", site.directory, "--cert", join(site.directory, `${file}.crt`), "-n", "edge-1"];
  expect(await run([...asked, "-o", "json"], io)).toBe(code);
  const answer = JSON.parse(io.stdout.text) as { readonly allowed: boolean; readonly certificate?: string };
  expect([answer.allowed, answer.certificate]).toEqual([code === 0, certificate]);
});
