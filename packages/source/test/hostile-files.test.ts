import { execFileSync } from "node:child_process";
import { chmodSync, ftruncateSync, mkdirSync, openSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource, type Load } from "@xdskit/source";
import { describe, expect, test } from "vitest";
import { DirectoryReading } from "../src/directory/directory-reading.ts";
import { asOrdinaryUser } from "./support/ordinary-user.ts";
import { printProblems } from "./support/print-load.ts";
import { cluster, temporaryDirectory } from "./support/temporary-directory.ts";

const api = createEnvoyApi();
const options = {
  api,
  validation: undefined,
  maxFileBytes: undefined,
  allowEmpty: undefined,
  findsVersionLoss: false,
  secretFiles: undefined,
};

async function load(directory: string): Promise<Load> {
  return await createDirectorySource({ directory, api }).load();
}

async function problemsOf(directory: string): Promise<string> {
  const { state, problems } = await load(directory);
  expect(state).toBeUndefined();
  return printProblems(problems);
}

async function namesIn(directory: string): Promise<readonly string[]> {
  const { state, problems } = await load(directory);
  expect(problems).toEqual([]);
  return (state?.layers.get("base") ?? []).map(({ name }) => name);
}

describe("files that nobody can read", () => {
  test("permission denied, for a file and for a folder", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a"), "b.yaml": cluster("b"), "c/c.yaml": cluster("c") });
    chmodSync(join(directory, "b.yaml"), 0);
    chmodSync(join(directory, "c"), 0);
    expect(await asOrdinaryUser(() => problemsOf(directory))).toBe(`b.yaml error FILE_UNREADABLE
  expected a file that may be read, permission is denied
  give the user of this process the right to read it

c error FILE_UNREADABLE
  expected a folder that may be read, permission is denied
  give the user of this process the right to read it
`);
  });

  test("a file of 200 MB", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    ftruncateSync(openSync(join(directory, "huge.yaml"), "w"), 200 * 1024 ** 2);
    expect(await problemsOf(directory)).toBe(`huge.yaml error FILE_TOO_LARGE
  expected at most 64 MiB in one file, got 200 MiB
  split the file, or raise limits.max-file-bytes
`);
  });

  test("a pipe, which would never end", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    execFileSync("mkfifo", [join(directory, "pipe.yaml")]);
    expect(await problemsOf(directory)).toBe(`pipe.yaml error FILE_NOT_REGULAR
  expected a regular file, got a device, a socket or a pipe
`);
  });

  test("a directory with a file's name holds what is in it", async () => {
    expect(await namesIn(temporaryDirectory({ "x.yaml/a.yaml": cluster("a") }))).toEqual(["a"]);
  });

  test("an empty file, which may be about to be written", async () => {
    const directory = temporaryDirectory({ "a.yaml": "", "b.pb": "", "c.json": " \n" });
    expect((await load(directory)).problems.map(({ code, file }) => [code, file])).toEqual([
      ["FILE_EMPTY", "a.yaml"],
      ["FILE_EMPTY", "b.pb"],
      ["FILE_EMPTY", "c.json"],
    ]);
  });

  test("a name that is not UTF-8", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    writeFileSync(
      Buffer.concat([Buffer.from(`${directory}/caf`), Buffer.from([0xe9]), Buffer.from(".yaml")]),
      cluster("b"),
    );
    expect(await problemsOf(directory)).toBe(`caf\ufffd.yaml error FILE_NAME_INVALID
  expected a file name in UTF-8, got one that is not
  rename the file
`);
  });

  test("a folder's name that is not UTF-8", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    const folder = Buffer.concat([Buffer.from(`${directory}/caf`), Buffer.from([0xe9])]);
    mkdirSync(folder);
    writeFileSync(Buffer.concat([folder, Buffer.from("/b.yaml")]), cluster("b"));
    const told = `caf\ufffd error FILE_NAME_INVALID
  expected a folder name in UTF-8, got one that is not
  rename the folder
`;
    const reading = new DirectoryReading({ ...options, directory });
    const problemsAt = async (path: string): Promise<string> =>
      printProblems((await reading.look(new Set([path]), { isPatient: false })).load.problems);
    expect([await problemsAt(""), await problemsAt("caf\ufffd"), await problemsAt("a.yaml")]).toEqual([
      told,
      told,
      told,
    ]);
    renameSync(folder, join(directory, "coffee"));
    expect([await problemsAt("caf\ufffd"), await problemsAt("coffee")]).toEqual(["", ""]);
  });
});

test("a file that the system fails to read", async () => {
  const directory = temporaryDirectory({ "a.yaml": cluster("a") });
  symlinkSync("/proc/self/mem", join(directory, "memory.yaml")); // its first page is never there
  expect(await problemsOf(directory)).toBe(`memory.yaml error FILE_UNREADABLE
  expected a file that can be read, got EIO
`);
});

