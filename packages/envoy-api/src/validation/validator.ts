import type { DescField, DescMessage, DescOneof } from "@bufbuild/protobuf";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import { type AnyContent, type Content, DEEPEST_ANY, decodeAny, decodeOrReport } from "../format/content.ts";
import { fieldContent, isKeptPlain, messagesIn } from "../format/present-field.ts";
import { ProblemList } from "../format/problem-list.ts";
import type { FieldProblem } from "../problem.ts";
import {
  compileFieldCheck,
  type FieldCheck,
  isCheckedWhenUnset,
  isPlainValue,
  isRequiredOneof,
  isValidationDisabled,
} from "./field-check.ts";

interface CheckedField {
  readonly field: DescField;
  readonly check: FieldCheck | undefined;
  readonly isSensitive: boolean;
}

interface MessageCheck {
  readonly isSecret: boolean;
  readonly fields: readonly CheckedField[];
  readonly requiredOneofs: readonly DescOneof[];
}

/**
 * Validates messages, and every `Any` in them, against the rules in their field options (PGV). The rules come from the
 * descriptors, compiled once per message type, and are never written down here (B-VAL-04). A violation is a warning,
 * because rules get looser with time and a client may be newer than the descriptors (S-VAL-03).
 */
export class Validator {
  readonly #schema: Schema;
  readonly #checks = new Map<DescMessage, MessageCheck>();

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** Validates a message; paths use proto names. `known`: the decoded content of the bytes, if available. */
  validate(message: DescMessage, bytes: Uint8Array, known?: Content): readonly FieldProblem[] {
    const problems = new ProblemList();
    const content = known ?? decodeOrReport(message, bytes, problems);
    if (content !== undefined) this.#message(message, content, problems, DEEPEST_ANY);
    return problems.problems;
  }

  #message(message: DescMessage, content: Content, problems: ProblemList, anyLevels: number): void {
    if (representationOf(message) === "any") {
      const decoded = anyLevels > 0 ? decodeAny(content as unknown as AnyContent, this.#schema) : undefined;
      if (decoded !== undefined) this.#message(decoded.message, decoded.content, problems, anyLevels - 1);
      return;
    }
    const check = this.#checkOf(message);
    if (check.isSecret) problems.enterSecret();
    for (const oneof of check.requiredOneofs) checkOneof(oneof, content, problems);
    for (const field of check.fields) this.#field(field, content, problems, anyLevels);
    if (check.isSecret) problems.leaveSecret();
  }

  #field(
    { field, check, isSensitive }: CheckedField,
    content: Content,
    problems: ProblemList,
    anyLevels: number,
  ): void {
    const set = fieldContent(content, field);
    if (set === undefined && check === undefined) return;
    const value = set ?? (isCheckedWhenUnset(field) ? content[field.localName] : undefined);
    problems.path.push(field.name);
    if (isSensitive) problems.enterSecret();
    if (check !== undefined) runChecks(field, check, set, value, problems);
    if (set !== undefined && check?.isSkipped !== true) this.#below(field, set, problems, anyLevels);
    if (isSensitive) problems.leaveSecret();
    problems.path.pop();
  }

  #below(field: DescField, value: unknown, problems: ProblemList, anyLevels: number): void {
    if (field.message === undefined || isPlainValue(field)) return;
    for (const nested of messagesIn(field, value)) {
      if (nested.key !== undefined) problems.path.push(nested.key);
      this.#message(field.message, nested.content, problems, anyLevels);
      if (nested.key !== undefined) problems.path.pop();
    }
  }

  #checkOf(message: DescMessage): MessageCheck {
    let check = this.#checks.get(message);
    if (check === undefined) {
      check = this.#compile(message);
      this.#checks.set(message, check);
    }
    return check;
  }

  #compile(message: DescMessage): MessageCheck {
    const { registry } = this.#schema;
    const shape = this.#schema.shapeOf(message);
    if (isValidationDisabled(message, registry)) return { isSecret: shape.isSecret, fields: [], requiredOneofs: [] };
    return {
      isSecret: shape.isSecret,
      fields: shape.fields
        .map((field) => ({ field, check: compileFieldCheck(field, registry), isSensitive: shape.sensitive.has(field) }))
        .filter(({ field, check }) => check !== undefined || (field.message !== undefined && !isPlainValue(field))),
      requiredOneofs: message.oneofs.filter((oneof) => isRequiredOneof(oneof, registry)),
    };
  }
}

function checkOneof(oneof: DescOneof, content: Content, problems: ProblemList): void {
  const member = content[oneof.localName] as { case: string | undefined };
  if (member.case !== undefined) return;
  const names = oneof.fields.map((field) => `\`${field.name}\``).join(", ");
  problems.warning("PGV_REQUIRED", `expected one of ${names}, got none`);
}

function runChecks(field: DescField, check: FieldCheck, set: unknown, value: unknown, problems: ProblemList): void {
  if (check.isRequired && set === undefined && field.oneof === undefined) {
    problems.warning("PGV_REQUIRED", "expected a value, got none");
    return;
  }
  if (value === undefined) return;
  const plain = unwrap(field, value);
  for (const run of check.checks) run(plain, problems);
  for (const [key, element] of Object.entries(
    check.elementChecks.length > 0 || check.keyChecks.length > 0 ? Object(value) : {},
  )) {
    problems.path.push(field.fieldKind === "list" ? Number(key) : key);
    for (const run of check.keyChecks) run(key, problems);
    for (const run of check.elementChecks) run(element, problems);
    problems.path.pop();
  }
}

/** The rules of a wrapper apply to its value. */
function unwrap(field: DescField, value: unknown): unknown {
  if (field.message === undefined || isKeptPlain(field) || representationOf(field.message) !== "wrapper") return value;
  return field.fieldKind === "message" ? (value as Content)["value"] : value;
}
