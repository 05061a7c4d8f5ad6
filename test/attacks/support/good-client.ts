import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./good-client.mjs", import.meta.url));

/** A client that behaves, in a process of its own, so that what an attack costs this process is not measured. */
export interface GoodClient extends Disposable {
  /** Edits what it follows so many times, one after the other; how many milliseconds each took to arrive. */
  edit(count: number): Promise<readonly number[]>;
}

type Said = { readonly isReady: true } | { readonly latencies: readonly number[] } | { readonly error: string };

/** Starts it; it has what it follows when this resolves. */
export async function startGoodClient(port: number, file: string): Promise<GoodClient> {
  const child = fork(program, [String(port), file]);
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
  const [said] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(() => [{ error: "its process ended" }]),
  ])) as [Said];
  if ("error" in said) throw new Error(`the client that behaves: ${said.error}`);
  return said;
}
