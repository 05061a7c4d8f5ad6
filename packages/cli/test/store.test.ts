import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { describeWith } from "../../../test/e2e/support/peers.ts";
import { EtcdMember } from "../../store-etcd/test/support/etcd.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Site } from "./serving.ts";

const PRIVATE = "what nobody may read";
const secrets = `- "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
  name: key
  generic_secret: { secret: { inline_string: "${PRIVATE}" } }
`;

let site: Site;
let folder: string;
let store: string;
let file: string;

beforeEach(async () => {
  site = await Site.make({ "clusters.yaml": clusters("a", "b"), "secrets.yaml": secrets });
  folder = await mkdtemp(join(tmpdir(), "xds-store-"));
  store = `file:${join(folder, "ledger")}`;
  file = join(folder, "backup");
  await xds(["publish", site.directory, "--validation", "off", "--store", store, "-m", "first"]);
  await site.write("clusters.yaml", clusters("a", "b", "c"));
  await xds(["publish", site.directory, "--validation", "off", "--store", store, "-m", "second"]);
});
afterEach(async () => {
  await site.remove();
  await rm(folder, { recursive: true, force: true });
});

async function xds(
  args: readonly string[],
  input?: string,
): Promise<readonly [code: number, out: string, err: string]> {
  const io = new CapturedIo({ ...(input !== undefined && { input }) });
  const code = await run(args, io);
  return [code, io.stdout.text, io.stderr.text];
}

const other = (): string => `file:${join(folder, "other")}`;
const exported = "exported up to record 2: 2 records, 3 bodies\n";
const imported = "imported up to record 2: 2 records, 3 bodies\n";

describe("xds store export and import", () => {
  test("through a file that only its owner can read, without the content of Secrets", async () => {
    expect(await xds(["store", "export", file, "--store", store])).toEqual([0, exported, ""]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, "utf8");
    expect([text.includes(PRIVATE), text.includes(Buffer.from(PRIVATE).toString("base64"))]).toEqual([false, false]);
    expect(await xds(["store", "import", file, "--store", other()])).toEqual([0, imported, ""]);
    const [code, out] = await xds(["publish", site.directory, "--validation", "off", "--store", other()]);
    expect([code, out]).toEqual([0, "nothing to publish: 2 has the same\n"]);
  });

  test.runIf(process.platform === "linux")("to a device is written into it, and says that it is full", async () => {
    const full = join(folder, "full");
    await symlink("/dev/full", full);
    expect(await xds(["store", "export", full, "--store", store])).toEqual([
      ...[1, "", expect.stringMatching(/^xds: .*full cannot be written: no space left on device\n$/)],
    ]);
    expect((await lstat(full)).isSymbolicLink()).toBe(true);
  });

  test("through a pipe, and the same comes out of the other store", async () => {
    const [code, text, err] = await xds(["store", "export", "--store", store]);
    expect([code, err]).toEqual([0, exported]);
    expect(await xds(["store", "import", "-", "--store", other()], text)).toEqual([0, imported, ""]);
    expect(await xds(["store", "export", "--store", other()])).toEqual([0, text, exported]);
  });

  test("into a store that has records is refused, unless it is told to replace them", async () => {
    await xds(["store", "export", file, "--store", store]);
    await xds(["publish", site.directory, "--validation", "off", "--store", other()]);
    expect(await xds(["store", "import", file, "--store", other()])).toEqual([
      ...[1, "", "xds: the store has 1 record, and is left as it is\nhint: --replace lets go of them\n"],
    ]);
    expect(await xds(["store", "import", file, "--store", other(), "--replace"])).toEqual([0, imported, ""]);
  });

  test("says what is wrong, and leaves everything as it is", async () => {
    await xds(["store", "export", file, "--store", store]);
    const text = await readFile(file, "utf8");
    await writeFile(file, text.slice(0, -20));
    await mkdir(join(folder, "other"));
    const answers = [
      await xds(["store", "import", file, "--store", other()]),
      await xds(["store", "import", join(folder, "nowhere"), "--store", other()]),
      await xds(["store", "export", join(folder, "no/where"), "--store", store]),
      await xds(["store", "export", file, "--store", other()]),
      await xds(["store", "export", file]),
    ];
    expect(answers).toEqual([
      [1, "", expect.stringMatching(/^xds: .*backup: it ends amidst line \d+\n$/)],
      [1, "", expect.stringMatching(/^xds: .*nowhere cannot be read: no such file or directory\n$/)],
      [1, "", expect.stringMatching(/^xds: .*no\/where cannot be written: no such file or directory\n$/)],
      [1, "", "xds: the store is empty\n"],
      [2, "", "xds: expected a store\nhint: give --store\n"],
    ]);
    expect((await readFile(file, "utf8")).length).toBe(text.length - 20);
  });

  test("from what cannot be read creates no store", async () => {
    const answers = [
      await xds(["store", "import", join(folder, "nowhere"), "--store", other()]),
      await xds(["store", "import", "-", "--store", other()], ""),
    ];
    expect(answers.map(([code, , err]) => [code, err.replace(folder, "")])).toEqual([
      [1, "xds: /nowhere cannot be read: no such file or directory\n"],
      [1, "xds: standard input: it is empty\n"],
    ]);
    expect(await readdir(folder)).toEqual(["ledger"]);
  });

  test("does not print into a terminal", async () => {
    const io = new CapturedIo({ terminalColumns: 100 });
    expect([await run(["store", "export", "--store", store], io), io.stdout.text]).toEqual([2, ""]);
  });
});

describeWith("etcd", "xds store export and import with etcd", () => {
  let member: EtcdMember;
  beforeAll(async () => {
    member = await EtcdMember.start();
  });
  afterAll(() => member.end());

  test("from a directory into etcd and back is the same", async () => {
    const etcd = `etcd://${member.endpoint}/mesh`;
    const [, text] = await xds(["store", "export", "--store", store]);
    expect(await xds(["store", "import", "--store", etcd], text)).toEqual([0, imported, ""]);
    const [code, again] = await xds(["store", "export", "--store", etcd]);
    expect([code, again]).toEqual([0, text]);
    expect(await xds(["store", "import", "--store", other()], again)).toEqual([0, imported, ""]);
    expect(await xds(["store", "export", "--store", other()])).toEqual([0, text, exported]);
    expect(member.ctl("get", "mesh/", "--prefix", "--print-value-only")).not.toContain(PRIVATE);
    expect((await xds(["store", "import", "--store", etcd], text))[0]).toBe(1);
    expect(await xds(["store", "import", "--store", etcd, "--replace"], text)).toEqual([0, imported, ""]);
  });
});
