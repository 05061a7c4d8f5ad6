import { describe, expect, test } from "vitest";
import { ENDPOINTS, ROUTE } from "../../../test/support/resources.ts";
import { TypeClient } from "../../../test/support/type-streams.ts";
import { AbandonedNames } from "./abandoned-names.ts";

const NEVER = Number.POSITIVE_INFINITY;

describe.each(["sotw", "delta"] as const)(
  "S-ORD-05: a name that is deleted while it is held back, in %s",
  (variant) => {
    /** A client that has `a1` of revision 1 and was not sent `a2` before `a` was deleted at revision 3. */
    function abandoned(type = ROUTE): { readonly client: TypeClient; readonly all: AbandonedNames } {
      const client = new TypeClient(variant, type, "a");
      client.put("a1");
      client.flush();
      client.ack();
      client.put("a2");
      client.flush(new Map([["a", undefined]]));
      client.delete("a");
      const all = new AbandonedNames();
      all.note(client.type, client.current);
      client.flush();
      return { client, all };
    }

    /** Up to which revision its users count, when the Listeners of a revision are in use and removals are overruled to another. */
    function usedTo({ client, all }: ReturnType<typeof abandoned>, listenersOf = -1, overruledTo = -1): number {
      const hasListenersOf = (revision: number): boolean => listenersOf >= revision;
      return all.usedTo(client.type, { current: client.current, overruledTo, hasListenersOf });
    }

    test("is used as the client has it, until the Listeners of its deletion are in use", () => {
      const world = abandoned();
      expect([usedTo(world), usedTo(world, 2), world.all.isEmpty]).toEqual([1, 1, false]);
      expect([usedTo(world, 3), world.all.isEmpty]).toEqual([NEVER, true]);
    });

    test("is not used any more where the wait for it timed out", () => {
      expect(usedTo(abandoned(), -1, 3)).toBe(NEVER);
    });

    test("is not used any more once the client has the next one of its name", () => {
      const world = abandoned();
      world.client.ack();
      world.client.put("a4");
      expect(usedTo(world)).toBe(1);
      world.client.flush();
      expect(usedTo(world)).toBe(1);
      world.client.ack();
      expect(usedTo(world)).toBe(NEVER);
    });

    test("is not followed where the client closes the stream, nor for types that send no traffic", () => {
      const world = abandoned();
      world.all.leave(world.client.type);
      expect([world.all.isEmpty, abandoned(ENDPOINTS).all.isEmpty]).toEqual([true, true]);
    });
  },
);
