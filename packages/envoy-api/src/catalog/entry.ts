import type { Message } from "@bufbuild/protobuf";
import { formatTypeUrl, type TermRules, type TypeKind, type TypeTraits, type TypeUrl } from "@xdskit/protocol";
import type { FieldProblem, FieldProblemCode } from "../problem.ts";
import type { AskedReference } from "./config-source.ts";

/** Tells what a real client would refuse, or not do. The path is below the message that is checked, in proto names. */
export type ReportFinding = (
  code: FieldProblemCode,
  path: FieldProblem["path"],
  message: string,
  hint?: string,
) => void;

/** What is known about one resource type. A file of this folder each. */
export interface CatalogEntry {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  /** Such as `cds`; empty for what has no API of its own. */
  readonly shortName: string;
  /** In State of the World, a response holds every resource of the type (S-RES-03). */
  readonly isFullState: boolean;
  /** Types that are waited for again after a change of a resource that refers to them (S-WRM-08). */
  readonly owes: readonly TypeUrl[];
  readonly v2Twin: TypeUrl | undefined;
  /** The bytes of a resource of that name that says "there is none", the same in v2; undefined if nothing says so. */
  readonly placeholder: ((name: string) => Uint8Array) | undefined;
  /** The local name of the field that is the name, where it is that of one. */
  readonly nameField: string | undefined;
  /** The name as it stands in the message, undefined or empty if it does not. Without it, names come from the wrapper. */
  readonly nameIn: ((content: Message) => string | undefined) | undefined;
  /** Says how to name a resource that has no name. */
  readonly namingHint: string;
  /** Other names under which it is asked for, by its name; besides those of the wrapper. */
  readonly aliasesIn: ((content: Message, name: string) => readonly string[]) | undefined;
  /** What terms stand for besides names and aliases. */
  readonly terms: TermRules | undefined;
  /** What it refers to besides the fields of the table in `reference-rule.ts`, wherever the message stands. */
  readonly referencesIn: ((content: Message) => readonly AskedReference[]) | undefined;
  /** What makes it invalid for real clients beyond the rules of its descriptor, as warnings: advice, never a refusal (K4). */
  readonly check: ((content: Message, report: ReportFinding, name: string) => void) | undefined;
  /** Whether the check is made wherever the message stands, not only where it is the resource. */
  readonly checksNested: boolean;
}

/** A `CatalogEntry` in terms of the type of its message, with what most of them have left out. */
export interface EntryDefinition<M extends Message> {
  readonly message: M["$typeName"];
  readonly kind: TypeKind;
  readonly shortName?: string;
  readonly isFullState?: boolean;
  readonly owes?: readonly TypeUrl[];
  /** The full name of its message in v2. */
  readonly v2Message?: string;
  readonly placeholder?: (name: string) => Uint8Array;
  readonly nameField?: keyof M & string;
  /** Where the name is not simply that of a field. */
  readonly nameIn?: (content: M) => string | undefined;
  readonly namingHint?: string;
  readonly aliasesIn?: (content: M, name: string) => readonly string[];
  readonly terms?: TermRules;
  readonly referencesIn?: (content: M) => readonly AskedReference[];
  readonly check?: (content: M, report: ReportFinding, name: string) => void;
  readonly checksNested?: boolean;
}

/** Makes an entry. That its functions are given messages of its type only is the promise of the catalog. */
export function defineEntry<M extends Message>(definition: EntryDefinition<M>): CatalogEntry {
  const { nameField, nameIn = nameField && nameInField(nameField), aliasesIn, referencesIn, check } = definition;
  return {
    type: formatTypeUrl(definition.message),
    kind: definition.kind,
    shortName: definition.shortName ?? "",
    isFullState: definition.isFullState ?? false,
    owes: definition.owes ?? [],
    v2Twin: definition.v2Message === undefined ? undefined : formatTypeUrl(definition.v2Message),
    placeholder: definition.placeholder,
    nameField,
    nameIn: nameIn && ((content) => nameIn(content as M)),
    namingHint: definition.namingHint ?? 'give it a "name"',
    aliasesIn: aliasesIn && ((content, name) => aliasesIn(content as M, name)),
    terms: definition.terms,
    referencesIn: referencesIn && ((content) => referencesIn(content as M)),
    check: check && ((content, report, name) => check(content as M, report, name)),
    checksNested: definition.checksNested ?? false,
  };
}

function nameInField<M extends Message>(field: keyof M): (content: M) => string {
  return (content) => content[field] as string;
}

/** What the protocol has to know of a type: the entry's own, or that of its v2 twin. `twin` is the other one of the two. */
export function traitsFrom(
  entry: CatalogEntry,
  type: TypeUrl,
  owes: readonly TypeUrl[],
  twin: TypeUrl | undefined,
): TypeTraits {
  const { kind, isFullState, placeholder, terms } = entry;
  return {
    type,
    kind,
    isFullState,
    owes,
    ...(twin !== undefined && { twin }),
    ...(placeholder !== undefined && { placeholder }),
    ...(terms !== undefined && { terms }),
  };
}
