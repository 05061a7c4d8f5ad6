import type { Body } from "../../message/body.ts";
import type { Status } from "../../message/status.ts";
import type { Resource } from "../../resource/resource.ts";
import { bytesOfText } from "../memory/value-cost.ts";

/** A response that was NACKed, and why. */
export interface NackRecord {
  readonly nonce: string;
  /** The resources of the response by name. */
  readonly resources: ReadonlyMap<string, Resource>;
  readonly error: Status;
}

interface KeptNack extends NackRecord {
  readonly variant: Body["variant"];
  /** Names of the response that were ACKed in another response since. */
  readonly forgiven: Set<string>;
}

/** How many NACKed responses are remembered per type and stream. */
const MOST = 16;

/**
 * The responses of one type that one stream NACKed and has not ACKed since. It refers to the resources of shared bodies,
 * so a client that NACKs everything costs little memory.
 */
export class NackHistory {
  #newestFirst: readonly KeptNack[] = [];

  /** The memory that the reasons take, in bytes. */
  get reasonBytes(): number {
    let bytes = 0;
    for (const { error } of this.#newestFirst) bytes += bytesOfText(error.message);
    return bytes;
  }

  add({ nonce, body, error }: { readonly nonce: string; readonly body: Body; readonly error: Status }): void {
    const { variant } = body;
    const resources = resourcesIn(body);
    if (resources.size === 0) return;
    const one = { nonce, variant, resources, error, forgiven: new Set<string>() };
    this.#newestFirst = [one, ...this.#newestFirst.filter((older) => !replaces(one, older))].slice(0, MOST);
  }

  /** Clears the NACKs of the resources in an ACKed body. */
  accept(accepted: Body): void {
    if (this.#newestFirst.length === 0) return;
    for (const name of resourcesIn(accepted).keys()) {
      for (const { resources, forgiven } of this.#newestFirst) {
        if (resources.has(name)) forgiven.add(name);
      }
    }
    this.#newestFirst = this.#newestFirst.filter(({ resources, forgiven }) => forgiven.size < resources.size);
  }

  of(name: string): NackRecord | undefined {
    return this.#newestFirst.find(({ resources, forgiven }) => !forgiven.has(name) && resources.has(name));
  }
}

/** State of the World repeats itself, so an older NACK is kept only if its response had more resources. */
function replaces(newer: KeptNack, older: KeptNack): boolean {
  if (newer.resources === older.resources) return true;
  return newer.variant === "sotw" && newer.resources.size >= older.resources.size;
}

const resourcesByBody = new WeakMap<Body, ReadonlyMap<string, Resource>>();

/** The resources in a body by name; computed once for all streams that share the body. */
export function resourcesIn(body: Body): ReadonlyMap<string, Resource> {
  let resources = resourcesByBody.get(body);
  if (resources === undefined) {
    resources = new Map(body.segments.flatMap(({ puts }) => puts.map((put) => [put.name, put] as const)));
    resourcesByBody.set(body, resources);
  }
  return resources;
}
