import type { Resource } from "@xdskit/protocol";
import type { Load, Progress, ResourceSource } from "@xdskit/source";

/** A load, and when it was over. */
interface EndedLoad {
  readonly load: Load;
  readonly endedAt: Date;
  readonly tookMs: number;
}

/** A load of a source that is under way, maybe before there is anything that takes it in. */
export class BegunLoad {
  readonly beganAt: Date = new Date();
  /** Rejects as the source does, which is not unhandled if nobody takes it in. */
  readonly ended: Promise<EndedLoad>;
  #show: ((progress: Progress) => void) | undefined;
  #prepare: ((resources: readonly Resource[]) => void) | undefined;
  /** What arrived and is not prepared yet. */
  readonly #arrived: (readonly Resource[])[] = [];

  constructor(source: Pick<ResourceSource, "load">) {
    const beganAtMs = performance.now();
    const load = source.load(
      (progress) => this.#show?.(progress),
      (resources) => this.#arrive(resources),
    );
    this.ended = load.then((read) => ({ load: read, endedAt: new Date(), tookMs: performance.now() - beganAtMs }));
    this.ended.catch(() => undefined);
  }

  /** Shows the progress from now on. */
  showWith(show: (progress: Progress) => void): void {
    this.#show = show;
  }

  /** Prepares resources as they arrive, and those that arrived before, some in each turn of the event loop. */
  prepareWith(prepare: (resources: readonly Resource[]) => void): void {
    this.#prepare = prepare;
    setImmediate(() => this.#catchUp());
  }

  #arrive(resources: readonly Resource[]): void {
    if (this.#prepare === undefined || this.#arrived.length > 0) this.#arrived.push(resources);
    else this.#prepare(resources);
  }

  #catchUp(): void {
    const resources = this.#arrived.shift();
    if (resources === undefined) return;
    this.#prepare?.(resources);
    setImmediate(() => this.#catchUp());
  }
}
