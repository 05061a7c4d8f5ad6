import { type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

const dockerfile = fileURLToPath(new URL("../../../deploy/docker/Dockerfile", import.meta.url));
const BASE = "localhost/node-of-this-machine";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** A line of the server's log. */
export interface LogLine {
  readonly event: string;
  readonly address?: string;
  readonly admin?: string;
}

/** Images and containers in a folder of their own, built without a daemon and without another registry than npm's. */
export class ImageStore {
  readonly #folder = mkdtempSync(join(tmpdir(), "xdskit-image-"));

  /** Whether containers can be made here: that takes rights which a sandbox may not have. */
  static get isUsable(): boolean {
    try {
      using store = new ImageStore();
      store.#run("mount", store.#run("from", "scratch"));
      return true;
    } catch {
      return false;
    }
  }

  /** Builds the image of a release on this machine's Node. Throws with the output if it cannot be built. */
  build(release: string): string {
    this.#createBase();
    const context = join(this.#folder, "context");
    mkdirSync(context);
    cpSync(release, join(context, "release"), { recursive: true });
    const args = ["--file", dockerfile, "--build-arg", `NODE=${BASE}`, "--tag", "xdskit", context];
    this.#run("bud", "--network", "host", ...args);
    return "localhost/xdskit";
  }

  /** Starts what the image starts, as the user that it names. */
  start(image: string, config: string, env: Readonly<Record<string, string>>): RunningImage {
    const container = this.#run("from", image);
    const { OCIv1: described } = JSON.parse(this.#run("inspect", "--type", "image", image)) as {
      readonly OCIv1: { readonly config: { readonly Entrypoint: readonly string[]; readonly Cmd: readonly string[] } };
    };
    const variables = Object.entries(env).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    const command = [...described.config.Entrypoint, ...described.config.Cmd];
    const args = ["run", "--network", "host", ...variables, "--volume", `${config}:/config:ro`, container, "--"];
    return new RunningImage(this.#spawn(...args, ...command));
  }

  [Symbol.dispose](): void {
    try {
      this.#run("rm", "--all");
      this.#run("rmi", "--all", "--force");
    } catch {
      // Where no container can be made there is none to remove.
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** An image with this machine's Node, its npm, a shell and what they load. */
  #createBase(): void {
    const container = this.#run("from", "scratch");
    const at = this.#run("mount", container);
    const programs = { "/usr/bin/node": process.execPath, "/bin/sh": "/bin/sh", "/usr/bin/env": "/usr/bin/env" };
    const put = (from: string, to: string): void => {
      mkdirSync(join(at, dirname(to)), { recursive: true });
      cpSync(realpathSync(from), join(at, to), { recursive: true });
    };
    for (const [to, from] of Object.entries(programs)) {
      put(from, to);
      const loaded = execFileSync("ldd", [from], { encoding: "utf8" });
      for (const [, library = ""] of loaded.matchAll(/(\/\S+) \(0x/g)) put(library, library);
    }
    put(dirname(dirname(realpathSync(npmProgram()))), "/usr/lib/node_modules/npm");
    symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(at, "usr/bin/npm"));
    put(CERTIFICATES, CERTIFICATES);
    mkdirSync(join(at, "tmp"), { mode: 0o1777 });
    const registry = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
    const variables = { PATH: "/usr/bin:/bin", NODE_EXTRA_CA_CERTS: CERTIFICATES, npm_config_registry: registry };
    this.#run(
      "config",
      ...Object.entries(variables).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
      container,
    );
    this.#run("commit", container, BASE);
  }

  #run(...args: readonly string[]): string {
    return execFileSync("buildah", [...this.#places, ...args], {
      encoding: "utf8",
      stdio: "pipe",
      env: this.#env,
    }).trim();
  }

  #spawn(...args: readonly string[]): ChildProcessByStdio<null, null, Readable> {
    // A group of its own: buildah starts the program as a grandchild, and does not pass signals on to it.
    const options = { env: this.#env, detached: true };
    return spawn("buildah", [...this.#places, ...args], { ...options, stdio: ["ignore", "ignore", "pipe"] });
  }

  get #places(): readonly string[] {
    return ["--root", join(this.#folder, "root"), "--runroot", join(this.#folder, "run")];
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, BUILDAH_ISOLATION: "chroot" };
  }
}

function npmProgram(): string {
  return execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim();
}

/** A container that runs. */
export class RunningImage {
  readonly #child: ChildProcessByStdio<null, null, Readable>;
  readonly #exited: Promise<unknown>;

  constructor(child: ChildProcessByStdio<null, null, Readable>) {
    this.#child = child;
    this.#exited = once(child, "exit");
  }

  /** The first line of its log with this event. Rejects if it ends before. */
  async hears(event: string): Promise<LogLine> {
    for await (const text of createInterface({ input: this.#child.stderr })) {
      if (!text.startsWith("{")) continue; // buildah's own
      const line = JSON.parse(text) as LogLine;
      if (line.event === event) return line;
    }
    throw new Error(`the container ended without the event ${event}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGTERM");
    await this.#exited;
  }
}
