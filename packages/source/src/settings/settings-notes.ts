import { formatPath, nearestName, quote, type ValuePath } from "@xdskit/protocol/internal";
import { describeKind, type Part } from "../document/places.ts";
import type { SourceText } from "../document/source-text.ts";
import { settingsFile } from "../layout.ts";
import { optionalHint, type Problem, type SourceProblemCode } from "../problem.ts";

/** The position of a value in `xdskit.yaml`. */
export interface SettingPlace {
  readonly line: number;
  readonly column: number;
}

/** Collects the problems of `xdskit.yaml` with their positions. */
export class SettingsNotes {
  readonly problems: Problem[] = [];
  readonly #source: SourceText;

  constructor(source: SourceText) {
    this.#source = source;
  }

  placeOf(path: ValuePath): SettingPlace {
    const { line, column } = this.#source.show({ document: 0, path, part: "value" });
    return { line, column };
  }

  note(code: SourceProblemCode, path: ValuePath, part: Part, message: string, hint?: string): void {
    this.#add({ code, severity: "error" }, path, part, message, hint);
  }

  warn(code: SourceProblemCode, path: ValuePath, part: Part, message: string, hint?: string): void {
    this.#add({ code, severity: "warning" }, path, part, message, hint);
  }

  #add(kind: Pick<Problem, "code" | "severity">, path: ValuePath, part: Part, message: string, hint?: string): void {
    const field = formatPath(path);
    this.problems.push({
      ...kind,
      file: settingsFile,
      ...this.#source.show({ document: 0, path, part }),
      ...(field === "" ? {} : { path: field }),
      message,
      ...optionalHint(hint),
    });
  }

  wrongType(path: ValuePath, expected: string, got: unknown): void {
    this.note("SETTING_WRONG_TYPE", path, "value", `expected ${expected}, got ${describeKind(got)}`);
  }

  refuseOthers(mapping: Readonly<Record<string, unknown>>, path: ValuePath, known: readonly string[]): void {
    for (const key of Object.keys(mapping)) {
      if (known.includes(key)) continue;
      const meant = nearestName(key, known);
      const message = `expected one of ${known.join(", ")}, got ${quote(key)}`;
      const hint = meant === undefined ? "remove it" : `did you mean ${quote(meant)}?`;
      this.note("SETTING_UNKNOWN", [...path, key], "key", message, hint);
    }
  }
}