describe("links", () => {
  test("to themselves, to a folder around them, and to nothing", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a"), "inner/b.yaml": cluster("b") });
    symlinkSync("self.yaml", join(directory, "self.yaml"));
    symlinkSync("..", join(directory, "inner/up"));
    symlinkSync("gone.yaml", join(directory, "broken.yaml"));
    expect(await problemsOf(directory)).toBe(`broken.yaml error SYMLINK_BROKEN
  expected a symbolic link that leads to something, its target does not exist
  remove the link, or create what it points to

inner/up error SYMLINK_CYCLE
  expected folders that end somewhere, got a symbolic link to a folder that it is in
  remove the link

self.yaml error SYMLINK_CYCLE
  expected a symbolic link that leads somewhere, got one that leads back to itself
`);
  });

  test("two folders that lead into each other", async () => {
    const directory = temporaryDirectory({ "one/a.yaml": cluster("a"), "two/b.yaml": cluster("b") });
    symlinkSync("../two", join(directory, "one/to-two"));
    symlinkSync("../one", join(directory, "two/to-one"));
    const { problems } = await load(directory);
    expect(problems.filter(({ code }) => code === "SYMLINK_CYCLE").map(({ file }) => file)).toEqual([
      "one/to-two/to-one",
      "two/to-one/to-two",
    ]);
  });

  test("to files and folders elsewhere are followed", async () => {
    const elsewhere = temporaryDirectory({ "b.yaml": cluster("b"), "inner/c.yaml": cluster("c") });
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    symlinkSync(join(elsewhere, "b.yaml"), join(directory, "b.yaml"));
    symlinkSync(join(elsewhere, "inner"), join(directory, "inner"));
    expect(await namesIn(directory)).toEqual(["a", "b", "c"]);
  });
});

describe("the directory itself", () => {
  test("is not there", async () => {
    expect(await problemsOf("/nonexistent/config")).toBe(`. error SOURCE_DIRECTORY_MISSING
  expected a directory, there is none at this path
  create it, or give the path of another one
`);
  });

  test("is a file", async () => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a") });
    expect(await problemsOf(join(directory, "a.yaml"))).toBe(`. error SOURCE_DIRECTORY_MISSING
  expected a directory, got a file
  give the path of the directory it is in
`);
  });

  test("holds nothing, which is refused unless it is allowed", async () => {
    const directory = temporaryDirectory({ "README.md": "# nothing" });
    expect(await problemsOf(directory)).toBe(`. error SOURCE_EMPTY
  expected resources in the directory, found none
  add a .yaml, .json, .pb or .txtpb file, or set allow-empty to serve an empty state
`);
    const { state } = await createDirectorySource({ directory, api, allowEmpty: true }).load();
    expect(state?.resources).toBe(0);
    writeFileSync(join(directory, "xdskit.yaml"), "allow-empty: true\n");
    expect((await load(directory)).state?.resources).toBe(0);
  });
});

