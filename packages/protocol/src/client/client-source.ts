import type { TypeUrl } from "../resource/type-url.ts";
import type { ClientTurn } from "./client-turn.ts";
import type { KeptResource } from "./held.ts";
import { ServerChannel, type ServerChannelOptions } from "./server-channel.ts";
import type { SourceSpec } from "./source.ts";

/** A source with its streams, and its resources restored from an earlier run. */
export class ClientSource {
  readonly spec: SourceSpec;
  readonly #turn: ClientTurn;
  readonly #connections: Pick<ServerChannelOptions, "connect" | "disconnect">;
  readonly #lines = new Map<TypeUrl | undefined, ServerChannel>();
  readonly #kept = new Map<TypeUrl, KeptResource[]>();

  constructor(turn: ClientTurn, spec: SourceSpec, connections: Pick<ServerChannelOptions, "connect" | "disconnect">) {
    this.#turn = turn;
    this.spec = spec;
    this.#connections = connections;
  }

  /** By type; the one of an aggregated source has the key undefined. */
  get lines(): ReadonlyMap<TypeUrl | undefined, ServerChannel> {
    return this.#lines;
  }

  /** Whether anything of it is watched. */
  get isWatched(): boolean {
    for (const line of this.#lines.values()) if (line.isWatched) return true;
    return false;
  }

  lineOf(type: TypeUrl): ServerChannel {
    const onlyType = this.#lineKey(type);
    const known = this.#lines.get(onlyType);
    if (known !== undefined) return known;
    const line = new ServerChannel({
      ...this.#connections,
      turn: this.#turn,
      spec: this.spec,
      onlyType,
      kept: (of) => this.#kept.get(of) ?? [],
      forgetKept: () => (onlyType === undefined ? this.#kept.clear() : this.#kept.delete(onlyType)),
    });
    this.#lines.set(onlyType, line);
    return line;
  }

  /** @spec C-CLI-06 */
  restore(resources: readonly KeptResource[]): void {
    for (const one of resources) {
      if (this.#lines.get(this.#lineKey(one.type))?.wasAnswered === true) continue;
      const same = this.#kept.get(one.type);
      if (same === undefined) this.#kept.set(one.type, [one]);
      else same.push(one);
    }
    for (const line of this.#lines.values()) line.restored();
  }

  #lineKey(type: TypeUrl): TypeUrl | undefined {
    return this.spec.isAggregated ? undefined : type;
  }
}
