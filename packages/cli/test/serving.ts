import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cluster, createXdsClient, type XdsClient } from "@xdskit/client";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";

const WITHIN_MS = 30_000;

/** Waits for a condition, with a deadline. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + WITHIN_MS;
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error(`waited ${WITHIN_MS} ms until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A directory of resources that a test writes. */
export class Site {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async make(files: Readonly<Record<string, string>> = {}): Promise<Site> {
    const site = new Site(await mkdtemp(join(tmpdir(), "xds-cli-")));
    for (const [name, text] of Object.entries(files)) await site.write(name, text);
    return site;
  }

  /** As editors do: the file is never seen half written. */
  async write(name: string, text: string): Promise<void> {
    const path = join(this.directory, name);
    await writeFile(`${path}~`, text);
    await rename(`${path}~`, path);
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Clusters as a file. */
export function clusters(...names: readonly string[]): string {
  const list = names.map((name) => `- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: ${name}\n`);
  return `${list.join("")}`;
}

export interface ServingOptions {
  readonly isTerminal?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** `xds serve` in this process. */
export class Serving {
  readonly io: CapturedIo;
  readonly #ended: Promise<number>;
  address = "";
  admin = "";

  private constructor(
    directory: readonly string[],
    flags: readonly string[],
    { isTerminal = false, env = {} }: ServingOptions,
  ) {
    this.io = new CapturedIo({ env, ...(isTerminal && { terminalColumns: 100 }) });
    const listen = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
    const argv = ["serve", ...directory, ...listen, "--validation", "off", ...flags];
    this.#ended = run(argv, this.io);
  }

  static async start(
    site: Site | undefined,
    flags: readonly string[] = [],
    options: ServingOptions = {},
  ): Promise<Serving> {
    const serving = new Serving(site === undefined ? [] : [site.directory], flags, options);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's colours
    const plain = (): string => serving.io.stderr.text.replace(/\u001b\[\d+m/g, "");
    const addresses = /(?:"address":"|address=)((?:127|0)\.[\d.:]+)"?.*?admin"?[=:]"?((?:127|0)\.[\d.:]+)/;
    await until("xds serve listens", () => addresses.test(plain()));
    const [, address, admin] = addresses.exec(plain()) ?? [];
    serving.address = address ?? "";
    serving.admin = admin ?? "";
    return serving;
  }

  /** What was logged as JSON about an event, in order. */
  logged(event: string): readonly Readonly<Record<string, unknown>>[] {
    const lines = this.io.stderr.text.split("\n").filter((line) => line.startsWith("{"));
    return lines.map((line) => JSON.parse(line)).filter((line) => line.event === event);
  }

  async isReady(): Promise<boolean> {
    return (await fetch(`http://${this.admin}/readyz`)).ok;
  }

  async ask(path: string): Promise<Record<string, unknown>> {
    return (await fetch(`http://${this.admin}${path}`)).json() as Promise<Record<string, unknown>>;
  }

  /** Runs another command against it. */
  async xds(...argv: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = { XDS_SERVER: this.address, XDS_ADMIN_SERVER: this.admin };
    const io = new CapturedIo({ env });
    const code = await run(argv, io);
    return { code, stdout: io.stdout.text, stderr: io.stderr.text };
  }

  /** A node that subscribes to all clusters and ACKs them: the commands' own clients count as none. */
  async connect(node: string): Promise<XdsClient> {
    const client = await createXdsClient({ server: this.address, node });
    const watch = client.watch(Cluster, "*", { onChange: () => undefined });
    await until(`${node} has clusters`, () => watch.current.size > 0);
    return client;
  }

  /** Ends it as SIGTERM does; its exit code. */
  stop(): Promise<number> {
    this.io.interrupt("SIGTERM");
    return this.#ended;
  }
}
