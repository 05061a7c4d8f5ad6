import type { ClientDialect } from "../dialect/client-dialect.ts";
import type { DiscoveryResponse, ReceivedResource } from "../message/response.ts";
import { type Status, statusCode } from "../message/status.ts";
import { isGlob } from "../resource/resource-name.ts";
import type { TypeTraits } from "../resource/type-traits.ts";
import { shownName } from "../resource/variant-name.ts";

/** A rejected resource, and why. */
export interface RefusedResource {
  readonly resource: ReceivedResource;
  readonly problem: string;
}

/** The result of validating a response. */
export interface Verdict {
  /** Faults of the response as a whole. */
  readonly problems: readonly string[];
  readonly refused: readonly RefusedResource[];
  /** Valid resources with a body. */
  readonly puts: readonly ReceivedResource[];
  /** Renewals of the TTL of held resources (C-TTL-10). */
  readonly heartbeats: readonly ReceivedResource[];
  /** Names that came without a body: the resource does not exist (C-NEX-08). */
  readonly missing: readonly string[];
  /** Every resource name in it. */
  readonly names: ReadonlySet<string>;
}

/** What validation needs to know of the client. */
export interface Knowledge {
  readonly dialect: ClientDialect;
  readonly traits: TypeTraits;
  /** Whether a resource is watched. */
  isCovered(resource: ReceivedResource): boolean;
  /** Returns the accepted version; undefined if the resource is not held. */
  heldVersion(name: string): string | undefined;
}

/** Validates everything in a response, so that the NACK lists every fault (C-VAL-05). */
export function judge(response: DiscoveryResponse, knowledge: Knowledge): Verdict {
  const refused: RefusedResource[] = [];
  const puts: ReceivedResource[] = [];
  const heartbeats: ReceivedResource[] = [];
  const missing: string[] = [];
  const unnamed: string[] = [];
  const seen = new NamesSeen();
  const { resources } = response;
  for (const resource of knowledge.dialect.refuseDuplicates ? resources : lastOfEach(resources)) {
    seen.add(resource.name);
    const problem = resource.problem ?? problemOfName(resource) ?? problemOfTtl(resource, knowledge.dialect);
    // A resource without a name could be any of the missing ones.
    if (problem !== undefined && resource.name === "") unnamed.push(problem);
    else if (problem !== undefined) refused.push({ resource, problem });
    else if (resource.bytes !== undefined) puts.push(resource);
    else {
      const meaning = meaningOfEmpty(resource, knowledge);
      if (meaning === "heartbeat") heartbeats.push(resource);
      else if (meaning === "missing") missing.push(resource.name);
      else if (meaning === "refused") refused.push({ resource, problem: problemOfHeartbeat(resource) });
    }
  }
  if (response.kind === "delta") for (const name of response.removed) seen.addRemoved(name);
  const twice = knowledge.dialect.refuseDuplicates ? seen.problems : [];
  const problems = [...response.problems, ...unnamed, ...twice];
  return { problems, refused, puts, heartbeats, missing, names: seen.names };
}

/** Of resources with one name only the last counts, where that is no fault. */
function lastOfEach(resources: readonly ReceivedResource[]): readonly ReceivedResource[] {
  const last = new Map(resources.map((resource) => [resource.name, resource]));
  return resources.filter((resource) => resource.name === "" || last.get(resource.name) === resource);
}

/** Whether nothing of a response may be applied. */
export function isRefusedWhole({ problems, refused }: Verdict, { nackPolicy }: ClientDialect): boolean {
  return problems.length > 0 || (refused.length > 0 && nackPolicy === "all-or-nothing");
}

const MOST_PROBLEMS = 100;

/** Returns the error for the NACK; undefined if the response is valid (C-ACK-03). */
export function errorOf({ problems, refused }: Verdict): Status | undefined {
  const count = problems.length + refused.length;
  if (count === 0) return undefined;
  const shown = [
    ...problems.slice(0, MOST_PROBLEMS),
    ...refused.slice(0, MOST_PROBLEMS).map(({ resource, problem }) => textOf(resource, problem)),
  ].slice(0, MOST_PROBLEMS);
  const more = count - shown.length;
  const message = `${shown.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
  return { code: statusCode.INVALID_ARGUMENT, message };
}

function textOf({ name }: ReceivedResource, problem: string): string {
  return `${shownName(name)}: ${problem}`;
}

/** A name without a body may say that a collection has no members (C-NEX-08, B-XTP-05). */
function problemOfName({ name, bytes }: ReceivedResource): string | undefined {
  return bytes !== undefined && isGlob(name) ? "expected the name of a resource, got that of a collection" : undefined;
}

function problemOfTtl({ ttlMs }: ReceivedResource, { ttl }: ClientDialect): string | undefined {
  return ttl && ttlMs !== undefined && ttlMs <= 0 ? `expected a ttl above 0, got ${ttlMs} ms` : undefined;
}

function problemOfHeartbeat({ version }: ReceivedResource): string {
  return `a heartbeat of version ${JSON.stringify(version)}, which is not held`;
}

/** @spec C-NEX-08, C-TTL-10, C-TTL-11, C-TTL-15, B-TTL-17 */
function meaningOfEmpty(
  resource: ReceivedResource,
  { dialect, traits, isCovered, heldVersion }: Knowledge,
): "heartbeat" | "missing" | "refused" | "nothing" {
  // The client may have unsubscribed while the heartbeat was on its way.
  if (!isCovered(resource)) return "nothing";
  if (resource.version === "" || !dialect.ttl || traits.kind === "vhds") return "missing";
  if (heldVersion(resource.name) === resource.version) return "heartbeat";
  return dialect.badHeartbeat === "nack" ? "refused" : "missing";
}

/** Finds names that occur twice in a response (B-RES-10, C-RES-11, C-RES-12). */
class NamesSeen {
  readonly names = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #twice = new Set<string>();

  get problems(): readonly string[] {
    return [...this.#twice].map((name) => `${JSON.stringify(shownName(name))} is named twice`);
  }

  add(name: string): void {
    const { size } = this.names;
    this.names.add(name);
    // A resource that could not be decoded has no name.
    if (this.names.size === size && name !== "") this.#twice.add(name);
  }

  addRemoved(name: string): void {
    if (this.names.has(name) || this.#removed.has(name)) this.#twice.add(name);
    this.#removed.add(name);
  }
}
