import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { PeerTls } from "@xdskit/conformance";

const program = fileURLToPath(new URL("./good-client.mjs", import.meta.url));

/** A well-behaved client in its own process, so that the attacker's CPU time does not affect its measurements. */
export interface GoodClient extends Disposable {
  /** Makes edits one after another; resolves with the milliseconds that each took to arrive. */
  edit(count: number): Promise<readonly number[]>;
}

/** An edit that has not arrived after this many milliseconds counts as that slow. */
export const GIVE_UP_MS = 15_000;

type Said = { readonly isReady: true } | { readonly latencies: readonly number[] } | { readonly error: string };

/** Starts the client, over TLS if there is `tls`; resolves when it has received its resource. */
export async function startGoodClient(port: number, file: string, tls?: PeerTls): Promise<GoodClient> {
  const secured = tls === undefined ? [] : [JSON.stringify(tls)];
  const child = fork(program, [String(port), file, String(GIVE_UP_MS), ...secured]);
  await nextOf(child);
  return {
    async edit(count) {
      child.send({ count });
      const said = await nextOf(child);
      return "latencies" in said ? said.latencies : [];
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

async function nextOf(child: ChildProcess): Promise<Said> {
  const heard = new AbortController();
  const { signal } = heard;
  const [said] = (await Promise.race([
    once(child, "message", { signal }),
    once(child, "exit", { signal }).then(() => [{ error: "its process ended" }]),
  ]).finally(() => heard.abort())) as [Said];
  if ("error" in said) throw new Error(`the client that behaves: ${said.error}`);
  return said;
}
