import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeWith } from "../../../test/e2e/support/peers.ts";
import { Authority } from "../../server/test/support/authority.ts";
import { EtcdMember } from "../../store-etcd/test/support/etcd.ts";
import { run } from "../src/run.ts";
import { readEtcdUrl } from "../src/settings/etcd-url.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Site } from "./serving.ts";

describe("the URL of a store in etcd", () => {
  const read = (rest: string, env = {}): unknown => {
    try {
      return readEtcdUrl(rest, { cwd: "/here", env });
    } catch (cause) {
      return cause instanceof Error ? cause.message : String(cause);
    }
  };

  test("has hosts, a prefix and parameters", () => {
    expect(read("a:1,b:2/mesh/eu")).toEqual({ endpoints: ["http://a:1", "http://b:2"], prefix: "mesh/eu" });
    expect(read("[::1]:1")).toEqual({ endpoints: ["http://[::1]:1"], prefix: "" });
    expect(read("/mesh")).toBe("--store: expected HOST:PORT after etcd://");
    expect(
      read("a:1?ca=ca.pem&cert=c.pem&key=/k.pem&encryption-key=l.key&user=xds", { XDS_STORE_PASSWORD: "p" }),
    ).toEqual({
      ...{ endpoints: ["https://a:1"], prefix: "", keyFile: "/here/l.key" },
      tls: { caFile: "/here/ca.pem", certFile: "/here/c.pem", keyFile: "/k.pem" },
      auth: { user: "xds", password: "p" },
    });
  });

  test.each([
    ["a:1?tls=yes", "--store: expected ca, cert, key, encryption-key, user, password-file in the URL, got tls"],
    ["a:1?user=a&password=b", "--store: a password does not belong in a URL"],
    ["user:secret@a:1/mesh", "--store: a user does not belong before the host"],
    ["a:1,b/mesh", "--store: expected HOST:PORT after etcd://, got b"],
    ["https://a:1", "--store: expected HOST:PORT after etcd://"],
    ["a:1?ca=", "--store: expected a value of ca in the URL"],
    ["a:1?cert=a", "--store: cert and key go together"],
    ["a:1?user=a", "--store: a user needs a password"],
    ["a:1?password-file=a", "--store: password-file goes with user"],
    ["a:1?user=a&password-file=none", /^--store: the password cannot be read: ENOENT/],
  ])("%s is refused", (rest, message) => {
    expect(read(rest)).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });
});

describeWith("etcd", "xds with an etcd that has mutual TLS, users and an encrypted ledger", () => {
  let directory: string;
  let site: Site;
  let member: EtcdMember;
  const file = (name: string): string => join(directory, name);

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "xds-etcd-url-"));
    site = await Site.make({ "clusters.yaml": clusters("a") });
    using ours = new Authority("ours");
    const [server, client] = [ours.issue("IP:127.0.0.1"), ours.issue("DNS:xds")];
    const contents = {
      ...{ "ca.crt": ours.cert, "server.crt": server.cert, "server.key": server.key },
      ...{ "client.crt": client.cert, "client.key": client.key },
      ...{ "ledger.key": randomBytes(32), password: "good\n" },
    };
    for (const [name, content] of Object.entries(contents)) writeFileSync(file(name), content);
    const tls = ["--cert-file", file("server.crt"), "--key-file", file("server.key")];
    member = await EtcdMember.start([...tls, "--client-cert-auth", "--trusted-ca-file", file("ca.crt")], "https");
    const ctl = (...args: readonly string[]): string =>
      member.ctl("--cacert", file("ca.crt"), "--cert", file("client.crt"), "--key", file("client.key"), ...args);
    for (const user of ["root:root", "xds:good"]) ctl("user", "add", user);
    ctl("user", "grant-role", "root", "root");
    ctl("role", "add", "xds");
    ctl("role", "grant-permission", "xds", "--prefix=true", "readwrite", "mesh/");
    ctl("user", "grant-role", "xds", "xds");
    ctl("user", "add", "reader:good");
    ctl("role", "add", "reader");
    ctl("role", "grant-permission", "reader", "--prefix=true", "read", "mesh/");
    ctl("user", "grant-role", "reader", "reader");
    ctl("auth", "enable");
  });
  afterAll(async () => {
    await member.end();
    await site.remove();
    rmSync(directory, { recursive: true });
  });

  const publish = async (query: string, prefix = "mesh"): Promise<readonly [code: number, out: string]> => {
    const io = new CapturedIo({ cwd: directory });
    const store = `etcd://${member.endpoint}/${prefix}?${query}`;
    const code = await run(["publish", site.directory, "--validation", "off", "--store", store], io);
    return [code, io.stdout.text + (code === 0 ? "" : io.stderr.text.split("\n").findLast((line) => line !== ""))];
  };
  const tls = "ca=ca.crt&cert=client.crt&key=client.key";
  const user = "user=xds&password-file=password";

  test("publishes with all of them, and not without one", async () => {
    expect(await publish(`${tls}&${user}&encryption-key=ledger.key`)).toEqual([
      ...[0, "published as 1: 1 resource in 1 file\n"],
    ]);
    const refused = [
      await publish(`${tls}&${user}`),
      await publish(`${tls}&encryption-key=ledger.key`),
      await publish(`${tls}&${user}&encryption-key=ledger.key`, "other"),
      await publish(user),
      await publish(`ca=ca.crt&${user}`),
      await publish(`ca=none.crt&${user}`),
      await publish(`ca=ca.crt&cert=client.crt&key=server.key&${user}`),
    ];
    expect(refused).toEqual([
      [69, expect.stringMatching(/the ledger in etcd is encrypted: a key file is needed$/)],
      [69, expect.stringMatching(/permission denied$/)],
      [69, expect.stringMatching(/permission denied$/)],
      [
        69,
        `xds: the store cannot be used: etcd at ${member.endpoint} requires TLS: give the CA of its certificate (ca)`,
      ],
      [69, `xds: the store cannot be used: etcd at ${member.endpoint} requires a client certificate (cert, key)`],
      [
        2,
        expect.stringMatching(
          /the store cannot be used: ca: .*none\.crt cannot be read: ENOENT: no such file or directory$/,
        ),
      ],
      [2, expect.stringMatching(/the store cannot be used: key: .*server\.key does not belong to .*client\.crt$/)],
    ]);
  });

  test("shows the status of a store, empty or not, to a user that may only read it", async () => {
    const status = async (prefix: string): Promise<readonly [code: number, out: string]> => {
      const io = new CapturedIo({ cwd: directory });
      const query = `${tls}&user=reader&password-file=password&encryption-key=ledger.key`;
      const code = await run(["status", "--store", `etcd://${member.endpoint}/${prefix}?${query}`], io);
      return [code, io.stdout.text + io.stderr.text];
    };
    expect(await status("mesh/none")).toEqual([0, "store     empty\n\nno server follows the store\n"]);
    await publish(`${tls}&${user}&encryption-key=ledger.key`);
    expect(await status("mesh")).toEqual([0, "store     newest record 1\n\nno server follows the store\n"]);
  });
});
