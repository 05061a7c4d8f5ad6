import {
  areSameBytes,
  type HeldResource,
  isGlobName,
  statusCode,
  typeInName,
  type WatchEvent,
} from "@xdskit/protocol/internal";
import { entryIn, entryName } from "../resource/entry-name.ts";
import { type Member, type Members, memberKey } from "../resource/members.ts";
import type { Watching } from "./follow.ts";

type ListListener = (news: WatchEvent) => void;
type NewsOf<K extends WatchEvent["kind"]> = Extract<WatchEvent, { kind: K }>;

/** A list collection, and how its members are found. */
export interface ListSetting {
  /** Watches the collection itself. */
  readonly watch: Watching;
  /** Reads the members of a collection received under a name. */
  readonly membersOf: (collection: HeldResource, name: string) => Members;
  /** Watches the first available of the names; undefined: none is. */
  readonly watchAt: (names: readonly string[]) => Watching | undefined;
  /** Why none of the names is available. */
  readonly problemAt: (names: readonly string[]) => string;
  /** The single wanted entry; undefined: all. */
  readonly entry: string | undefined;
}

/** Watches the members of a list collection, inline or located (B-XTP-07), and reports them as for a glob. */
export function watchList(setting: ListSetting, listener: ListListener): () => void {
  const list = new List(setting, listener);
  const stop = setting.watch((news) => list.hear(news));
  return () => {
    stop();
    list.stop();
  };
}

/** A member of the collection. */
interface ListedMember {
  /** Its resources by name; a glob may have many. */
  readonly there: Map<string, HeldResource>;
  readonly isInline: boolean;
  stop: () => void;
}

class List {
  readonly #setting: ListSetting;
  readonly #listener: ListListener;
  readonly #listed = new Map<string, ListedMember>();
  /** The members that provide a name. */
  readonly #holders = new Map<string, Set<ListedMember>>();
  readonly #unanswered = new Set<ListedMember>();
  /** Whether the absence of the wanted entry was reported. */
  #isEntryMissing = false;
  #isSynced = false;

  constructor(setting: ListSetting, listener: ListListener) {
    this.#setting = setting;
    this.#listener = listener;
  }

  hear(news: WatchEvent): void {
    switch (news.kind) {
      case "changed":
        this.#take(news.name, news.resource);
        break;
      case "absent":
        this.#absent(news);
        break;
      case "failed":
        // If nothing is held any more, nothing of the collection is in force.
        if (news.name !== undefined && news.held === undefined) this.#keepOnly(new Set(), "removed");
        this.#listener({ ...news, held: undefined });
        break;
      case "confirmed":
        this.#confirm();
        break;
      case "recovered":
        this.#listener(news);
        break;
      case "synced":
        break;
      default:
        news satisfies never;
    }
  }

