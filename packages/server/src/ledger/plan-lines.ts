import { contentDigest, type EnvoyApi } from "@xdskit/envoy-api";
import { createResource, parseTypeUrl, type Resource } from "@xdskit/protocol";
import { type Entry, type Placement, parseVariantKey } from "@xdskit/protocol/internal";
import { lackingEndpoints } from "./endpoints.ts";
import { entryOf } from "./entry-memory.ts";
import type { Publication } from "./publication.ts";
import { secretsOf } from "./secrets.ts";

/** The first line of a plan. */
interface PlanHeader {
  readonly placement: Placement;
}

/** A resource in a plan: everything by which it is judged, but no content. */
interface PlannedResource extends Entry {
  readonly layer: string;
  readonly type: string;
  readonly name: string;
  /** In hexadecimal. */
  readonly sum: string;
}

/**
 * The body of `POST /api/v1/plan` for whole layers, a line of JSON each: the placement, then every resource by its
 * digests. No content of a resource is in it.
 */
export function* planLines(
  { layers, placement }: Required<Pick<Publication, "layers" | "placement">>,
  api: Pick<EnvoyApi, "traits" | "holdsSecret">,
): Iterable<string> {
  yield `${JSON.stringify({ placement } satisfies PlanHeader)}\n`;
  const rules = { digest: contentDigest, holdsSecret: secretsOf(api), lacksEndpoints: lackingEndpoints(api) };
  for (const [layer, list] of layers) {
    for (const resource of list) {
      const { type, name, sum } = resource;
      const planned: PlannedResource = { layer, type, name, sum: sum.toString(16), ...entryOf(resource, rules) };
      yield `${JSON.stringify(planned)}\n`;
    }
  }
}

/** Reads the lines of a plan one by one; `add` and `publication` throw a `PlanLineError` for what is none. */
export class PlanReader {
  readonly entries: (readonly [Resource, Entry])[] = [];
  readonly #layers = new Map<string, Resource[]>();
  #placement: Placement | undefined;
  #line = 0;

  add(text: string): void {
    this.#line++;
    const value = this.#parse(text);
    if (this.#line === 1) this.#placement = this.#readPlacement(value);
    else this.#addResource(value);
  }

  /** All that was read, as published by a writer. */
  publication(writer: string): Publication {
    if (this.#placement === undefined) throw new PlanLineError(1, "expected the placement, got nothing");
    return { layers: this.#layers, placement: this.#placement, origin: { writer } };
  }

  #parse(text: string): Partial<Record<string, unknown>> {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null) return value;
    } catch {
      // Told below.
    }
    throw new PlanLineError(this.#line, "expected an object in JSON");
  }

  #readPlacement({ placement }: Partial<PlanHeader>): Placement {
    if (!Array.isArray(placement?.groups) || !Array.isArray(placement.clients))
      throw new PlanLineError(this.#line, "expected { placement: { groups, clients } }");
    return placement;
  }

  #addResource({ layer, type: typeUrl, name, sum, version, body, size, isEmpty }: Partial<PlannedResource>): void {
    const type = typeof typeUrl === "string" ? parseTypeUrl(typeUrl) : undefined;
    const isWhole =
      typeof layer === "string" &&
      typeof name === "string" &&
      typeof version === "string" &&
      Number.isSafeInteger(size) &&
      (body === undefined || typeof body === "string") &&
      typeof sum === "string" &&
      /^[0-9a-f]{1,32}$/.test(sum);
    if (type === undefined || !isWhole || size === undefined)
      throw new PlanLineError(this.#line, "expected a resource: layer, type, name, version, size, sum and body");
    const named = parseVariantKey(name) ?? { name };
    const made = createResource({ ...named, type, version, bytes: new Uint8Array() }, contentDigest);
    const resource = { ...made, sum: BigInt(`0x${sum}`) };
    const list = this.#layers.get(layer) ?? [];
    this.#layers.set(layer, list);
    list.push(resource);
    this.entries.push([resource, { version, body, size, ...(isEmpty === true && { isEmpty }) }]);
  }
}

/** A line of a plan that cannot be read. */
export class PlanLineError extends Error {
  override readonly name = "PlanLineError";

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`);
  }
}
