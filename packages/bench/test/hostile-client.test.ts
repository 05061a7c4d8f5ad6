import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, type TypeUrl } from "@xdskit/protocol";
import { createServer } from "@xdskit/server";
import { expect, test, vi } from "vitest";
import { HostileClient } from "../src/hostile/client.ts";
import { CLUSTER, ENDPOINTS, layersOf, names, Truth, types } from "../src/hostile/views.ts";

const STALL = 1;
const SUBSCRIBE_ANEW = 4;

test("a hostile client holds no endpoints once it was sent their placeholder", async () => {
  const server = createServer({ api: createEnvoyApi(), nodeMapping: ({ id }) => layersOf(id) });
  const { address } = await server.listen();
  const truth = new Truth();
  const put = (type: TypeUrl, name: string, label: string): void => {
    const references = type === CLUSTER ? [{ type: ENDPOINTS, name }] : [];
    const bytes = new TextEncoder().encode(`${name}=${label}`);
    truth.take({ layer: "base", type, name, label });
    server.commit({
      changes: [{ layer: "base", puts: [createResource({ type, name, bytes, references }, contentDigest)] }],
    });
  };
  put(CLUSTER, "n3", "1");
  put(ENDPOINTS, "n3", "1");
  const choices: number[] = [];
  const client = new HostileClient(10, () => choices.shift() ?? 1);
  const act = async (type: TypeUrl, name: string, action: number): Promise<void> => {
    choices.push(types.indexOf(type), names.indexOf(name), action);
    await client.act(`127.0.0.1:${address.port}`);
  };
  const hears = (what: string): Promise<void> =>
    vi.waitFor(() => expect(client.conversation.at(-1) ?? "").toContain(what), { timeout: 10_000, interval: 5 });
  await client.connect(`127.0.0.1:${address.port}`);
  await vi.waitFor(() => expect(client.differences(truth)).toEqual([]), { timeout: 10_000, interval: 5 });
  await act(ENDPOINTS, "n3", STALL);
  put(ENDPOINTS, "n3", "2");
  await hears('"label":"2"');
  truth.take({ layer: "base", type: ENDPOINTS, name: "n3" });
  server.commit({ changes: [{ layer: "base", deletes: [{ type: ENDPOINTS, name: "n3" }] }] });
  await act(ENDPOINTS, "n3", SUBSCRIBE_ANEW);
  await hears("hears");
  await client.makePeace(`127.0.0.1:${address.port}`);
  expect(client.differences(truth)).toEqual([]);
  await client.close();
  await server.close();
});
