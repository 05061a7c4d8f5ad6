import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { Serving, Site, until } from "./serving.ts";

const GUIDE = fileURLToPath(new URL("../../../docs/guides/what-happened.md", import.meta.url));
const isUpdate = process.env["UPDATE_GOLDEN"] === "1";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function clusterFile(side: string, count: number, timeout: string): string {
  const names = Array.from({ length: count }, (_, i) => `${side}-${String(i + 1).padStart(2, "0")}`);
  const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  return names.map((name) => `- "@type": ${type}\n  name: ${name}\n  connect_timeout: ${timeout}\n`).join("");
}

/** Without what differs from run to run, and the columns that it makes wider. */
function normal(text: string): string {
  const { username } = userInfo();
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\b\d+[smhd]\b/g, "AGE")
    .replaceAll(new RegExp(`\\b(${username}|ann)\\b`, "g"), "USER")
    .replaceAll(/ +/g, " ");
}

test("the guide of what happened says what the commands print", async () => {
  const [config, tuned, state] = [await Site.make(), await Site.make(), await Site.make()];
  for (const site of [config, tuned, state]) cleanups.push(() => site.remove());
  await config.write("north.yaml", clusterFile("north", 14, "5s"));
  await config.write("south.yaml", clusterFile("south", 6, "5s"));
  await tuned.write("north.yaml", clusterFile("north", 14, "0.005s"));
  const serving = await Serving.start(config, ["--state-dir", state.directory]);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());

  const newest = async (): Promise<number> => Number((await serving.ask("/api/v1/revisions?limit=1"))["head"]);
  const inShell = async (line: string): Promise<string> => {
    const before = await newest();
    const words = line
      .replaceAll("config/", `${config.directory}/`)
      .replaceAll("tuned/", `${tuned.directory}/`)
      .split(" ");
    execFileSync(words[0] ?? "", words.slice(1));
    await until("the change is recorded", async () => (await newest()) > before);
    return "";
  };
  const inXds = async (line: string): Promise<string> => {
    const words = line.match(/'[^']*'|\S+/g) ?? [];
    const { stdout, stderr } = await serving.xds(...words.slice(1).map((word) => word.replaceAll("'", "")));
    return stdout + stderr;
  };
  const played = async (block: string): Promise<string> => {
    const lines = block.split("\n").flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : []));
    let shown = "";
    for (const line of lines) shown += `$ ${line}\n${await (line.startsWith("xds ") ? inXds(line) : inShell(line))}`;
    return shown;
  };

  const guide = readFileSync(GUIDE, "utf8");
  let actual = "";
  for (const [index, part] of guide.split("```").entries()) {
    const isConsole = index % 2 === 1 && part.startsWith("console\n");
    actual += `${index === 0 ? "" : "```"}${isConsole ? `console\n${await played(part)}` : part}`;
  }
  if (isUpdate) writeFileSync(GUIDE, actual);
  else expect(normal(actual)).toBe(normal(guide));
}, 60_000);
