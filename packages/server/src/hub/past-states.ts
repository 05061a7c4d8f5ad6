import type { LayerChange, Resource, TypeUrl } from "@xdskit/protocol";
import type { Remembered, ServerMachine } from "@xdskit/protocol/internal";

/**
 * Former states of Clusters, as records that follow what a machine restored so far. `states`: all of the oldest one, and
 * then how each differs from the one before it.
 */
export function rememberedOf(
  states: readonly (readonly LayerChange[])[],
  machine: ServerMachine,
): readonly Remembered[] {
  const [oldest = [], ...later] = states;
  return [replacing(oldest, machine), ...later].flatMap((changes, index) =>
    changes.flatMap((change) => [...recordsOf(change, machine.revision + 1 + index)]),
  );
}

/** What it takes to get from what is restored to a state; what is the same in both is not written to disk again. */
function replacing(oldest: readonly LayerChange[], machine: ServerMachine): readonly LayerChange[] {
  const key = (layer: string, type: TypeUrl, name: string): string => JSON.stringify([layer, type, name]);
  const puts = oldest.flatMap(({ layer, puts: given = [] }) => given.map((put) => ({ layer, put })));
  const present = new Set(puts.map(({ layer, put }) => key(layer, put.type, put.name)));
  const types = new Set(puts.map(({ put }) => put.type));
  const gone: LayerChange[] = [];
  for (const one of machine.remembered()) {
    if (one.kind !== "changed" || !types.has(one.type)) continue;
    const { layer, type } = one;
    const names = one.puts.map(({ name }) => name).filter((name) => !present.has(key(layer, type, name)));
    gone.push({ layer, deletes: names.map((name) => ({ type, name })) });
  }
  const isOther = (layer: string, put: Resource): boolean =>
    machine.holder(layer, put.type, put.name)?.version !== put.version;
  return [
    ...gone,
    ...oldest.map(({ layer, puts: all = [] }) => ({ layer, puts: all.filter((put) => isOther(layer, put)) })),
  ];
}

function* recordsOf({ layer, puts = [], deletes = [] }: LayerChange, revision: number): Iterable<Remembered> {
  for (const type of new Set([...puts, ...deletes].map((one) => one.type))) {
    yield {
      ...{ kind: "changed", revision, type, layer },
      puts: puts.filter((put) => put.type === type),
      deletes: deletes.filter((one) => one.type === type).map(({ name }) => name),
    };
  }
}
