import type { AccessRule, AccessRules, EntryPoint } from "@xdskit/protocol";

/** Who asks, as the rules see it. */
export interface PlainCaller {
  readonly address: string;
  readonly role?: "viewer" | "operator" | undefined;
  /** Undefined without a verified certificate. */
  readonly names?: { readonly uris: readonly string[]; readonly dnsNames: readonly string[] };
}

/** What is asked for. */
export interface PlainQuestion {
  readonly caller: PlainCaller;
  readonly entry: EntryPoint;
  /** Undefined where callers speak for no node. */
  readonly node: string | undefined;
  /** @default "" */
  readonly cluster?: string;
  /** Texts of the node's metadata. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** A resource that there is. */
export interface PlainResource {
  readonly layer: string;
  /** `Secret`, or another last part of a type's name. */
  readonly type: string;
  readonly name: string;
}

/**
 * The access rules read plainly: by regular expressions, one resource at a time, written from the guide and apart from
 * the code that it judges. Every caller is on the loopback interface.
 */
export class PlainAccess {
  readonly #rules: AccessRules;

  constructor(rules: AccessRules) {
    this.#rules = rules;
  }

  /** Whether a caller is let in at all. */
  admits(question: PlainQuestion): boolean {
    const usual = this.#usual(question);
    if (usual !== undefined) return usual;
    const met = this.#met(question);
    if (met.some(({ rule }) => rule.deny === true && isWhole(rule))) return false;
    if (met.some(({ rule }) => rule.deny !== true)) return true;
    const { entry, caller } = question;
    if (isAdmin(entry)) return hasRole(entry, caller);
    const isNamed = this.#rules.rules.some(
      ({ deny, entryPoints: at }) => deny !== true && at?.includes(entry) === true,
    );
    return openEntries.includes(entry) && !isNamed;
  }

  /** Whether a caller that is let in is given a resource. */
  gives(question: PlainQuestion, resource: PlainResource): boolean {
    if (!this.admits(question)) return false;
    if (this.#usual(question) === true) return true;
    const hits = this.#met(question).filter(
      (met) => isAbout(met, resource) && fits(met.rule.names, resource.name, met),
    );
    return hits.some(({ rule }) => rule.deny !== true) && !hits.some(({ rule }) => rule.deny === true);
  }

  /** Whether a caller has nothing of a type in some layers, whatever there is. */
  closes(question: PlainQuestion, type: string, layers: readonly string[]): boolean {
    if (this.#usual(question) === true) return false;
    const met = this.#met(question);
    return layers.every((layer) => {
      const about = met.filter((one) => isAbout(one, { layer, type }));
      return (
        !about.some(({ rule }) => rule.deny !== true) ||
        about.some(({ rule }) => rule.deny === true && rule.names === undefined)
      );
    });
  }

  /** What holds before any rule is read. */
  #usual({ entry, caller }: PlainQuestion): boolean | undefined {
    if (this.#rules.loopback === "rules") return undefined;
    if (!isAdmin(entry)) return true;
    return caller.role === undefined ? undefined : hasRole(entry, caller);
  }

  #met({ entry, node, caller, cluster = "", metadata = {} }: PlainQuestion): readonly Met[] {
    const texts = new Map(Object.entries(metadata));
    return this.#rules.rules.flatMap((rule) => {
      const isUsual = rule.deny === true || ownNodeEntries.includes(entry);
      if (!(rule.entryPoints?.includes(entry) ?? isUsual)) return [];
      const isAboutNodes = [rule.nodes, rule.clusters, rule.metadata].some((field) => field !== undefined);
      if (node === undefined && isAboutNodes && rule.deny === true) return [];
      const fitsMetadata = (met: Meeting): boolean =>
        Object.entries(rule.metadata ?? {}).every(([field, pattern]) => {
          const text = texts.get(field);
          return text !== undefined && fits([pattern], text, met);
        });
      return rule.identities
        .flatMap((identity) => meetings(identity, caller))
        .map((met) => ({ ...met, rule }))
        .filter(
          (met) =>
            node === undefined ||
            (fits(rule.nodes, node, met) && fits(rule.clusters, cluster, met) && fitsMetadata(met)),
        );
    });
  }
}

interface Meeting {
  /** What {who} stands for. */
  readonly who?: string | undefined;
  /** By a certificate, or as one on this machine. */
  readonly isSure: boolean;
}
interface Met extends Meeting {
  readonly rule: AccessRule;
}

const ownNodeEntries: readonly EntryPoint[] = ["ads", "stream", "fetch", "rest", "lrs", "hds"];
const openEntries: readonly EntryPoint[] = ["health", "reflection", "metrics"];
const isAdmin = (entry: EntryPoint): boolean => entry === "admin" || entry === "admin-change";
const hasRole = (entry: EntryPoint, { role }: PlainCaller): boolean =>
  role === "operator" || (role === "viewer" && entry === "admin");
const isWhole = ({ layers, types, names }: AccessRule): boolean =>
  layers === undefined && types === undefined && names === undefined;

function meetings(identity: string, { address, names }: PlainCaller): readonly Meeting[] {
  if (identity === "loopback") return [{ isSure: true }];
  if (identity === "anyone" || identity === `address:${address}`) return [{ isSure: false }];
  if (identity === "certificate") return names === undefined ? [] : [{ isSure: true }];
  const isDns = identity.startsWith("dns:");
  // What "*" and "{who}" stand for ends at a slash or a dot.
  const one = isDns ? "[^.*]+" : "[^/]+";
  const source = identity
    .replace("dns:", "")
    .replaceAll(".", "[.]")
    .replace("*", one)
    .replace("{who}", `(?<who>${one})`);
  const expression = new RegExp(`^${source}$`);
  return ((isDns ? names?.dnsNames : names?.uris) ?? []).flatMap((name) => {
    const match = expression.exec(name);
    return match === null ? [] : [{ who: match.groups?.["who"], isSure: true }];
  });
}

function fits(patterns: readonly string[] | undefined, text: string, { who }: Meeting): boolean {
  const isFit = (pattern: string): boolean =>
    new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("{who}", who ?? "")}$`).test(text);
  return patterns?.some(isFit) ?? true;
}

/** Whether a rule is about some of a type in a layer. Without an identity, Secrets and `node/` need to be named. */
function isAbout({ rule, isSure, who }: Met, { layer, type }: Omit<PlainResource, "name">): boolean {
  const takesAll = isSure || rule.deny === true;
  const hasLayer =
    rule.layers === undefined ? takesAll || !layer.startsWith("node/") : fits(rule.layers, layer, { who, isSure });
  const hasType =
    rule.types === undefined ? takesAll || type !== "Secret" : rule.types.some((one) => one === "*" || one === type);
  return hasLayer && hasType;
}
