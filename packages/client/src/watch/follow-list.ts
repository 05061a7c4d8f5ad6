import { type HeldResource, isGlobName, type News, statusCode } from "@xdskit/protocol";
import { entryName, type Member, type Members } from "../resource/members.ts";

type Listener = (news: News) => void;
type Watching = (listener: Listener) => () => void;
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
  isAnswered: boolean;
}

class List {
  readonly #setting: ListSetting;
  readonly #listener: Listener;
  readonly #listed = new Map<string, Listed>();
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
      case "synced":
        break;
      default:
        news satisfies never;
    }
  }

  stop(): void {
    for (const { stop } of this.#listed.values()) stop();
    this.#listed.clear();
  }

  #take(name: string, collection: HeldResource): void {
    const { members, problems } = this.#setting.membersOf(collection, name);
    const only = this.#setting.entry === undefined ? undefined : entryName(name, this.#setting.entry);
    const wanted = new Map(members.map((member) => [keyOf(member), member]));
    if (only !== undefined) for (const key of wanted.keys()) if (key !== only) wanted.delete(key);
    const hadSome = this.#listed.size > 0;
    this.#keepOnly(new Set(wanted.keys()), "removed");
    for (const problem of problems) this.#fail(name, problem);
    for (const [key, member] of wanted) {
      if (member.kind === "inline") this.#takeInline(key, member.resource);
      else this.#follow(key, name, member.names);
    }
    if (only !== undefined && wanted.size === 0 && !hadSome)
      this.#listener({ kind: "absent", name: only, why: "does-not-exist", held: undefined });
    this.#answered();
  }

  #takeInline(key: string, resource: HeldResource): void {
    const listed = this.#listed.get(key) ?? { there: new Map(), isInline: true, stop: () => {}, isAnswered: true };
    this.#listed.set(key, listed);
    const before = listed.there.get(key);
    if (before !== undefined && isEqual(before, resource)) return;
    listed.there.set(key, resource);
    this.#listener({ kind: "changed", name: key, resource });
  }

  #follow(key: string, collection: string, names: readonly string[]): void {
    if (this.#listed.has(key)) return;
    const listed: Listed = { there: new Map(), isInline: false, stop: () => {}, isAnswered: false };
    this.#listed.set(key, listed);
    const watch = this.#setting.watchAt(names);
    if (watch === undefined) {
      listed.isAnswered = true;
      this.#fail(collection, "expected a locator of a source and a type that are known");
      return;
    }
    const isMany = names.some(isGlobName);
    listed.stop = watch((news) => this.#hearOf(listed, news, isMany));
  }

  #hearOf(listed: Listed, news: News, isMany: boolean): void {
    if (news.kind === "changed") listed.there.set(news.name, news.resource);
    else if ("held" in news && news.name !== undefined && news.held === undefined) listed.there.delete(news.name);
    if (news.kind !== "synced" && !(news.kind === "absent" && this.#isListed(news.name))) this.#listener(news);
    if (listed.isAnswered || !(isMany ? news.kind === "synced" : isAnswer(news))) return;
    listed.isAnswered = true;
    this.#answered();
  }

  #absent({ name, why, held }: NewsOf<"absent">): void {
    if (held === undefined) this.#keepOnly(new Set(), why);
    else
      for (const { there } of this.#listed.values())
        for (const [member, resource] of there) this.#listener({ kind: "absent", name: member, why, held: resource });
    this.#listener({ kind: "absent", name, why, held: undefined });
    this.#answered();
  }

  #confirm(): void {
    for (const { there, isInline } of this.#listed.values())
      if (isInline) for (const [name, resource] of there) this.#listener({ kind: "confirmed", name, resource });
  }

  #keepOnly(keys: ReadonlySet<string>, why: NewsOf<"absent">["why"]): void {
    const gone = [...this.#listed].filter(([key]) => !keys.has(key));
    for (const [key, { stop }] of gone) {
      stop();
      this.#listed.delete(key);
    }
    const names = new Set(gone.flatMap(([, { there }]) => [...there.keys()]));
    for (const name of names) if (!this.#isListed(name)) this.#listener({ kind: "absent", name, why, held: undefined });
  }

  #isListed(name: string): boolean {
    return [...this.#listed.values()].some(({ there }) => there.has(name));
  }

  #fail(name: string, message: string): void {
    const error = { code: statusCode.NOT_FOUND, message };
    this.#listener({ kind: "failed", name, why: "resource-error", error, held: undefined });
  }

  /** All is known once the collection is, and what it lists elsewhere. */
  #answered(): void {
    if (this.#isSynced || ![...this.#listed.values()].every(({ isAnswered }) => isAnswered)) return;
    this.#isSynced = true;
    this.#listener({ kind: "synced" });
  }
}

function keyOf(member: Member): string {
  return member.kind === "inline" ? member.name : member.names.join("\n");
}

function isAnswer(news: News): boolean {
  if (news.kind === "failed") return news.name !== undefined && news.why !== "unreachable";
  return news.kind === "changed" || news.kind === "absent";
}

function isEqual({ bytes: a }: HeldResource, { bytes: b }: HeldResource): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
