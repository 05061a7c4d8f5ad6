import type { Body } from "../../message/body.ts";
import type { Status } from "../../message/status.ts";
import type { Resource } from "../../resource/resource.ts";

/** A response that was NACKed, and why. */
export interface NackRecord {
  readonly nonce: string;
  readonly body: Body;
  readonly error: Status;
}

interface KeptNack extends NackRecord {
  /** Names of the response that were ACKed in another response since. */
  readonly forgiven: Set<string>;
}

/** How many NACKed responses are remembered per type and stream. */
const MOST = 16;

/**
 * The responses of one type that one stream NACKed and has not ACKed since. It refers to shared bodies, so a client
 * that NACKs everything costs little memory.
 */
export class NackHistory {
  #newestFirst: readonly KeptNack[] = [];

  add({ nonce, body, error }: NackRecord): void {
    const others = this.#newestFirst.filter((one) => !replaces(body, one.body));
    this.#newestFirst = [{ nonce, body, error, forgiven: new Set<string>() }, ...others].slice(0, MOST);
  }

  /** Clears the NACKs of the resources in an ACKed body. */
  accept(accepted: Body): void {
    if (this.#newestFirst.length === 0) return;
    for (const name of resourcesIn(accepted).keys()) {
      for (const { body, forgiven } of this.#newestFirst) {
        if (resourcesIn(body).has(name)) forgiven.add(name);
      }
    }
    this.#newestFirst = this.#newestFirst.filter(({ body, forgiven }) => forgiven.size < resourcesIn(body).size);
  }

  of(name: string): NackRecord | undefined {
    return this.#newestFirst.find(({ body, forgiven }) => !forgiven.has(name) && resourcesIn(body).has(name));
  }
}

/** State of the World repeats itself, so an older NACK is kept only if its response had more resources. */
function replaces(newer: Body, older: Body): boolean {
  if (newer === older) return true;
  return newer.variant === "sotw" && resourcesIn(newer).size >= resourcesIn(older).size;
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
