import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { describeWith } from "../e2e/support/peers.ts";
import { staticCluster } from "../e2e/support/resource.ts";
import { startXdsServer } from "../e2e/support/server.ts";
import { createSite } from "../e2e/support/site.ts";
import { createStack } from "../e2e/support/stack.ts";
import { type Http2Case, runHttp2Cases } from "./support/http2-cases.ts";

/** The page with a row for each case that does not simply pass. */
const page = new URL("../../docs/spec/http2.md", import.meta.url);
/** A case that depends on the time between two packets passes sooner or later. */
const ATTEMPTS = 5;

describeWith("h2spec", "HTTP/2 as h2spec tests it", () => {
  test("each case passes, or has a row with its reason in docs/spec/http2.md", async () => {
    await using stack = createStack();
    const bare = createServer((_, response) => response.end("answer"));
    stack.use({ [Symbol.dispose]: () => void bare.close() });
    bare.on("sessionError", () => undefined);
    bare.listen(0, "127.0.0.1");
    await once(bare, "listening");
    const site = stack.use(createSite({ "a.json": [staticCluster("a", [1])] }));
    const table = readTable();
    const ofBare = await runHttp2Cases((bare.address() as AddressInfo).port);
    for (const engine of ["builtin", "node"] as const) {
      const ours = stack.use(await startXdsServer({ site, flags: ["--state-dir", "off", "--http2", engine] }));
      const ofOurs = await runHttp2Cases(ours.port);
      expect([...ofOurs.keys()]).toEqual([...ofBare.keys()]);
      expect(
        [...table.keys()].filter((id) => !ofOurs.has(id)),
        "each case that has a row exists",
      ).toEqual([]);

      const unexplained: Http2Case[] = [];
      for (const { id, outcome } of ofOurs.values()) {
        const said = table.get(id)?.[engine] ?? "passes";
        if (said === "varies" || (outcome === "passed") === (said === "passes")) continue;
        const again = await attempt(ours.port, id);
        if ((again.outcome === "passed") !== (said === "passes")) unexplained.push(again);
      }
      expect(
        unexplained,
        `${engine}: cases that fail without a row, or pass although their row says otherwise`,
      ).toEqual([]);
      expect(ours.process().ended(), "the server lives").toBeUndefined();
    }
    const wrong = [...table].filter(
      ([id, { bare: said }]) => said !== "varies" && said !== saidOf[ofBare.get(id)?.outcome ?? "skipped"],
    );
    expect(wrong, "what the page says of node:http2").toEqual([]);
  }, 400_000);
});

const saidOf = { passed: "passes", failed: "fails", skipped: "skipped" } as const;

/** What the page says of a case. */
interface Row {
  /** Of this server, by the implementation of HTTP/2 that it uses. */
  readonly builtin: string;
  readonly node: string;
  /** Of a server that is nothing but `node:http2`. */
  readonly bare: string;
}

/** Reads the table of the page, by case. */
function readTable(): ReadonlyMap<string, Row> {
  const rows = readFileSync(page, "utf8").matchAll(/^\| (http2\/\S+) \|[^|]*\| (\w+) \| (\w+) \| (\w+) \| [^|]+ \|$/gm);
  return new Map([...rows].map(([, id = "", builtin = "", node = "", bare = ""]) => [id, { builtin, node, bare }]));
}

async function attempt(port: number, id: string, attempts = ATTEMPTS): Promise<Http2Case> {
  const [result] = (await runHttp2Cases(port, id)).values();
  if (result === undefined) throw new Error(`h2spec has no case ${id}`);
  return result.outcome === "passed" || attempts === 1 ? { ...result, id } : attempt(port, id, attempts - 1);
}
