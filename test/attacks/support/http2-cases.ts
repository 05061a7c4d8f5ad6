import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peerCommand } from "../../e2e/support/peers.ts";

/** A case of h2spec; `id` selects it on the command line. */
export interface Http2Case {
  readonly id: string;
  readonly title: string;
  readonly outcome: "passed" | "failed" | "skipped";
}

/** Runs all cases of h2spec, or those that `only` selects, against a port of this machine; returns them by id. */
export async function runHttp2Cases(port: number, only?: string): Promise<ReadonlyMap<string, Http2Case>> {
  const [program, ...args] = peerCommand("h2spec") ?? [];
  if (program === undefined) throw new Error("h2spec is not installed");
  const directory = await mkdtemp(join(tmpdir(), "xds-h2spec-"));
  try {
    const report = join(directory, "report.xml");
    const selected = only === undefined ? [] : [only];
    const child = spawn(program, [...args, ...selected, "-h", "127.0.0.1", "-p", String(port), "-j", report], {
      stdio: "ignore",
    });
    await once(child, "exit"); // with 1 if a case fails
    return readReport(await readFile(report, "utf8"));
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Reads a report in the format of JUnit. A case's number is its place in its section. */
function readReport(xml: string): ReadonlyMap<string, Http2Case> {
  const cases = new Map<string, Http2Case>();
  const counts = new Map<string, number>();
  for (const found of xml.matchAll(/<testcase package="([^"]+)" classname="([^"]*)"[^>]*>(.*?)<\/testcase>/gs)) {
    const [, section = "", title = "", body = ""] = found;
    const count = (counts.get(section) ?? 0) + 1;
    counts.set(section, count);
    const id = `${section}/${count}`;
    const outcome = body.includes("<skipped") ? "skipped" : body === "" ? "passed" : "failed";
    cases.set(id, { id, title, outcome });
  }
  return cases;
}
