import { formatTypeUrl } from "@xdskit/protocol";
import { type HeldResource, statusCode, type WatchEvent } from "@xdskit/protocol/internal";
import { describe, expect, test, vi } from "vitest";
import { createResourceViews } from "../resource/xds-resource.ts";
import type { Change } from "./change.ts";
import { KeepAlive } from "./keep-alive.ts";
import { OpenWatch, type WatchOptions } from "./watch.ts";

const views = createResourceViews({
  toJson: (type) => ({ "@type": type }),
  readEncodedResource: () => ({ input: undefined, problems: [] }),
});

function held(name: string, version: string): HeldResource {
  const type = formatTypeUrl("acme.Widget");
  return { type, name, aliases: [], version, bytes: new Uint8Array(), ttlMs: undefined };
}

function changed(name: string, version: string): WatchEvent {
  return { kind: "changed", name, resource: held(name, version) };
}

function absent(name: string, why: "removed" | "does-not-exist" | "expired" = "removed"): WatchEvent {
  return { kind: "absent", name, why, held: undefined };
}

function failed(name: string | undefined, message: string): WatchEvent {
  const error = { code: statusCode.UNAVAILABLE, message };
  return { kind: "failed", name, why: "unreachable", error, held: undefined };
}

function open(
  options: WatchOptions<never> = {},
  of: "one" | "many" = "one",
): { readonly watch: OpenWatch; readonly closed: () => number } {
  let times = 0;
  const closed = (): void => void times++;
  return { watch: new OpenWatch({ views, vigil: new KeepAlive(), closed }, options, of), closed: () => times };
}

/** A change in a few words. */
function words(change: Change | undefined): string {
  switch (change?.kind) {
    case "added":
    case "changed":
      return `${change.kind} ${change.key} ${change.resource.version}`;
    case "does-not-exist":
      return `${change.kind} ${change.key} ${change.reason}`;
    case "error":
      return `${change.kind} ${change.key} ${change.error.code} ${change.error.message}`;
    default:
      return change?.kind ?? "end";
  }
}

async function read(watch: OpenWatch, count: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (let i = 0; i < count; i++) found.push(words((await watch.next()).value));
  return found;
}

