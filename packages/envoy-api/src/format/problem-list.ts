import { kindOf } from "@xdskit/protocol/internal";
import type { FieldProblem, FieldProblemCode } from "../problem.ts";

const LONGEST_QUOTE = 60;

/** Collects problems while a value is read, with the current path. */
export class ProblemList {
  readonly problems: FieldProblem[] = [];
  readonly path: (string | number)[] = [];
  #secretDepth = 0;
  #errors = 0;

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  error(code: FieldProblemCode, message: string, hint?: string): void {
    this.#errors++;
    this.#add("error", code, message, hint);
  }

  warning(code: FieldProblemCode, message: string, hint?: string): void {
    this.#add("warning", code, message, hint);
  }

  /** Until `leaveSecret`, values are not quoted. */
  enterSecret(): void {
    this.#secretDepth++;
  }

  leaveSecret(): void {
    this.#secretDepth--;
  }

  /** Describes a value for a message: quoted and truncated, or only its kind if it may be a secret. */
  describe(value: unknown): string {
    if (this.#secretDepth === 0) return describeValue(value);
    return value === null || value === undefined || typeof value === "boolean" ? describeValue(value) : kindOf(value);
  }

  #add(severity: "error" | "warning", code: FieldProblemCode, message: string, hint: string | undefined): void {
    const problem = { code, severity, path: [...this.path], message };
    this.problems.push(hint === undefined ? problem : { ...problem, hint });
  }
}

function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length > LONGEST_QUOTE ? `${value.slice(0, LONGEST_QUOTE)}…` : value);
    case "number":
    case "bigint":
      return `the number ${value}`;
    case "boolean":
      return String(value);
    default:
      return kindOf(value);
  }
}
