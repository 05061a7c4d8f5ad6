import type { Body } from "../../message/body.ts";
import type { Status } from "../../message/status.ts";
import type { Resource } from "../../resource/resource.ts";

/** A response that was refused, and why. */
export interface NackRecord {
  readonly nonce: string;
  readonly body: Body;
  readonly error: Status;
}

interface KeptNack extends NackRecord {
  /** Names of it that were accepted in another response since. */
  readonly forgiven: Set<string>;
}

/** How many refused responses of one type and stream are remembered. */
const MOST = 16;

/**
 * What one stream refused of one type and has not accepted since, by reference to the shared bodies: a client that refuses
 * everything costs little.
 */
export class NackHistory {
  #newestFirst: readonly KeptNack[] = [];

  add({ nonce, body, error }: NackRecord): void {
    const others = this.#newestFirst.filter((one) => !replaces(body, one.body));
    this.#newestFirst = [{ nonce, body, error, forgiven: new Set<string>() }, ...others].slice(0, MOST);
  }

  /** What is in an accepted body is not refused any more. */
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

/** State of the World repeats itself, so an older refusal is kept only where it said more. */
function replaces(newer: Body, older: Body): boolean {
  if (newer === older) return true;
  return newer.variant === "sotw" && resourcesIn(newer).size >= resourcesIn(older).size;
}

const resourcesByBody = new WeakMap<Body, ReadonlyMap<string, Resource>>();

/** The resources that a body holds, by name; found once for all streams that share the body. */
export function resourcesIn(body: Body): ReadonlyMap<string, Resource> {
  let resources = resourcesByBody.get(body);
  if (resources === undefined) {
    resources = new Map(body.segments.flatMap(({ puts }) => puts.map((put) => [put.name, put] as const)));
    resourcesByBody.set(body, resources);
  }
  return resources;
}