describe("YAML", () => {
  test("an alias bomb", async () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
    for (let i = 1; i < 12; i++)
      lines.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join(", ")}]`);
    const directory = temporaryDirectory({ "bomb.yaml": lines.join("\n") });
    expect(await problemsOf(directory)).toMatch(
      /^bomb\.yaml:\d+:\d+ error YAML_ALIAS_BOMB\n {2}expected aliases to stand for/,
    );
  });

  test("aliases that are no bomb", async () => {
    const text = `- &one
  "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: &name shared
  connect_timeout: &second 1s
  type: STATIC
  load_assignment: { cluster_name: *name }
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: other
  connect_timeout: *second
  type: STATIC
  load_assignment: { cluster_name: other }
`;
    expect(await namesIn(temporaryDirectory({ "a.yaml": text }))).toEqual(["shared", "other"]);
  });

  test.each([
    ["brackets", "[".repeat(1_900_000)],
    ["braces", "{a: ".repeat(400_000)],
    ["lists", "- ".repeat(900_000)],
    ["mappings", Array.from({ length: 1500 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
    ["questions", "? ".repeat(900_000)],
    ["lines of a flow sequence", `resources: [\n${"{name: a, type: b},\n".repeat(20_000)}]\n`],
  ])("nesting deeper than anything: %s", async (_, text) => {
    expect(await problemsOf(temporaryDirectory({ "deep.yaml": text }))).toMatch(
      /^deep\.yaml:\d+:\d+ error NESTING_TOO_DEEP\n {2}expected at most 200 levels of nesting, got more\n/,
    );
  });

  test("a large file is not taken apart to explain a mistake in it", async () => {
    const item = `- ${cluster("a").trimEnd().replaceAll("\n", "\n  ")}\n`;
    const many = item.repeat(14_000);
    const printed = await problemsOf(temporaryDirectory({ "large.yaml": `${many}- name: [a\n${item}` }));
    expect(printed).toBe(`large.yaml:70001:3 error YAML_NOT_PLAIN
  expected plain YAML in a file of more than 2 MB, got something else or a mistake
  anchors, tags, tabs, folded texts and values over several lines are for smaller files; split the file
  | - name: [a
`);
  });

  test("a byte order mark, the line ends of Windows, and both", async () => {
    const directory = temporaryDirectory({
      "a.yaml": `\ufeff${cluster("a")}`,
      "b.yaml": cluster("b").replaceAll("\n", "\r\n"),
      "c.json": `\ufeff${JSON.stringify({ resources: [] }, null, 1).replaceAll("\n", "\r\n")}`,
      "d.yaml": `\ufeff---\r\n${cluster("d").replaceAll("\n", "\r\n")}`,
    });
    expect(await namesIn(directory)).toEqual(["a", "b", "d"]);
  });

  test("places are right after a byte order mark and with the line ends of Windows", async () => {
    const text = `\ufeff${cluster("a").replace("type: STATIC", "tpye: STATIC")}`.replaceAll("\n", "\r\n");
    const { problems } = await load(temporaryDirectory({ "a.yaml": text }));
    expect(problems.map(({ code, line, column, excerpt }) => [code, line, column, excerpt])).toContainEqual([
      "FIELD_UNKNOWN",
      4,
      1,
      "tpye: STATIC",
    ]);
  });

  test("tabs between a key and its value are fine, as indentation they are not", async () => {
    const good = temporaryDirectory({ "a.yaml": cluster("a").replace("connect_timeout: ", "connect_timeout:\t") });
    expect(await namesIn(good)).toEqual(["a"]);
    const bad = temporaryDirectory({ "a.yaml": 'resources:\n\t- "@type": x\n' });
    expect(await problemsOf(bad)).toBe(`a.yaml:2:1 error YAML_SYNTAX
  expected spaces as indentation, got a tab
  replace tabs by spaces
  |  - "@type": x
`);
  });

  test("what is a text in YAML 1.2 stays one, and large integers keep their digits", async () => {
    const text = `"@type": type.googleapis.com/envoy.service.runtime.v3.Runtime
name: r
layer: { country: no, on: off, octal: 0777, date: 2020-01-01, version: 1.10 }
---
"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: rc
virtual_hosts:
  - name: v
    domains: ["*"]
    routes:
      - match: { prefix: / , headers: [{ name: n, range_match: { start: 9007199254740993, end: 9223372036854775807 } }] }
        direct_response: { status: 200 }
`;
    const { state } = await load(temporaryDirectory({ "a.yaml": text }));
    const [runtime, routes] = state?.layers.get("base") ?? [];
    expect(runtime && api.toJson(runtime.type, runtime.bytes)).toMatchObject({
      layer: { country: "no", on: "off", octal: 777, date: "2020-01-01", version: 1.1 },
    });
    expect(JSON.stringify(routes && api.toJson(routes.type, routes.bytes))).toContain(
      '"rangeMatch":{"start":"9007199254740993","end":"9223372036854775807"}',
    );
  });
});

describe("JSON", () => {
  test.each([
    ["lists", "[".repeat(200_000)],
    ["objects", '{"a":'.repeat(200_000)],
  ])("nesting deeper than anything: %s", async (_, text) => {
    expect(await problemsOf(temporaryDirectory({ "deep.json": text }))).toMatch(
      /^deep\.json:1:\d+ error NESTING_TOO_DEEP\n {2}expected at most 200 levels of nesting, got more\n/,
    );
  });

  test("large integers keep their digits", async () => {
    const text = `{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","name":"rc","virtual_hosts":[{"name":"v","domains":["*"],
      "routes":[{"match":{"prefix":"/","headers":[{"name":"n","range_match":{"start":9007199254740993,"end":-9223372036854775808}}]},"direct_response":{"status":200}}]}]}`;
    const { state } = await load(temporaryDirectory({ "a.json": text }));
    const [routes] = state?.layers.get("base") ?? [];
    expect(JSON.stringify(routes && api.toJson(routes.type, routes.bytes))).toContain(
      '"rangeMatch":{"start":"9007199254740993","end":"-9223372036854775808"}',
    );
  });

  test("a key that would change what objects are", async () => {
    const text =
      '{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a","__proto__":{"type":"EDS"}}';
    expect(await problemsOf(temporaryDirectory({ "a.json": text }))).toContain('got "__proto__"');
  });
});

describe("text that is not UTF-8", () => {
  test("UTF-16, with and without its mark", async () => {
    const directory = temporaryDirectory({
      "a.yaml": Buffer.from(`\ufeff${cluster("a")}`, "utf16le"),
      "b.json": Buffer.from("{}", "utf16le"),
    });
    expect(await problemsOf(directory)).toBe(`a.yaml error FILE_ENCODING
  expected UTF-8, got UTF-16
  save the file as UTF-8

b.json error FILE_ENCODING
  expected UTF-8, got UTF-16
  save the file as UTF-8
`);
  });

  test("one byte that is none", async () => {
    const bytes = Buffer.concat([Buffer.from("name: a\n# caf"), Buffer.from([0xe9]), Buffer.from("\n")]);
    expect(await problemsOf(temporaryDirectory({ "a.yaml": bytes }))).toBe(`a.yaml:2:6 error FILE_ENCODING
  expected UTF-8, got a byte that is none
  save the file as UTF-8
`);
  });
});

describe("names", () => {
  test.each([
    ["a right-to-left override", "a\u202eb", '"a\\u{202e}b" holds a character that cannot be seen'],
    ["a space without width", "a\u200bb", '"a\\u{200b}b" holds a character that cannot be seen'],
    ["a zero byte", "a\u0000b", '"a\\u{0}b" holds a character that cannot be seen'],
    ["a line break", "a\nb", '"a\\u{a}b" holds a character that cannot be seen'],
    ["a space at the end", "a ", '"a " begins or ends with a space'],
    ["the wildcard", "*", "is the wildcard"],
    ["a decomposed letter", "cafe\u0301", "is not in Unicode's composed form (NFC)"],
  ])("%s is served and warned of", async (_, name, said) => {
    const { state, problems } = await load(temporaryDirectory({ "a.yaml": cluster(name) }));
    expect(state?.layers.get("base")?.map((resource) => resource.name)).toEqual([name]);
    expect(problems.filter(({ code }) => code === "RESOURCE_NAME_UNUSUAL").map(({ message }) => message)).toEqual([
      expect.stringContaining(said),
    ]);
  });

  test("letters of all languages, emoji and any punctuation are nothing special", async () => {
    const names = [
      "клъстер",
      "集群",
      "عنقود",
      "👩‍🚀".normalize("NFC").replace("\u200d", ""),
      "a/b:c?d=e&f#g%h",
      "__proto__",
      "constructor",
    ];
    const files = Object.fromEntries(names.map((name, index) => [`${index}.yaml`, cluster(name)]));
    expect(await namesIn(temporaryDirectory(files))).toEqual(names);
  });

  test("half a character is refused", async () => {
    const text =
      '{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","name":"a\\ud800","connect_timeout":"1s"}';
    const { state, problems } = await load(temporaryDirectory({ "a.json": text }));
    expect([state, problems.map(({ code, column }) => [code, column])]).toEqual([undefined, [["STRING_INVALID", 71]]]);
  });
});

test("a file with secrets is never quoted, whatever is wrong with it", async () => {
  const secret = `"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
name: s
tls_certificate:
  private_key: { inline_string: "XYZZY" }
`;
  const directory = temporaryDirectory({
    "syntax.yaml": `${secret}  certificate_chain: "XYZZY\n`,
    "field.yaml": `${secret}  XYZZ: XYZZY\n`,
    "value.yaml": secret.replace('{ inline_string: "XYZZY" }', '["XYZZY"]'),
    "type.yaml": secret.replace("tls_certificate:", "tls_certificate: XYZZY\ntls:"),
    "cut.json": JSON.stringify({ "@type": "x.Secret", private_key: "XYZZY" }).slice(0, -3),
    "text.txtpb":
      'resources { [type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret] { name: "XYZZY" nme: "XYZZY" } }',
  });
  const printed = await problemsOf(directory);
  expect(printed.match(/ error /g)?.length).toBeGreaterThanOrEqual(6);
  expect(printed).not.toContain("XYZZY");
});

test("folders as deep as the system has them", async () => {
  const deep = Array.from({ length: 200 }, () => "d").join("/");
  const directory = temporaryDirectory();
  mkdirSync(join(directory, deep), { recursive: true });
  writeFileSync(join(directory, deep, "a.yaml"), cluster("a"));
  expect(await namesIn(directory)).toEqual(["a"]);
});

describe("files with more of something than a call takes as arguments", () => {
  const many = Array.from({ length: 150_000 }, (_, index) => index);

  test("errors in place of resources", async () => {
    const errors = many.map((index) => ({
      resource_name: { name: `n${index}` },
      error_detail: { code: 5, message: "gone" },
    }));
    const response = { type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster", resource_errors: errors };
    const directory = temporaryDirectory({ "a.json": JSON.stringify(response) });
    expect(await namesIn(directory)).toHaveLength(many.length);
  });
});
