import { createResource, type Resource } from "@xdskit/protocol";
import type { Body, Segment } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ResponseSplitter } from "../../src/server/cache/split.ts";
import { Conversation, delta } from "../support/conversation.ts";
import { digest, ENDPOINTS } from "../support/resources.ts";
import { tries } from "../support/script.ts";

const sizes = fc.array(fc.nat(2_000), { maxLength: 30 });
const limit = fc.oneof(fc.nat(300), fc.nat(6_000));

function sized(name: string, bytes: number, mark = 0): Resource {
  return createResource({ type: ENDPOINTS, name, bytes: new Uint8Array(bytes).fill(mark) }, digest);
}

/** Everything that bodies say, in their order. */
function saidIn(bodies: readonly Body[]): readonly string[] {
  const say = (pick: (segment: Segment) => readonly string[]): readonly string[] =>
    bodies.flatMap((body) => body.segments.flatMap(pick));
  return [
    ...say(({ puts }) => puts.map((put) => put.name)),
    ...say(({ missing }) => missing.map((name) => `?${name}`)),
    ...say(({ removed }) => removed.map((name) => `-${name}`)),
  ];
}

const segments = fc.array(fc.record({ puts: sizes, missing: fc.nat(5), removed: fc.nat(5) }), { maxLength: 4 });

test("parts say what the body says, each name once, and none is above the limit but what is alone", () => {
  fc.assert(
    fc.property(segments, limit, (shapes, maxBytes) => {
      const names = (prefix: string, count: number): readonly string[] =>
        Array.from({ length: count }, (_, i) => `${prefix}${i}`);
      const body: Body = {
        variant: "delta",
        type: ENDPOINTS,
        version: "v",
        segments: shapes.map(({ puts, missing, removed }, at) => ({
          puts: puts.map((bytes, i) => sized(`p${at}.${i}`, bytes)),
          missing: names(`m${at}.`, missing),
          removed: names(`r${at}.`, removed),
        })),
      };
      const parts = new ResponseSplitter().of(body, maxBytes);
      expect(saidIn(parts)).toEqual(saidIn([body]));
      const overfull = parts.filter((part) => {
        const bytes = part.segments.flatMap(({ puts }) => puts.map((put) => put.bytes.length));
        return bytes.reduce((sum, one) => sum + one, 0) > maxBytes && saidIn([part]).length > 1;
      });
      expect(overfull).toEqual([]);
      expect(parts.filter((part) => saidIn([part]).length === 0 && part !== body)).toEqual([]);
    }),
    tries,
  );
});

test("a client that refuses some parts has everything else, is not sent those again, and has all once all changed", () => {
  fc.assert(
    fc.property(sizes, limit, fc.infiniteStream(fc.boolean()), (bytes, maxResponseBytes, refuses) => {
      const talk = new Conversation({ dialect: { maxResponseBytes } });
      const held = new Map<string, number>();
      const heard: string[] = [];
      const listen = (mark: number, mayRefuse: boolean): readonly string[] => {
        const refused: string[] = [];
        for (const effect of talk.machine.next(10)) {
          if (effect.kind !== "send") continue;
          const names = saidIn([effect.body]);
          heard.push(...names);
          const error = mayRefuse && refuses.next().value === true ? { code: 13, message: "no" } : undefined;
          if (error !== undefined) refused.push(...names);
          else for (const name of names) held.set(name, mark);
          talk.receive(1, delta(ENDPOINTS, { nonce: effect.nonce, error }));
        }
        return refused;
      };
      const publish = (mark: number): void => talk.put(...bytes.map((size, i) => sized(`e${i}`, size + 1, mark)));
      const names = bytes.map((_, i) => `e${i}`);
      publish(1);
      talk.open(1, "delta");
      talk.receive(1, delta(ENDPOINTS, {}));
      const refused = listen(1, true);
      expect(heard.splice(0)).toEqual(names);
      expect([...held.keys()]).toEqual(names.filter((name) => !refused.includes(name)));
      listen(1, false);
      expect(heard).toEqual([]);
      publish(2);
      listen(2, false);
      expect(heard).toEqual(names);
      expect(held).toEqual(new Map(names.map((name) => [name, 2])));
    }),
    tries,
  );
});
