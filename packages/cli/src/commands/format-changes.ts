import type { ChangeAnswer } from "@xdskit/server";
import type { Colors } from "../output/color.ts";
import { formatTable } from "../output/table.ts";

/** Where a table is printed. */
export interface TablePlace {
  readonly colors: Colors;
  /** In columns; undefined: unlimited. */
  readonly width: number | undefined;
}

/** The changes of a revision as a table, with the versions before and after. */
export function formatChanges(changes: readonly ChangeAnswer[], { colors, width }: TablePlace): string {
  const changeColors: Readonly<Record<ChangeAnswer["change"], (text: string) => string>> = {
    added: colors.green,
    changed: colors.yellow,
    deleted: colors.red,
  };
  return formatTable<ChangeAnswer>(
    changes,
    [
      { title: "CHANGE", text: ({ change }) => change, color: (text, { change }) => changeColors[change](text) },
      { title: "LAYER", text: ({ layer }) => layer },
      { title: "TYPE", text: typeWord },
      { title: "NAME", text: ({ name }) => name },
      { title: "BEFORE", text: ({ before }) => before?.version ?? "" },
      { title: "AFTER", text: ({ after }) => after?.version ?? "" },
    ],
    { colors, width },
  );
}

/** `cds`, or the last word of the message's name. */
export function typeWord({ shortName, type }: Pick<ChangeAnswer, "shortName" | "type">): string {
  return shortName ?? type.slice(type.lastIndexOf(".") + 1);
}
