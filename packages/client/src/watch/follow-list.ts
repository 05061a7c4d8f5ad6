import { areSameBytes, type HeldResource, isGlobName, type News, statusCode, typeInName } from "@xdskit/protocol";
import { entryIn, entryName } from "../resource/entry-name.ts";
import { type Member, type Members, memberKey } from "../resource/members.ts";
import type { Watching } from "./follow.ts";

type Listener = (news: News) => void;
type NewsOf<K extends News["kind"]> = Extract<News, { kind: K }>;

/** A list collection, and how what it lists is found. */
export interface ListSetting {
  /** Watches the collection itself. */
  readonly watch: Watching;
  /** Of the collection as it came, under its name. */
  readonly membersOf: (collection: HeldResource, name: string) => Members;
  /** Watches what is elsewhere, under the first of the names that can be had; undefined: under none. */
  readonly watchAt: (names: readonly string[]) => Watching | undefined;
  /** The only entry that is wanted; undefined: all. */
  readonly entry: string | undefined;
}

/** Watches what a list collection lists, be it in the collection or elsewhere (B-XTP-07), as if it had been asked for with a glob. */
export function watchList(setting: ListSetting, listener: Listener): () => void {
  const list = new List(setting, listener);
  const stop = setting.watch((news) => list.hear(news));
  return () => {
    stop();
    list.stop();
  };
}

/** Something that is listed. */
interface Listed {
  /** What there is of it, by name; of a glob it may be many. */
  readonly there: Map<string, HeldResource>;
  readonly isInline: boolean;
  stop: () => void;
}

class List {
  readonly #setting: ListSetting;
  readonly #listener: Listener;
  readonly #listed = new Map<string, Listed>();
  /** Those that have something of a name. */
  readonly #holders = new Map<string, Set<Listed>>();
  readonly #unanswered = new Set<Listed>();
  /** It was told that there is no such entry as the one that is wanted. */
  #isEntryMissing = false;
  #isSynced = false;

  constructor(setting: ListSetting, listener: Listener) {
    this.#setting = setting;
    this.#listener = listener;
  }

  hear(news: News): void {
    switch (news.kind) {
      case "changed":
        this.#take(news.name, news.resource);
        break;
      case "absent":
        this.#absent(news);
        break;
      case "failed":
        // Where nothing is held of it any more, nothing of it is in force.
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

  /** Only what stands in the collection is an entry with a name. */
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
    const listed: Listed = { there: new Map(), isInline: false, stop: () => {} };
    this.#listed.set(key, listed);
    const watch = this.#setting.watchAt(names);
    if (watch === undefined) {
      this.#fail(
        collection,
        `expected a locator of a source and a type that are known, and to no list that leads here, got ${names[0] ?? "none"}`,
      );
      return;
    }
    this.#unanswered.add(listed);
    const isMany = names.some(isCollectionName);
    listed.stop = watch((news) => this.#hearOf(listed, news, isMany));
  }

  #hearOf(listed: Listed, news: News, isMany: boolean): void {
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

  /** Of the collection, or of the only entry that is wanted of it. */
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

  #hold(listed: Listed, name: string, resource: HeldResource): void {
    listed.there.set(name, resource);
    const holders = this.#holders.get(name) ?? new Set();
    this.#holders.set(name, holders.add(listed));
  }

  #drop(listed: Listed, name: string): void {
    listed.there.delete(name);
    const holders = this.#holders.get(name);
    holders?.delete(listed);
    if (holders?.size === 0) this.#holders.delete(name);
  }

  /** What is listed twice is told once, and is gone when it is gone from both. */
  #isOfOthers(listed: Listed, news: News): boolean {
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

  /** All is known once the collection is, and what it lists elsewhere. */
  #answered(): void {
    if (this.#isSynced || this.#unanswered.size > 0) return;
    this.#isSynced = true;
    this.#listener({ kind: "synced" });
  }
}

function isAnswer(news: News): boolean {
  if (news.kind === "failed") return news.name !== undefined && news.why !== "unreachable";
  return news.kind === "changed" || news.kind === "absent";
}

/** Of a collection everything is known when it says so, or was refused. */
function isAnswerOfAll(news: News): boolean {
  if (news.kind !== "failed") return news.kind === "synced";
  const isRefused = news.why === "rejected" || news.why === "timeout";
  return isRefused && news.name !== undefined && isCollectionName(news.name);
}

/** Whether a name is that of a glob or list collection, and not of one entry of it. */
function isCollectionName(name: string): boolean {
  if (isGlobName(name)) return true;
  return typeInName(name)?.endsWith("Collection") === true && entryIn(name) === undefined;
}
