import { fileURLToPath } from "node:url";
import { CLIENT_CPU, Peer, quiet, SERVER_CPU, tell } from "./peer.ts";

/** A server of ours and the load client, in sync with it. */
export interface Served extends AsyncDisposable {
  readonly server: Peer;
  readonly client: Peer;
}

export interface ServedSetup {
  /** The directory of the load client. */
  readonly tools: string;
  readonly resources: number;
  /** Flags of the server. */
  readonly flags: readonly string[];
  /** Arguments of the load client. */
  readonly load: readonly string[];
}

/** Starts both, and waits until the server has nothing to do. */
export async function startServed({ tools, resources, flags, load }: ServedSetup): Promise<Served> {
  const program = fileURLToPath(new URL("./served-by-xdskit.js", import.meta.url));
  const server = new Peer(process.execPath, [program, String(resources), ...flags], SERVER_CPU);
  const { address } = await server.hears("listening");
  await server.hears("ready");
  const client = new Peer(`${tools}/load`, ["-address", String(address), ...load], CLIENT_CPU);
  await tell(client, "connect", "synced");
  await quiet(server);
  return {
    server,
    client,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
