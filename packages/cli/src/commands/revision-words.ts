import type { RevisionAnswer } from "@xdskit/server";
import type { Colors } from "../output/color.ts";

/** `+1 ~2 -3`: added, changed, deleted; and `node mapping or access` if one of these changed. */
export function countChanges({ added, changed, deleted, placement }: RevisionAnswer): string {
  const counts = [
    ...(added === 0 ? [] : [`+${added}`]),
    ...(changed === 0 ? [] : [`~${changed}`]),
    ...(deleted === 0 ? [] : [`-${deleted}`]),
  ].join(" ");
  return [counts, ...(placement ? ["node mapping or access"] : [])].filter((part) => part !== "").join(", ");
}

/** `git 1f2e3d4c5b6a`, and whether the work tree had changes. */
export function describeGit({ commit, isDirty }: NonNullable<RevisionAnswer["git"]>): string {
  return `git ${commit.slice(0, 12)}${isDirty ? " with local changes" : ""}`;
}

export function kindColor(kind: string, colors: Colors): (text: string) => string {
  if (kind === "held") return colors.yellow;
  return kind === "rolled-back" || kind === "rejected" ? colors.red : (text) => text;
}

/** `revision`, or `rolled-back to 12`. */
export function describeKind({ kind, of, to }: RevisionAnswer): string {
  if (of !== undefined) return `${kind} ${of}`;
  return to === undefined ? kind : `${kind} to ${to}`;
}

/** The message, the commit, and why it is held. */
export function describeWhy({ message, git, fuses = [] }: RevisionAnswer): string {
  return [message, git && describeGit(git), ...fuses.map((fuse) => fuse.message)].filter(Boolean).join("; ");
}
