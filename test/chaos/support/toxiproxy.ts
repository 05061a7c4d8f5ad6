import { peerCommand } from "../../e2e/support/peers.ts";
import { freePort } from "../../e2e/support/port.ts";
import { type StartedProcess, startProcess } from "../../e2e/support/process.ts";
import { until } from "../../e2e/support/wait.ts";

/** What a link does to the bytes that pass, in both directions unless one is named. */
export type Ailment =
  /** Nothing arrives any more, and nobody is told. */
  | { readonly kind: "silent"; readonly only?: Direction }
  /** Connections are closed and refused. */
  | { readonly kind: "closed" }
  /** Connections are accepted, and reset as soon as they carry something. */
  | { readonly kind: "reset" }
  | { readonly kind: "slow"; readonly ms: number; readonly jitterMs: number }
  | { readonly kind: "narrow"; readonly kilobytesPerSecond: number };

/** To whom is linked to, or from there. */
export type Direction = "upstream" | "downstream";

const NAME = "toxiproxy";

/** A Toxiproxy on loopback, through which the links of the world lead. */
export class Toxiproxy implements AsyncDisposable {
  readonly #process: StartedProcess;
  readonly #api: string;
  #links = 0;

  private constructor(process: StartedProcess, api: string) {
    this.#process = process;
    this.#api = api;
  }

  static async start(): Promise<Toxiproxy> {
    const [program = NAME] = peerCommand(NAME) ?? [];
    const port = await freePort();
    const process = await startProcess([program, "-host", "127.0.0.1", "-port", `${port}`]);
    const api = `http://127.0.0.1:${port}`;
    await until({ says: "Toxiproxy answers", withinMs: 10_000 }, async () => (await fetch(`${api}/version`)).ok);
    return new Toxiproxy(process, api);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** A link to a port of loopback. */
  async link(to: number): Promise<Link> {
    const port = await freePort();
    const name = `link-${this.#links++}`;
    await ask(`${this.#api}/proxies`, "POST", { name, listen: `127.0.0.1:${port}`, upstream: `127.0.0.1:${to}` });
    return new Link(port, `${this.#api}/proxies/${name}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kill();
  }
}

/** A link with a port of its own, which is healthy until it is told otherwise. */
export class Link {
  readonly port: number;
  readonly #api: string;

  constructor(port: number, api: string) {
    this.port = port;
    this.#api = api;
  }

  async ail(ailment: Ailment): Promise<void> {
    if (ailment.kind === "closed") {
      await ask(this.#api, "POST", { enabled: false });
      return;
    }
    for (const stream of directionsOf(ailment)) {
      await ask(`${this.#api}/toxics`, "POST", { name: stream, stream, ...toxicOf(ailment) });
    }
  }

  /** Ends an ailment; one that was silent also closes its connections, since what they lost is gone for good. */
  async heal(ailment: Ailment): Promise<void> {
    const { kind } = ailment;
    if (kind !== "closed") {
      for (const stream of directionsOf(ailment)) await ask(`${this.#api}/toxics/${stream}`, "DELETE");
    }
    if (kind === "silent") await ask(this.#api, "POST", { enabled: false });
    if (kind === "silent" || kind === "closed") await ask(this.#api, "POST", { enabled: true });
  }
}

function directionsOf(ailment: Ailment): readonly Direction[] {
  return ailment.kind === "silent" && ailment.only !== undefined ? [ailment.only] : ["upstream", "downstream"];
}

function toxicOf(ailment: Exclude<Ailment, { kind: "closed" }>): object {
  switch (ailment.kind) {
    case "silent":
      return { type: "timeout", attributes: { timeout: 0 } };
    case "reset":
      return { type: "reset_peer", attributes: { timeout: 0 } };
    case "slow":
      return { type: "latency", attributes: { latency: ailment.ms, jitter: ailment.jitterMs } };
    case "narrow":
      return { type: "bandwidth", attributes: { rate: ailment.kilobytesPerSecond } };
  }
}

async function ask(url: string, method: string, body?: object): Promise<void> {
  const answer = await fetch(url, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}
