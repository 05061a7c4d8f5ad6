import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../../e2e/support/peers.ts";

/** Something without which a promise does not hold: an expression of the built code, and what is there without it. */
export interface Guard {
  /** Below `packages`. */
  readonly file: string;
  readonly expression: string;
  readonly without: string;
}

export const guards = {
  /** An append compares the head that it was planned upon. */
  compareOfTheHead: {
    file: "store-etcd/dist/store/etcd-store.js",
    expression: "isHead(keys, expected), ...isHeld]",
    without: "...isHeld]",
  },
  /** An append compares the lease under which it was planned. */
  fence: {
    file: "store-etcd/dist/store/etcd-store.js",
    expression: "token === undefined ? [] : [this.#leases.condition(token)]",
    without: "[]",
  },
  /** A client that brings versions waits until the store was asked. */
  freshness: {
    file: "server/dist/ledger/freshness.js",
    expression: "check(client) {",
    without: "check(client) { if (this !== undefined) return undefined;",
  },
  /** A history that does not continue what is in force is not applied. */
  otherHistory: {
    file: "server/dist/ledger/ledger-reader.js",
    expression: 'this.#stopFor("other-history", behind.reason);',
    without: "await this.#readWhole(true);",
  },
  /** Clusters are removed when nothing uses them any more. */
  removedLast: {
    file: "protocol/dist/server/order/order.js",
    expression: "let to = this.awaitsReturn ? -1 : revision;",
    without:
      "if (revision >= 0) return { to: revision, namedTo: revision, goesAtOnce: undefined };\nlet to = revision;",
  },
  /** What uses a Cluster is sent when that can be used. */
  madeFirst: {
    file: "protocol/dist/server/order/order.js",
    expression: "const waitOf = this.#gateOf(user, current);",
    without: "const waitOf = undefined;",
  },
} as const satisfies Readonly<Record<string, Guard>>;

export type GuardName = keyof typeof guards;

/** An environment of Node in which one guard is removed from the built code. */
export class WithoutGuard implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), "xds-chaos-guard-"));
  readonly env: Readonly<Record<string, string>>;

  constructor(name: GuardName) {
    const { file, ...guard } = guards[name];
    const url = pathToFileURL(join(root, "packages", file)).href;
    const hook = pathToFileURL(join(root, "test/chaos/support/without-guard.mjs")).href;
    this.env = {
      XDS_CHAOS_GUARD: JSON.stringify({ ...guard, url, loaded: this.#loaded }),
      NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --import ${hook}`.trim(),
    };
  }

  /** Whether a process has run without it. */
  get wasRemoved(): boolean {
    return existsSync(this.#loaded);
  }

  get #loaded(): string {
    return join(this.#directory, "loaded");
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
