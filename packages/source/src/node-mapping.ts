import type { NodeMapping } from "@xdskit/protocol";
import { nodeMatches } from "@xdskit/protocol/internal";
import { baseLayer } from "./layout.ts";
import type { GroupRule } from "./settings/group-rule.ts";

/**
 * Creates the node mapping. A view is the node's own layer, its groups' layers in the order of the rules, and `base`,
 * top-most first. It contains only existing layers, so that nodes with equal layers share a view.
 */
export function createNodeMapping(rules: readonly GroupRule[], layers: ReadonlySet<string>): NodeMapping {
  const existing = rules.filter(({ name }) => layers.has(`group/${name}`));
  return (node) => {
    const own = `node/${node.id}`;
    const groups = existing.filter((rule) => nodeMatches(rule.match, node)).map(({ name }) => `group/${name}`);
    return [...(node.id !== "" && layers.has(own) ? [own] : []), ...new Set(groups), baseLayer];
  };
}
