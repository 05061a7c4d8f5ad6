import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { peerCommand } from "../../../../test/e2e/support/peers.ts";
import { freePort } from "../../../../test/e2e/support/port.ts";

const [program = ""] = peerCommand("etcd") ?? [];

/** Runs etcdctl or etcdutl and returns what it prints. */
export function etcdTool(tool: "etcdctl" | "etcdutl", ...args: readonly string[]): string {
  return execFileSync(join(dirname(program), tool), args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** A real etcd on loopback. */
export class EtcdMember {
  readonly endpoint: string;
  readonly name: string;
  readonly peerUrl: string;
  /** Where the other members reach it. */
  advertisedPeerUrl: string;
  readonly directory: string;
  /** What is run, and what it finds in its environment beside what is there anyway. */
  program = program;
  env: Readonly<Record<string, string>> = {};
  readonly #args: readonly string[];
  readonly #scheme: string;
  #process: ChildProcess | undefined;
  #output = "";

  constructor(name: string, ports: readonly [number, number], args: readonly string[] = [], scheme = "http") {
    this.name = name;
    this.endpoint = `127.0.0.1:${ports[0]}`;
    this.peerUrl = `http://127.0.0.1:${ports[1]}`;
    this.advertisedPeerUrl = this.peerUrl;
    this.directory = mkdtempSync(join(tmpdir(), "xdskit-etcd-"));
    this.#args = args;
    this.#scheme = scheme;
  }

  static async start(args: readonly string[] = [], scheme = "http"): Promise<EtcdMember> {
    const member = new EtcdMember("one", [await freePort(), await freePort()], args, scheme);
    await member.start();
    return member;
  }

  get data(): string {
    return join(this.directory, "data");
  }

  /** Resolves when clients are served; `more` are options of this run only. */
  async start(cluster: string = clusterOf([this]), more: readonly string[] = []): Promise<void> {
    const url = `${this.#scheme}://${this.endpoint}`;
    const child = spawn(
      this.program,
      [
        ...["--name", this.name, "--data-dir", this.data, "--logger", "zap", "--log-level", "info"],
        ...["--listen-client-urls", url, "--advertise-client-urls", url],
        ...["--listen-peer-urls", this.peerUrl, "--initial-advertise-peer-urls", this.advertisedPeerUrl],
        ...["--initial-cluster", cluster, "--initial-cluster-state", "new"],
        // Tests end processes and not machines.
        ...["--unsafe-no-fsync", ...this.#args, ...more],
      ],
      { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...this.env } },
    );
    this.#process = child;
    this.#output = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr.on("data", (text: Buffer) => {
        this.#output = `${this.#output}${text.toString()}`.slice(-20_000);
        if (this.#output.includes("serving client traffic")) resolve();
      });
      child.once("exit", (code) => reject(new Error(`etcd ended with ${code}: ${this.#output.slice(-2_000)}`)));
      child.once("error", reject);
    });
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#process?.kill(signal);
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  ctl(...args: readonly string[]): string {
    return etcdTool("etcdctl", "--endpoints", `${this.#scheme}://${this.endpoint}`, ...args);
  }
}

/** Three members of one cluster; `reach` returns where a member is reached by the others. */
export async function startCluster(
  reach: (member: EtcdMember) => Promise<string> = ({ peerUrl }) => Promise.resolve(peerUrl),
): Promise<readonly EtcdMember[]> {
  const members: EtcdMember[] = [];
  for (const name of ["a", "b", "c"]) {
    members.push(
      new EtcdMember(
        name,
        [await freePort(), await freePort()],
        ["--heartbeat-interval", "50", "--election-timeout", "500"],
      ),
    );
  }
  for (const member of members) member.advertisedPeerUrl = await reach(member);
  const cluster = clusterOf(members);
  await Promise.all(members.map((member) => member.start(cluster)));
  return members;
}

export function clusterOf(members: readonly EtcdMember[]): string {
  return members.map(({ name, advertisedPeerUrl }) => `${name}=${advertisedPeerUrl}`).join(",");
}
