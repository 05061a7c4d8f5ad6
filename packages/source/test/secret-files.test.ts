import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource, type DirectorySource, type Load } from "@xdskit/source";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { DirectoryReading } from "../src/directory/directory-reading.ts";
import { syncFileSystem } from "../src/directory/file-system.ts";
import { cluster, temporaryDirectory, write } from "./support/temporary-directory.ts";

const api = createEnvoyApi();
const SECRET = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
const PASSWORD = "correct-horse";

interface Pair {
  readonly cert: string;
  readonly key: string;
}

let [a, b]: Pair[] = [];
let locked = "";

function newPair(): Pair {
  const request = ["req", "-x509", "-days", "2", "-subj", "/CN=edge", "-keyout", "-", "-out", "-"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const both = execFileSync("openssl", [...request, ...curve], { stdio: "pipe", encoding: "utf8" });
  const certAt = both.indexOf("-----BEGIN CERTIFICATE");
  return certAt === 0
    ? { cert: both.slice(0, both.indexOf("-----BEGIN PRIVATE")), key: both.slice(both.indexOf("-----BEGIN PRIVATE")) }
    : { key: both.slice(0, certAt), cert: both.slice(certAt) };
}

beforeAll(() => {
  [a, b] = [newPair(), newPair()];
  const encrypt = ["pkcs8", "-topk8", "-passout", `pass:${PASSWORD}`];
  locked = execFileSync("openssl", encrypt, { input: a.key, stdio: "pipe", encoding: "utf8" });
});

function pairOf(pair: Pair | undefined): Pair {
  if (pair === undefined) throw new Error("there is no pair");
  return pair;
}

const secretYaml = `"@type": ${SECRET}
name: edge
tls_certificate:
  certificate_chain: { filename: ../certs/edge.pem }
  private_key:
    filename: ../certs/edge.key
`;

function withPair(pair: Pair | undefined): Record<string, string> {
  const { cert, key } = pairOf(pair);
  return { "secrets/edge.yaml": secretYaml, "certs/edge.pem": cert, "certs/edge.key": key };
}

const inline = (text: string | Uint8Array): object => ({ inline_bytes: Buffer.from(text).toString("base64") });

function secretIn({ state }: Load, name = "edge"): unknown {
  const found = state?.layers.get("base")?.find((resource) => resource.name === name);
  return found && api.toJson(found.type, found.bytes, { names: "proto" });
}

function servedPair(pair: Pair | undefined): object {
  const { cert, key } = pairOf(pair);
  return {
    "@type": SECRET,
    name: "edge",
    tls_certificate: { certificate_chain: inline(cert), private_key: inline(key) },
  };
}

function told({ problems }: Load): readonly string[] {
  return problems
    .filter(({ code }) => code.startsWith("SECRET_"))
    .map(
      ({ severity, code, file, line, column, message }) => `${file}:${line}:${column} ${severity} ${code} ${message}`,
    );
}

describe("files that a Secret names", () => {
  test("by a path relative to its own file are sent in its place", async () => {
    const directory = temporaryDirectory(withPair(a));
    const load = await createDirectorySource({ directory, api }).load();
    expect([told(load), secretIn(load)]).toEqual([[], servedPair(a)]);
  });

  test("are of every kind, and nothing is left for the client to watch", async () => {
    const { cert, key } = pairOf(a);
    const directory = temporaryDirectory({
      "all.yaml": `resources:
- "@type": ${SECRET}
  name: locked
  tls_certificate:
    certificate_chain: { filename: edge.pem }
    private_key: { filename: locked.key }
    password: { filename: password }
    watched_directory: { path: certs }
- "@type": ${SECRET}
  name: ca
  validation_context: { trusted_ca: { filename: ./edge.pem } }
- "@type": ${SECRET}
  name: tickets
  session_ticket_keys: { keys: [{ filename: ticket }, { inline_string: other }] }
- "@type": ${SECRET}
  name: token
  generic_secret: { secret: { filename: token } }
`,
      ...{ "edge.pem": cert, "locked.key": locked, password: PASSWORD },
      ...{ ticket: Buffer.from([0, 255, 10]), token: "t" },
    });
    const load = await createDirectorySource({ directory, api }).load();
    expect(told(load)).toEqual([]);
    expect(["locked", "ca", "tickets", "token"].map((name) => secretIn(load, name))).toEqual([
      {
        ...{ "@type": SECRET, name: "locked" },
        tls_certificate: {
          ...{ certificate_chain: inline(cert), private_key: inline(locked), password: inline(PASSWORD) },
        },
      },
      { "@type": SECRET, name: "ca", validation_context: { trusted_ca: inline(cert) } },
      {
        ...{ "@type": SECRET, name: "tickets" },
        session_ticket_keys: { keys: [inline(Buffer.from([0, 255, 10])), { inline_string: "other" }] },
      },
      { "@type": SECRET, name: "token", generic_secret: { secret: inline("t") } },
    ]);
    expect(key).not.toBe(locked);
  });

  test.each([
    ["by an absolute path", "/certs/edge.pem", ""],
    ["with secret-files: leave", "../certs/edge.pem", "secret-files: leave\n"],
  ])("%s are left to the client", async (_, filename, settings) => {
    const directory = temporaryDirectory({
      "xdskit.yaml": settings,
      "a.yaml": `"@type": ${SECRET}
name: edge
tls_certificate:
  certificate_chain: { filename: ${filename} }
  private_key: { filename: ${filename} }
  watched_directory: { path: /certs }
`,
    });
    const load = await createDirectorySource({ directory, api }).load();
    expect([told(load), secretIn(load)]).toEqual([
      [],
      {
        ...{ "@type": SECRET, name: "edge" },
        tls_certificate: {
          certificate_chain: { filename },
          private_key: { filename },
          watched_directory: { path: "/certs" },
        },
      },
    ]);
  });

  test.each<[string, (directory: string) => void, readonly string[]]>([
    [
      "one that is missing",
      (directory) => rmSync(join(directory, "certs/edge.key")),
      [
        'secrets/edge.yaml:6:15 error SECRET_FILE_MISSING expected a file for private_key: found no file "../certs/edge.key"',
      ],
    ],
    [
      "one that is no file",
      (directory) => {
        rmSync(join(directory, "certs/edge.pem"));
        mkdirSync(join(directory, "certs/edge.pem"));
      },
      [
        "secrets/edge.yaml:4:34 error SECRET_FILE_UNREADABLE expected a file for certificate_chain: expected a regular file, got a folder",
      ],
    ],
    [
      "certificates that are none",
      (directory) => write(directory, "certs/edge.pem", "hello"),
      ["secrets/edge.yaml:4:34 error SECRET_PEM_INVALID expected certificates in PEM for certificate_chain, got none"],
    ],
    [
      "a chain that is broken further on",
      (directory) =>
        write(
          directory,
          "certs/edge.pem",
          `${pairOf(a).cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
        ),
      [
        "secrets/edge.yaml:4:34 error SECRET_PEM_INVALID expected certificates in PEM for certificate_chain, got something else in number 2 of 2",
      ],
    ],
    [
      "a key that is none",
      (directory) => write(directory, "certs/edge.key", pairOf(a).cert),
      ["secrets/edge.yaml:6:15 error SECRET_PEM_INVALID expected a private key in PEM, got something else"],
    ],
    [
      "a key of another certificate",
      (directory) => write(directory, "certs/edge.key", pairOf(b).key),
      [
        "secrets/edge.yaml:6:15 error SECRET_KEY_MISMATCH expected the private key of the certificate in certificate_chain, got another key",
      ],
    ],
  ])("are a problem at their place: %s", async (_, damage, expected) => {
    const directory = temporaryDirectory(withPair(a));
    damage(directory);
    const load = await createDirectorySource({ directory, api }).load();
    expect([told(load), load.state]).toEqual([expected, undefined]);
    expect(JSON.stringify(load.problems)).not.toContain("PRIVATE KEY");
  });
});

/** Loads of a watch without polls, as the system tells of changes. */
function watch(source: DirectorySource): (isWanted: (load: Load) => boolean) => Promise<Load> {
  const abort = new AbortController();
  const loads = source.watch(abort.signal)[Symbol.asyncIterator]();
  onTestFinished(async () => {
    abort.abort();
    await loads.next();
  });
  return async (isWanted) => {
    for (;;) {
      const { value, done } = await loads.next();
      if (done === true) throw new Error("the watch has ended");
      if (isWanted(value)) return value;
    }
  };
}

const isServed = (pair: Pair | undefined) => (load: Load) =>
  JSON.stringify(secretIn(load)) === JSON.stringify(servedPair(pair));

describe.each([
  ["in this thread", {}],
  ["in a worker thread", { "filler.yaml": `# ${"x".repeat(200_000)}\n${cluster("filler")}` }],
])("files of Secrets are followed, %s", (_, filler) => {
  test("as they change, once both fit together; what was good stays in force until then", async () => {
    const directory = temporaryDirectory({ ...withPair(a), ...filler });
    const source = createDirectorySource({ directory, api, pollMs: 3_600_000, offThread: { descriptors: [] } });
    const until = watch(source);
    expect(told(await until(isServed(a)))).toEqual([]);
    write(directory, "certs/edge.pem", pairOf(b).cert);
    const isMismatch = (load: Load): boolean => told(load).some((line) => line.includes("SECRET_KEY_MISMATCH"));
    expect((await until(isMismatch)).state).toBe(undefined);
    write(directory, "certs/edge.key.new", pairOf(b).key);
    renameSync(join(directory, "certs/edge.key.new"), join(directory, "certs/edge.key"));
    expect(told(await until(isServed(b)))).toEqual([]);
  });

  test("outside the directory, too", async () => {
    const { cert, key } = pairOf(a);
    const directory = temporaryDirectory(filler);
    const certs = join(dirname(directory), "certs");
    write(certs, "edge.pem", cert);
    write(certs, "edge.key", key);
    write(directory, "edge.yaml", secretYaml);
    const source = createDirectorySource({ directory, api, pollMs: 3_600_000, offThread: { descriptors: [] } });
    const until = watch(source);
    await until(isServed(a));
    const next = pairOf(b);
    write(certs, "edge.pem", next.cert);
    write(certs, "edge.key", next.key);
    await until(isServed(b));
    expect(readFileSync(join(certs, "edge.key"), "utf8")).toBe(next.key);
  });
});

test("files of a Secret that has no form in JSON are an error of its file", async () => {
  // As long as the name of a Duration, so that one can take the place of the other in the bytes.
  const unknown = "my.UnknownTypeOfThisSize";
  const typedConfig = { "@type": `type.googleapis.com/${unknown}`, value: Buffer.from([0xff]).toString("base64") };
  const secret = {
    "@type": SECRET,
    name: "edge",
    tls_certificate: {
      private_key: { filename: "edge.key" },
      private_key_provider: { provider_name: "hsm", typed_config: typedConfig },
    },
  };
  const { bytes } = api.readMessage("envoy.service.discovery.v3.DiscoveryResponse", { resources: [secret] });
  const malformed = Buffer.from(bytes ?? [])
    .toString("latin1")
    .replace(unknown, "google.protobuf.Duration");
  const directory = temporaryDirectory({ "edge.pb": Buffer.from(malformed, "latin1"), "edge.key": pairOf(a).key });
  const { state, problems } = await createDirectorySource({ directory, api }).load();
  expect([state, problems.filter(({ severity }) => severity === "error")]).toEqual([
    undefined,
    [
      {
        ...{ code: "DURATION_INVALID", severity: "error", file: "edge.pb" },
        message:
          "cannot put the content of files into the Secret: tls_certificate.private_key_provider.typed_config.value: " +
          "expected a duration, got a string",
        hint: "correct that field, or set secret-files: leave",
      },
    ],
  ]);
});

test("an edit elsewhere keeps the Secret as it is, the same object", async () => {
  const directory = temporaryDirectory({ ...withPair(a), "c.yaml": cluster("c") });
  const source = createDirectorySource({ directory, api });
  const first = await source.load();
  write(directory, "c.yaml", cluster("c", "2s"));
  const second = await source.load();
  const [before, after] = [first, second].map(({ state }) =>
    state?.layers.get("base")?.find(({ type }) => type === SECRET),
  );
  expect([after === before, before === undefined]).toEqual([true, false]);
});

describe("a look at files of Secrets", () => {
  const options = {
    ...{ api, validation: undefined, maxFileBytes: undefined, allowEmpty: undefined },
    ...{ findsVersionLoss: false, secretFiles: undefined, fileSystem: syncFileSystem },
  };

  test("finds their folder where it is now, to watch it", async () => {
    const { cert, key } = pairOf(a);
    const directory = temporaryDirectory({ "edge.yaml": secretYaml });
    const at = (path: string): string => join(dirname(directory), path);
    for (const version of ["v1", "v2"]) {
      write(at(version), "edge.pem", cert);
      write(at(version), "edge.key", key);
    }
    const reading = new DirectoryReading({ ...options, directory });
    const folderAfter = async (path: string): Promise<unknown> => {
      const { load } = await reading.look(new Set([path]), { isPatient: false });
      return [reading.folders.get("../certs"), told(load).length];
    };
    const [first, second] = [realpathSync(at("v1")), realpathSync(at("v2"))];
    expect(await folderAfter("")).toEqual([undefined, 2]);
    symlinkSync("v1", at("certs"));
    expect(await folderAfter("")).toEqual([first, 0]);
    rmSync(at("certs"));
    symlinkSync("v2", at("certs"));
    expect(await folderAfter("edge.yaml")).toEqual([first, 0]);
    expect(await folderAfter("../certs")).toEqual([second, 0]);
  });

  test("compares each with the folders that it is in, not with every path that changed", async () => {
    const workOf = async (count: number): Promise<number> => {
      const names = Array.from({ length: count }, (_, index) => `k${index}`);
      const secret = (name: string): string =>
        `"@type": ${SECRET}\nname: ${name}\ngeneric_secret: { secret: { filename: keys/${name} } }\n`;
      const files = names.flatMap((name) => [[`${name}.yaml`, secret(name)] as const, [`keys/${name}`, name] as const]);
      const directory = temporaryDirectory(Object.fromEntries(files));
      const reading = new DirectoryReading({ ...options, directory });
      await reading.look(new Set([""]), { isPatient: false });
      const elsewhere = new Set(names.map((name) => `elsewhere/${name}`));
      const compared = [vi.spyOn(String.prototype, "startsWith"), vi.spyOn(Set.prototype, "has")];
      const { load } = await reading.look(elsewhere, { isPatient: false });
      const work = compared.reduce((sum, { mock }) => sum + mock.calls.length, 0);
      for (const spy of compared) spy.mockRestore();
      expect([load.state?.resources, load.problems]).toEqual([count, []]);
      return work;
    };
    expect((await workOf(400)) / (await workOf(200))).toBeLessThan(2.2);
  });
});
