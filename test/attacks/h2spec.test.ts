import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { describeWith } from "../e2e/support/peers.ts";
import { staticCluster } from "../e2e/support/resource.ts";
import { startXdsServer } from "../e2e/support/server.ts";
import { createSite } from "../e2e/support/site.ts";
import { createStack } from "../e2e/support/stack.ts";
import { type Http2Case, runHttp2Cases } from "./support/http2-cases.ts";

/** Cases that `node:http2` passes and this server need not, each with its reason. */
const otherwise: Readonly<Record<string, string>> = {
  "http2/3.5/2": "what is no preface is HTTP/1.1, which the same port serves: the answer is 400",
  "http2/5.1/5": "whether the stream is still known when DATA arrives is a matter of time, with node:http2, too",
};
/** A case that depends on the time between two packets passes sooner or later. */
const ATTEMPTS = 5;

describeWith("h2spec", "HTTP/2 as h2spec tests it", () => {
  test("a case that node:http2 passes is passed, or named with its reason", async () => {
    await using stack = createStack();
    const bare = createServer((_, response) => response.end("answer"));
    stack.use({ [Symbol.dispose]: () => void bare.close() });
    bare.on("sessionError", () => undefined);
    bare.listen(0, "127.0.0.1");
    await once(bare, "listening");
    const site = stack.use(createSite({ "a.json": [staticCluster("a", [1])] }));
    const ours = stack.use(await startXdsServer({ site, flags: ["--state-dir", "off"] }));

    const ofBare = await runHttp2Cases((bare.address() as AddressInfo).port);
    const ofOurs = await runHttp2Cases(ours.port);
    expect([...ofOurs.keys()]).toEqual([...ofBare.keys()]);
    const worse: Http2Case[] = [];
    for (const { id, outcome } of ofOurs.values()) {
      if (outcome === "passed" || ofBare.get(id)?.outcome !== "passed" || id in otherwise) continue;
      const again = await attempt(ours.port, id);
      if (again.outcome !== "passed") worse.push(again);
    }
    expect(worse).toEqual([]);
    expect(ours.process().ended(), "the server lives").toBeUndefined();
    expect(
      Object.keys(otherwise).filter((id) => !ofOurs.has(id)),
      "each case that is named exists",
    ).toEqual([]);
  }, 240_000);
});

async function attempt(port: number, id: string, attempts = ATTEMPTS): Promise<Http2Case> {
  const [result] = (await runHttp2Cases(port, id)).values();
  if (result === undefined) throw new Error(`h2spec has no case ${id}`);
  return result.outcome === "passed" || attempts === 1 ? { ...result, id } : attempt(port, id, attempts - 1);
}
