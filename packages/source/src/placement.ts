import { nodeMatches, type Placement } from "@xdskit/protocol";
import { baseLayer } from "./layout.ts";
import type { GroupRule } from "./settings/group-rule.ts";

/**
 * What each node sees, top-most first: the layer of its own, those of the groups it is in, in the order of the rules,
 * and `base`. Only layers that exist are in a view, so that nodes that see the same share it.
 */
export function createPlacement(rules: readonly GroupRule[], layers: ReadonlySet<string>): Placement {
  const existing = rules.filter(({ name }) => layers.has(`group/${name}`));
  return (node) => {
    const own = `node/${node.id}`;
    const groups = existing.filter((rule) => nodeMatches(rule.match, node)).map(({ name }) => `group/${name}`);
    return [...(node.id !== "" && layers.has(own) ? [own] : []), ...new Set(groups), baseLayer];
  };
}