describe("a watch that is iterated", () => {
  test("tells a reader that waits of each change", async () => {
    const { watch } = open();
    const told = read(watch, 4);
    for (const news of [changed("a", "1"), { kind: "synced" } as const, changed("a", "2"), absent("a")]) {
      watch.receive(news);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await told).toEqual(["added a 1", "synced", "changed a 2", "does-not-exist a removed"]);
  });

  test("keeps only the newest of each name for a slow reader, and the order of what is left", async () => {
    const { watch } = open();
    for (let version = 1; version <= 1000; version++) {
      watch.receive(changed("a", String(version)));
      watch.receive(changed("b", String(version)));
      if (version === 1) watch.receive({ kind: "synced" });
    }
    watch.receive(failed(undefined, "gone"));
    watch.receive(failed("a", "first"));
    watch.receive(failed("a", "last"));
    expect(await read(watch, 5)).toEqual([
      "added a 1000",
      "added b 1000",
      "synced",
      "error undefined UNREACHABLE gone",
      "error a UNREACHABLE a: last",
    ]);
    expect(words((await Promise.race([watch.next(), Promise.resolve(undefined)]))?.value)).toBe("end");
    watch.close();
  });

  test("C-CLI-08 what is gone is told in its place, not in that of what was there before", async () => {
    const { watch } = open();
    for (const news of [changed("a", "1"), changed("b", "1")]) watch.receive(news);
    expect(await read(watch, 2)).toEqual(["added a 1", "added b 1"]);
    for (const news of [changed("b", "2"), absent("a"), changed("c", "1"), absent("b")]) watch.receive(news);
    expect(await read(watch, 3)).toEqual(["does-not-exist a removed", "added c 1", "does-not-exist b removed"]);
    for (const news of [absent("c", "expired"), changed("c", "2")]) watch.receive(news);
    expect(await read(watch, 1)).toEqual(["changed c 2"]);
  });

  test("of many, nothing is kept of what came and went unread, so that a program may only look at what is there", async () => {
    const { watch } = open({}, "many");
    for (const news of [changed("a", "1"), changed("b", "1"), { kind: "synced" } as const]) watch.receive(news);
    expect(await read(watch, 1)).toEqual(["added a 1"]);
    for (let i = 0; i < 1000; i++) {
      watch.receive(changed(`c${i}`, "1"));
      watch.receive(failed(`c${i}`, "no"));
      watch.receive(absent(`c${i}`));
    }
    for (const news of [absent("b"), absent("a"), changed("a", "2"), absent("a"), changed("d", "1")])
      watch.receive(news);
    expect([...watch.current.keys()]).toEqual(["d"]);
    expect(await read(watch, 3)).toEqual(["synced", "does-not-exist a removed", "added d 1"]);
    for (const news of [changed("e", "1"), absent("e"), absent("f", "does-not-exist")]) watch.receive(news);
    expect(await read(watch, 1)).toEqual(["does-not-exist f does-not-exist"]);
  });

  test("of one, what came and went unread is told to be gone", async () => {
    const { watch } = open();
    for (const news of [changed("a", "1"), absent("a")]) watch.receive(news);
    expect(await read(watch, 1)).toEqual(["does-not-exist a removed"]);
  });

  test("an error that something better followed is not told any more", async () => {
    const { watch } = open();
    for (const news of [failed("a", "no"), changed("a", "1")]) watch.receive(news);
    expect(await read(watch, 1)).toEqual(["added a 1"]);
  });

  test("leaving the loop ends it", async () => {
    const { watch, closed } = open();
    watch.receive(changed("a", "1"));
    for await (const change of watch) {
      expect(words(change)).toBe("added a 1");
      break;
    }
    watch.receive(changed("a", "2"));
    expect([await watch.next(), closed()]).toEqual([{ done: true, value: undefined }, 1]);
  });

  test("aborting ends it for a reader that waits", async () => {
    const stopping = new AbortController();
    const { watch, closed } = open({ signal: stopping.signal });
    const waiting = [watch.next(), watch.next()];
    stopping.abort();
    expect(await Promise.all(waiting)).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    await watch[Symbol.asyncDispose]();
    expect(closed()).toBe(1);
  });

  test("many may share a signal, and those that were closed are not called any more", async () => {
    const warnings: string[] = [];
    const warned = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", warned);
    const stopping = new AbortController();
    const watches = Array.from({ length: 20 }, () => open({ signal: stopping.signal }));
    watches[0]?.watch.close();
    stopping.abort();
    expect(watches.map(({ closed }) => closed())).toEqual(watches.map(() => 1));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", warned);
    expect(warnings).toEqual([]);
  });

  test("`synced` is told once, whoever says it", async () => {
    const { watch } = open();
    watch.receive({ kind: "synced" });
    expect(await read(watch, 1)).toEqual(["synced"]);
    for (const news of [{ kind: "synced" }, changed("a", "1")] as const) watch.receive(news);
    expect(await read(watch, 1)).toEqual(["added a 1"]);
  });

  test("what was gone is added again, and nothing is told after the end", async () => {
    const { watch } = open();
    for (const news of [changed("a", "1"), absent("a"), changed("a", "2")]) {
      watch.receive(news);
      await read(watch, 1).then((told) => expect(told[0]).toMatch(/^(added|does-not-exist) a/));
    }
    watch.receive(changed("a", "3"));
    watch.close();
    expect(await watch.next()).toEqual({ done: true, value: undefined });
  });

  test("keeps a process alive while somebody waits, and not longer", async () => {
    let alive = 0;
    const vigil = new KeepAlive();
    vi.spyOn(vigil, "begin").mockImplementation(() => void alive++);
    vi.spyOn(vigil, "end").mockImplementation(() => void alive--);
    const watch = new OpenWatch({ views, vigil, closed: () => {} }, {}, "one");
    const waiting = [watch.next(), watch.next()];
    const seen = [alive];
    for (const version of ["1", "2"]) {
      watch.receive(changed("a", version));
      seen.push(alive);
    }
    await Promise.all(waiting);
    const last = watch.next();
    seen.push(alive);
    watch.close();
    await last;
    const called = new OpenWatch({ views, vigil, closed: () => {} }, { onChange: () => {} }, "one");
    seen.push(alive);
    called.close();
    expect([...seen, alive]).toEqual([1, 1, 0, 1, 1, 0]);
  });

  test("`current` is what is in force, read or not", () => {
    const { watch } = open();
    for (const news of [changed("a", "1"), changed("b", "1"), absent("b"), { kind: "synced" } as const])
      watch.receive(news);
    watch.receive({ ...failed("a", "no"), held: held("a", "1") } as WatchEvent);
    watch.receive(failed(undefined, "no"));
    expect([[...watch.current.keys()], watch.isSynced]).toEqual([["a"], true]);
    watch.receive(failed("a", "dropped"));
    expect(watch.current.size).toBe(0);
    watch.close();
  });
});

describe("a watch with a callback", () => {
  test("calls it once at a time, with the newest", async () => {
    const told: string[] = [];
    let goOn = (): void => {};
    const { watch } = open({
      onChange: (change) => {
        told.push(words(change));
        return new Promise((resolve) => {
          goOn = resolve;
        });
      },
    });
    const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    watch.receive(changed("a", "1"));
    expect(told).toEqual([]);
    await tick();
    watch.receive(changed("a", "2"));
    watch.receive(changed("a", "3"));
    await tick();
    expect(told).toEqual(["added a 1"]);
    goOn();
    await tick();
    goOn();
    await tick();
    watch.receive(absent("a"));
    await tick();
    expect(told).toEqual(["added a 1", "changed a 3", "does-not-exist a removed"]);
    watch.close();
    watch.receive(changed("a", "4"));
    goOn();
    await tick();
    expect(told).toHaveLength(3);
  });
});

test("a method that a server does not have is told as a type that is not served", async () => {
  const { watch } = open();
  const error = { code: statusCode.UNIMPLEMENTED, message: "" };
  watch.receive({ kind: "failed", name: undefined, why: "unreachable", error, held: undefined });
  expect(await read(watch, 1)).toEqual(["error undefined TYPE_UNSUPPORTED status 12"]);
});