  stop(): void {
    for (const { stop } of this.#listed.values()) stop();
    this.#listed.clear();
    this.#holders.clear();
    this.#unanswered.clear();
  }

  #take(name: string, collection: HeldResource): void {
    const { members, problems } = this.#setting.membersOf(collection, name);
    const wanted = new Map(members.filter((one) => this.#isWanted(one, name)).map((one) => [memberKey(one), one]));
    this.#keepOnly(new Set(wanted.keys()), "removed");
    for (const problem of problems) this.#fail(name, problem);
    for (const [key, member] of wanted) {
      if (member.kind === "inline") this.#takeInline(key, member.resource);
      else this.#follow(key, name, member.names);
    }
    if (this.#setting.entry !== undefined && wanted.size === 0) this.#tellAbsent(name, "does-not-exist");
    this.#answered();
  }

  /** Only an inline member can be the wanted entry. */
  #isWanted(member: Member, collection: string): boolean {
    const { entry } = this.#setting;
    return entry === undefined || (member.kind === "inline" && member.name === entryName(collection, entry));
  }

  #takeInline(key: string, resource: HeldResource): void {
    const listed = this.#listed.get(key) ?? { there: new Map(), isInline: true, stop: () => {} };
    this.#listed.set(key, listed);
    const before = listed.there.get(key);
    if (before !== undefined && areSameBytes(before.bytes, resource.bytes)) return;
    this.#hold(listed, key, resource);
    this.#isEntryMissing = false;
    this.#listener({ kind: "changed", name: key, resource });
  }

  #follow(key: string, collection: string, names: readonly string[]): void {
    if (this.#listed.has(key)) return;
    const listed: ListedMember = { there: new Map(), isInline: false, stop: () => {} };
    this.#listed.set(key, listed);
    const watch = this.#setting.watchAt(names);
    if (watch === undefined) {
      this.#fail(collection, this.#setting.problemAt(names));
      return;
    }
    this.#unanswered.add(listed);
    const isMany = names.some(isCollectionName);
    listed.stop = watch((news) => this.#hearOf(listed, news, isMany));
  }

  #hearOf(listed: ListedMember, news: WatchEvent, isMany: boolean): void {
    if (news.kind === "changed") this.#hold(listed, news.name, news.resource);
    else if ("held" in news && news.name !== undefined && news.held === undefined) this.#drop(listed, news.name);
    if (news.kind !== "synced" && !this.#isOfOthers(listed, news)) this.#listener(news);
    if ((isMany ? isAnswerOfAll(news) : isAnswer(news)) && this.#unanswered.delete(listed)) this.#answered();
  }

  #absent({ name, why, held }: NewsOf<"absent">): void {
    if (held === undefined) this.#keepOnly(new Set(), why);
    else
      for (const { there } of this.#listed.values())
        for (const [member, resource] of there) this.#listener({ kind: "absent", name: member, why, held: resource });
    this.#tellAbsent(name, why);
    this.#answered();
  }

  /** Reports that the collection, or its wanted entry, does not exist. */
  #tellAbsent(collection: string, why: NewsOf<"absent">["why"]): void {
    const { entry } = this.#setting;
    if (entry !== undefined && this.#isEntryMissing) return;
    this.#isEntryMissing = true;
    const name = entry === undefined ? collection : entryName(collection, entry);
    this.#listener({ kind: "absent", name, why, held: undefined });
  }

  #confirm(): void {
    for (const { there, isInline } of this.#listed.values())
      if (isInline) for (const [name, resource] of there) this.#listener({ kind: "confirmed", name, resource });
  }

  #keepOnly(keys: ReadonlySet<string>, why: NewsOf<"absent">["why"]): void {
    const gone = [...this.#listed].filter(([key]) => !keys.has(key));
    const names = new Set<string>();
    for (const [key, listed] of gone) {
      listed.stop();
      this.#listed.delete(key);
      this.#unanswered.delete(listed);
      for (const name of [...listed.there.keys()]) {
        names.add(name);
        this.#drop(listed, name);
      }
    }
    if (names.size > 0) this.#isEntryMissing = true;
    for (const name of names)
      if (!this.#holders.has(name)) this.#listener({ kind: "absent", name, why, held: undefined });
  }

  #hold(listed: ListedMember, name: string, resource: HeldResource): void {
    listed.there.set(name, resource);
    const holders = this.#holders.get(name) ?? new Set();
    this.#holders.set(name, holders.add(listed));
  }

  #drop(listed: ListedMember, name: string): void {
    listed.there.delete(name);
    const holders = this.#holders.get(name);
    holders?.delete(listed);
    if (holders?.size === 0) this.#holders.delete(name);
  }

  /** Whether another member provides the same name: it is reported once, and gone when both are. */
  #isOfOthers(listed: ListedMember, news: WatchEvent): boolean {
    if (news.kind !== "changed" && news.kind !== "absent") return false;
    return [...(this.#holders.get(news.name) ?? [])].some((other) => {
      const known = other === listed ? undefined : other.there.get(news.name);
      if (known === undefined) return false;
      return news.kind === "absent" || areSameBytes(known.bytes, news.resource.bytes);
    });
  }

  #fail(name: string, message: string): void {
    const error = { code: statusCode.NOT_FOUND, message };
    this.#listener({ kind: "failed", name, why: "resource-error", error, held: undefined });
  }

  /** Reports `synced` once the collection and its located members are known. */
  #answered(): void {
    if (this.#isSynced || this.#unanswered.size > 0) return;
    this.#isSynced = true;
    this.#listener({ kind: "synced" });
  }
}

function isAnswer(news: WatchEvent): boolean {
  if (news.kind === "failed") return news.name !== undefined && news.why !== "unreachable";
  return news.kind === "changed" || news.kind === "absent";
}

/** Whether a collection is known completely: it was synced or rejected. */
function isAnswerOfAll(news: WatchEvent): boolean {
  if (news.kind !== "failed") return news.kind === "synced";
  const isRefused = news.why === "rejected" || news.why === "timeout";
  return isRefused && news.name !== undefined && isCollectionName(news.name);
}

/** Whether a name is that of a glob or list collection, not of one entry. */
export function isCollectionName(name: string): boolean {
  if (isGlobName(name)) return true;
  return typeInName(name)?.endsWith("Collection") === true && entryIn(name) === undefined;
}
