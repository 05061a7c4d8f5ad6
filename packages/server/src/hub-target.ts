import type { LayerChange } from "@xdskit/protocol";
import { describeProblems } from "@xdskit/protocol/internal";
import { type CheckedCommit, type RulesContext, readCommit } from "./commit-check.ts";
import { XdsError } from "./error.ts";
import type { Hub } from "./hub/hub.ts";
import type { MissingChange } from "./hub/missing-resources.ts";
import type { NumbersReached, PublishTarget, StateChange } from "./ledger/in-force.ts";
import type { PlacedResource } from "./ledger/references.ts";
import { Slices } from "./slices.ts";
import type { StateFeed } from "./workers/state-feed.ts";

/** Applies published changes to the hub, and passes them on to workers. */
export class HubTarget implements PublishTarget {
  readonly #hub: Hub;
  readonly #context: RulesContext;
  readonly #feed: StateFeed | undefined;
  readonly #slices = new Slices();

  constructor(hub: Hub, context: RulesContext, feed?: StateFeed) {
    this.#hub = hub;
    this.#context = context;
    this.#feed = feed;
  }

  get revision(): number {
    return this.#hub.revision;
  }

  restorePast(states: readonly (readonly LayerChange[])[]): void {
    this.#hub.restorePast(states);
  }

  async check(change: StateChange): Promise<string | undefined> {
    try {
      await this.#slices.finish(this.#hub.check({ changes: change.changes }));
      this.#read(change);
      return undefined;
    } catch (cause) {
      if (cause instanceof XdsError) return cause.message;
      throw cause;
    }
  }

  async apply(change: StateChange): Promise<number> {
    const { transaction, rules } = this.#read(change);
    await this.#slices.next();
    const revision = await this.#slices.finish(this.#hub.commitInSteps(transaction, rules));
    this.#feed?.changed(change, revision);
    return revision;
  }

  *resources(): Iterable<PlacedResource> {
    const { view } = this.#hub;
    for (const { name: layer, types } of view.layers())
      for (const [type] of types) for (const resource of view.resources([layer], type)) yield { layer, resource };
  }

  changeMissing(change: MissingChange): void {
    this.#hub.changeMissing(change);
    this.#feed?.changeMissing(change);
  }

  /** Nothing is missing any more, because another ledger follows. */
  clearMissing(): void {
    this.changeMissing({ added: [], removed: [...this.#hub.missing] });
  }

  setNumbers(numbers: NumbersReached): void {
    this.#feed?.setNumbers(numbers);
  }

  #read({ changes, placement }: StateChange): CheckedCommit {
    const rules = placement && {
      nodeMapping: { groups: placement.groups },
      access: placement.access ?? ("default" as const),
      clientOverrides: placement.clients,
    };
    const read = readCommit({ changes, ...rules }, this.#context);
    if (!("problems" in read)) return read;
    const { problems } = read;
    throw new XdsError("TRANSACTION_INVALID", describeProblems("nothing was published", problems), { problems });
  }
}
