import fs, {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { acquireFileLock } from "./file-lock.ts";

const TOKEN = "0123456789abcdef";
const onLinux = test.runIf(process.platform === "linux");

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-file-lock-"));
  path = join(directory, "lock");
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(directory, { recursive: true, force: true });
});

/** What is in the directory, without the sign that a holder lives. */
const files = (): readonly string[] => readdirSync(directory).filter((name) => !name.endsWith(".live"));

/** What this process writes, without its token. */
function ownIdentity(): readonly [pid: string, start: string, boot: string] {
  acquireFileLock(path);
  const [pid = "", start = "", boot = ""] = readFileSync(path, "utf8").split(" ");
  rmSync(path);
  return [pid, start, boot];
}

test("is held by one until it is released, and nothing stays", () => {
  const first = acquireFileLock(path);
  expect(acquireFileLock(path)).toEqual({ kind: "held", pid: process.pid });
  expect([statSync(path).mode & 0o777, files()]).toEqual([0o600, ["lock"]]);
  if (first.kind === "acquired") first.release();
  expect(readdirSync(directory)).toEqual([]);
  expect([acquireFileLock(path).kind, files()]).toEqual(["acquired", ["lock"]]);
});

test("who releases what somebody else has taken does not take it away", () => {
  const first = acquireFileLock(path);
  const [pid, start, boot] = ownIdentity();
  writeFileSync(path, `${pid} ${start} ${boot} ${TOKEN}\n`);
  if (first.kind === "acquired") first.release();
  expect(acquireFileLock(path)).toEqual({ kind: "held", pid: process.pid });
});

test("is released also where its directory was removed, or replaced by a file", () => {
  const inFolder = (): ReturnType<typeof acquireFileLock> => {
    mkdirSync(join(directory, "folder"));
    return acquireFileLock(join(directory, "folder", "lock"));
  };
  const [removed, replaced] = ["removed", "replaced"].map((how) => {
    const lock = inFolder();
    rmSync(join(directory, "folder"), { recursive: true });
    if (how === "replaced") writeFileSync(join(directory, "folder"), "");
    if (lock.kind === "acquired") lock.release();
    return readdirSync(directory);
  });
  expect([removed, replaced]).toEqual([[], ["folder"]]);
});

test("is released also if nothing can be written beside it", () => {
  const first = acquireFileLock(path);
  vi.spyOn(fs, "openSync").mockImplementationOnce(() => {
    throw Object.assign(new Error("ENOSPC: no space left on device, open"), { code: "ENOSPC", syscall: "open" });
  });
  if (first.kind === "acquired") first.release();
  expect(readdirSync(directory)).toEqual([]);
});

test("there is none where no file can be", () => {
  expect(() => acquireFileLock(join(directory, "missing", "lock"))).toThrow(/ENOENT/);
  expect(readdirSync(directory)).toEqual([]);
});

test("is not at a link that leads nowhere", () => {
  symlinkSync("nowhere", path);
  expect(() => acquireFileLock(path)).toThrow(`symbolic link to nowhere, which does not exist`);
  expect(readdirSync(directory)).toEqual(["lock"]);
});

test("is held, and can be released, although what killed processes left cannot be read or removed", () => {
  const leftovers = [`lock.${TOKEN}`, `lock.${TOKEN}.live`, `lock.${TOKEN}.new`];
  for (const name of leftovers) mkdirSync(join(directory, name));
  const lock = acquireFileLock(path);
  expect([lock.kind, acquireFileLock(path).kind]).toEqual(["acquired", "held"]);
  if (lock.kind === "acquired") lock.release();
  expect(readdirSync(directory).sort()).toEqual(leftovers);
});

describe("is free again if taking it fails", () => {
  const failing = (call: "readdirSync" | "renameSync"): void => {
    vi.spyOn(fs, call).mockImplementationOnce(() => {
      throw Object.assign(new Error(`EIO: i/o error, ${call}`), { code: "EIO", syscall: call });
    });
    syncBuiltinESMExports();
  };

  test("after its file was made", () => {
    failing("readdirSync");
    expect(() => acquireFileLock(path)).toThrow(/EIO/);
    expect([readdirSync(directory), acquireFileLock(path).kind]).toEqual([[], "acquired"]);
  });

  test("after it was claimed", () => {
    writeFileSync(path, `999999999 1 - ${TOKEN}\n`);
    failing("renameSync");
    expect(() => acquireFileLock(path)).toThrow(/EIO/);
    expect([readdirSync(directory), acquireFileLock(path).kind]).toEqual([["lock"], "acquired"]);
  });
});

describe("is nobody's", () => {
  test("if its process is gone", () => {
    writeFileSync(path, `999999999 1 - ${TOKEN}\n`);
    expect(acquireFileLock(path).kind).toBe("acquired");
  });

  onLinux("if its process id was given to another process", () => {
    const [pid, start, boot] = ownIdentity();
    writeFileSync(path, `${pid} ${start}1 ${boot} ${TOKEN}\n`);
    expect(acquireFileLock(path).kind).toBe("acquired");
  });

  onLinux("if the machine was started anew since", () => {
    const [pid, start] = ownIdentity();
    writeFileSync(path, `${pid} ${start} 00000000-0000-4000-8000-000000000000 ${TOKEN}\n`);
    expect(acquireFileLock(path).kind).toBe("acquired");
  });

  test("if nobody can read it for ten seconds", () => {
    writeFileSync(path, "12");
    expect(acquireFileLock(path)).toEqual({ kind: "held", pid: undefined });
    utimesSync(path, 0, 0);
    expect([acquireFileLock(path).kind, files()]).toEqual(["acquired", ["lock"]]);
  });
});

test("of a system that does not tell when a process began, the process id counts", () => {
  writeFileSync(path, `${process.ppid} - - ${TOKEN}\n`);
  expect(acquireFileLock(path)).toEqual({ kind: "held", pid: process.ppid });
});

test("what only looks like a leftover stays", () => {
  for (const name of ["lock.bad", "lock.d", "lock2", `other.${TOKEN}`]) writeFileSync(join(directory, name), "");
  acquireFileLock(path);
  expect([...files()].sort()).toEqual(["lock", "lock.bad", "lock.d", "lock2", `other.${TOKEN}`]);
});

test("needs no hard links", () => {
  vi.spyOn(fs, "linkSync").mockImplementation(() => {
    throw Object.assign(new Error("ENOTSUP: operation not supported on socket, link"), { code: "ENOTSUP" });
  });
  writeFileSync(path, `999999999 1 - ${TOKEN}\n`);
  const first = acquireFileLock(path);
  expect([first.kind, acquireFileLock(path)]).toEqual(["acquired", { kind: "held", pid: process.pid }]);
  expect(files()).toEqual(["lock"]);
});
