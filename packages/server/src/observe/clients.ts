import type { Node } from "@xdskit/protocol";
import type { StreamId } from "@xdskit/protocol/internal";
import { printable } from "./printable.ts";

const MAX_AGENTS = 50;

/** Counts open streams by user agent; only the first names get a label of their own. */
export class Clients {
  readonly #agentOf = new Map<StreamId, string>();
  readonly #streams = new Map<string, number>();

  identify(stream: StreamId, node: Node): void {
    this.forget(stream);
    const name = agentOf(node);
    const agent = this.#streams.has(name) || this.#streams.size < MAX_AGENTS ? name : "other";
    this.#agentOf.set(stream, agent);
    this.#streams.set(agent, (this.#streams.get(agent) ?? 0) + 1);
  }

  forget(stream: StreamId): void {
    const agent = this.#agentOf.get(stream);
    if (agent === undefined) return;
    this.#agentOf.delete(stream);
    const left = (this.#streams.get(agent) ?? 0) - 1;
    if (left > 0) this.#streams.set(agent, left);
    else this.#streams.delete(agent);
  }

  byAgent(): Iterable<readonly [agent: string, streams: number]> {
    return this.#streams;
  }
}

/** Name and major.minor version, such as `envoy 1.39`. */
function agentOf(node: Node): string {
  if (node.userAgentName === "") return "unknown";
  const version = /^v?(\d+\.\d+)/.exec(node.userAgentVersion)?.[1];
  const name = printable(node.userAgentName, 64);
  return version === undefined ? name : `${name} ${version}`;
}
