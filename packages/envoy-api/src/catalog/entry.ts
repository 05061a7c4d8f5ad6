import type { Message } from "@bufbuild/protobuf";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { TermRules, TypeKind, TypeTraits } from "@xdskit/protocol/internal";
import type { FieldProblem, FieldProblemCode } from "../problem.ts";
import type { AskedReference } from "./config-source.ts";
import type { DiscoveryService } from "./discovery-service.ts";

/**
 * Reports what a real client would reject or ignore. The path is relative to the checked message, in proto names; so are
 * fields in the texts, between backticks: people are shown them without, as the resource spells its fields.
 */
export type ReportFinding = (
  code: FieldProblemCode,
  path: FieldProblem["path"],
  message: string,
  hint?: string,
) => void;

/** What is known about one resource type; one file of this folder each. */
export interface CatalogEntry {
  readonly type: TypeUrl;
  readonly kind: TypeKind;
  /** Such as `cds`; empty if it has no discovery service. */
  readonly shortName: string;
  /** In State of the World, a response holds every resource of the type (S-RES-03). */
  readonly isFullState: boolean;
  /** Types that a client awaits again after a change of a resource that refers to them (S-WRM-08). */
  readonly owes: readonly TypeUrl[];
  readonly v2Twin: TypeUrl | undefined;
  /** Undefined if the type is served over ADS only. */
  readonly discovery: DiscoveryService | undefined;
  /** Encodes a resource of that name that means "there is none", equal in v2; undefined if there is no such form. */
  readonly placeholder: ((name: string) => Uint8Array) | undefined;
  /** Whether a client goes on warming an encoded resource, equal in v2, when it has all that it refers to. */
  readonly warmsOn: ((bytes: Uint8Array) => boolean) | undefined;
  /** The addresses that an encoded resource binds, equal in v2, of which a client has each only once. */
  readonly addressesIn: ((bytes: Uint8Array) => readonly string[]) | undefined;
  /** The local name of the field that holds the name, if a single field does. */
  readonly nameField: string | undefined;
  /**
   * Returns the name in the message, undefined or empty if there is none. Without this function, the name comes from
   * the wrapper.
   */
  readonly nameIn: ((content: Message) => string | undefined) | undefined;
  /** Says how to name a resource that has no name, with fields as in `ReportFinding`. */
  readonly namingHint: string;
  /** Returns the names besides its own under which clients subscribe to it, in addition to those of the wrapper. */
  readonly aliasesIn: ((content: Message, name: string) => readonly string[]) | undefined;
  /** How its resources match terms besides names and aliases. */
  readonly terms: TermRules | undefined;
  /** The type of the resources that collections of `terms` belong to. */
  readonly owner: TypeUrl | undefined;
  /** Finds references beyond the table in `reference-rule.ts`, wherever the message occurs. */
  readonly referencesIn: ((content: Message) => readonly AskedReference[]) | undefined;
  /**
   * Reports what makes it invalid for real clients beyond the rules of its descriptor, as warnings that never reject it.
   */
  readonly check: ((content: Message, report: ReportFinding, name: string) => void) | undefined;
  /** Whether to check the message wherever it occurs, not only as the resource. */
  readonly checksNested: boolean;
}

/** A check of a message wherever it occurs in resources. */
export interface NestedCheck extends Pick<CatalogEntry, "type" | "checksNested"> {
  /** `at`: the path of the message in its resource, in proto names. */
  readonly check:
    | ((content: Message, report: ReportFinding, name: string, at: readonly (string | number)[]) => void)
    | undefined;
}

/** Creates a check of messages that are not resources. */
export function defineNestedCheck<M extends Message>(
  message: M["$typeName"],
  check: (content: M, report: ReportFinding, at: readonly (string | number)[]) => void,
): NestedCheck {
  const type = formatTypeUrl(message);
  return { type, check: (content, report, _, at) => check(content as M, report, at), checksNested: true };
}

/** A `CatalogEntry` typed by its message, with defaults for most fields. */
export interface EntryDefinition<M extends Message> {
  readonly message: M["$typeName"];
  readonly kind: TypeKind;
  readonly shortName?: string;
  readonly isFullState?: boolean;
  readonly owes?: readonly TypeUrl[];
  /** The full name of its v2 message. */
  readonly v2Message?: string;
  readonly discovery?: DiscoveryService;
  readonly placeholder?: (name: string) => Uint8Array;
  readonly warmsOn?: (bytes: Uint8Array) => boolean;
  readonly addressesIn?: (bytes: Uint8Array) => readonly string[];
  readonly nameField?: keyof M & string;
  /** Set if the name is not simply that of a field. */
  readonly nameIn?: (content: M) => string | undefined;
  readonly namingHint?: string;
  readonly aliasesIn?: (content: M, name: string) => readonly string[];
  readonly terms?: TermRules;
  readonly owner?: TypeUrl;
  readonly referencesIn?: (content: M) => readonly AskedReference[];
  readonly check?: (content: M, report: ReportFinding, name: string) => void;
  readonly checksNested?: boolean;
}

/** Creates an entry. The catalog guarantees that its functions only get messages of its type. */
export function defineEntry<M extends Message>(definition: EntryDefinition<M>): CatalogEntry {
  const { nameField, nameIn = nameField && nameInField(nameField), aliasesIn, referencesIn, check } = definition;
  return {
    type: formatTypeUrl(definition.message),
    kind: definition.kind,
    shortName: definition.shortName ?? "",
    isFullState: definition.isFullState ?? false,
    owes: definition.owes ?? [],
    v2Twin: definition.v2Message === undefined ? undefined : formatTypeUrl(definition.v2Message),
    discovery: definition.discovery,
    placeholder: definition.placeholder,
    warmsOn: definition.warmsOn,
    addressesIn: definition.addressesIn,
    nameField,
    nameIn: nameIn && ((content) => nameIn(content as M)),
    namingHint: definition.namingHint ?? 'give it a "name"',
    aliasesIn: aliasesIn && ((content, name) => aliasesIn(content as M, name)),
    terms: definition.terms,
    owner: definition.owner,
    referencesIn: referencesIn && ((content) => referencesIn(content as M)),
    check: check && ((content, report, name) => check(content as M, report, name)),
    checksNested: definition.checksNested ?? false,
  };
}

function nameInField<M extends Message>(field: keyof M): (content: M) => string {
  return (content) => content[field] as string;
}

/** Returns the traits of an entry's type or of its v2 twin. `twin` is the other one of the two. */
export function traitsFrom(
  { kind, isFullState, placeholder, warmsOn, addressesIn, terms }: CatalogEntry,
  {
    type,
    owes,
    owner,
    twin,
  }: Pick<TypeTraits, "type" | "owes"> & { owner: TypeUrl | undefined; twin: TypeUrl | undefined },
): TypeTraits {
  return {
    type,
    kind,
    isFullState,
    owes,
    ...(twin !== undefined && { twin }),
    ...(placeholder !== undefined && { placeholder }),
    ...(warmsOn !== undefined && { warmsOn }),
    ...(addressesIn !== undefined && { addressesIn }),
    ...(terms !== undefined && { terms }),
    ...(owner !== undefined && { owner }),
  };
}
