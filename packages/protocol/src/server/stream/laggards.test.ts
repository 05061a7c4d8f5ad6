import { beforeEach, describe, expect, test } from "vitest";
import { cluster } from "../../../test/support/layers.ts";
import { CLUSTER, digest, LISTENER, resource, traits } from "../../../test/support/resources.ts";
import { openStream, requestOn } from "../../../test/support/streams.ts";
import type { InitialVersions } from "../../message/request.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { LayerSet } from "../../state/layer-set.ts";
import { CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { ClusterSources } from "../order/cluster-sources.ts";
import { trimJournals } from "./laggards.ts";
import { SiblingSets } from "./sibling-sets.ts";
import type { Stream } from "./stream.ts";

/** Streams over layers whose journals keep eight lines. */
class World {
  readonly layers: LayerSet<Stream> = new LayerSet({ keepsBodies: () => false }, { lines: 8, bytes: 1e9 });
  readonly #responses = new SharedResponses(digest, { namesPerStep: 2 });
  readonly #currents = new CurrentViews(this.#responses);
  readonly #sets = new SiblingSets(traits, (type) => type === CLUSTER, new ClusterSources({ listsNews: false }));
  readonly #streams = new Map<number, Stream>();
  revision = 0;

  /** A stream that subscribes to all Clusters in that layer; it is not flushed. */
  open(layer: string, initialVersions: readonly string[] = []): Stream {
    const view = this.layers.viewOf([layer]);
    const opened = openStream(this.#sets, this.#currents.of(view), { stream: this.#streams.size + 1 });
    this.layers.watch(view, opened);
    this.#streams.set(opened.opened.stream, opened);
    const pairs = initialVersions.map((name) => [name, ""] as const);
    const listed: InitialVersions = { size: pairs.length, key: undefined, [Symbol.iterator]: () => pairs.values() };
    requestOn(opened, CLUSTER, { initialVersions: listed });
    return opened;
  }

  put(layer: string, ...puts: readonly Resource[]): void {
    this.layers.apply({ changes: [{ layer, puts }] }, ++this.revision);
    this.#responses.advance(this.revision, undefined);
  }

  /** As many changes, each at a revision of its own. */
  change(layer: string, times: number): void {
    for (let i = 0; i < times; i++) this.put(layer, cluster("a", `${this.revision}`));
  }

  /** Numbers of those who lag too far behind. */
  trim(): readonly number[] {
    return [...trimJournals(this.layers, this.#streams, this.revision)].map(({ opened }) => opened.stream);
  }

  /** Up to which revision the changes of a layer were dropped. */
  trimmedTo(layer: string, type: TypeUrl = CLUSTER): number | undefined {
    return this.layers.viewOf([layer]).layers[0]?.table(type)?.journal.trimmedTo;
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

/** Sends everything; what changes afterwards concerns the stream. */
function sentAll(stream: Stream): Stream {
  stream.flush();
  stream.unsettle();
  return stream;
}

describe("S-GRP-07: the changes that are kept", () => {
  test("are those since the oldest stream that needs them, and of its view only", () => {
    world.put("base", cluster("a", "1"));
    world.put("other", cluster("a", "1"));
    sentAll(world.open("other"));
    world.change("base", 3);
    sentAll(world.open("base"));
    world.change("base", 5);
    expect([world.trim(), world.trimmedTo("base"), world.trimmedTo("other")]).toEqual([[], 5, 0]);
  });

  test("are none if nobody needs them", () => {
    world.change("base", 9);
    world.open("base");
    expect([world.trim(), world.trimmedTo("base")]).toEqual([[], 9]);
  });

  test("are not those of a type that nobody is behind in, nor those before a settled stream", () => {
    const settled = world.open("base");
    for (let i = 0; i < 9; i++) world.put("base", resource(LISTENER, "l", `${i}`));
    sentAll(world.open("base"));
    settled.flush();
    world.put("base", resource(LISTENER, "l", "last"));
    expect([world.trim(), world.trimmedTo("base", LISTENER)]).toEqual([[], 10]);
    world.change("base", 9);
    settled.catchUp(world.revision);
    expect([world.trim(), world.trimmedTo("base")]).toEqual([[2], 15]);
  });

  test("are too few for a stream that lags behind by more than a journal holds", () => {
    world.change("base", 1);
    const streams = [world.open("base"), world.open("base"), world.open("other")];
    sentAll(streams[0] as Stream);
    sentAll(streams[2] as Stream);
    world.change("base", 7);
    sentAll(streams[1] as Stream);
    world.change("base", 3);
    expect([world.trim(), world.trimmedTo("base")]).toEqual([[1], 6]);
  });

  test("may be too few for a comparison that goes on: it compares all names again", () => {
    world.change("base", 1);
    const comparing = world.open("base", ["a", "b", "c"]);
    expect(comparing.flush().isUnfinished).toBe(true);
    world.change("base", 7);
    expect([world.trim(), world.trimmedTo("base")]).toEqual([[], 0]);
    world.change("base", 2);
    expect([world.trim(), world.trimmedTo("base")]).toEqual([[], 6]);
  });
});
