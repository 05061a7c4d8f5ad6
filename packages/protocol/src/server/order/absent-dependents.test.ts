import { beforeEach, describe, expect, test } from "vitest";
import { EXTENSION, LISTENER, ROUTE, resource } from "../../../test/support/resources.ts";
import { streamWith, typeStream } from "../../../test/support/type-streams.ts";
import { AbsentDependents } from "./absent-dependents.ts";
import { type OrderedStream, OrderMembers } from "./order-members.ts";

let separate: OrderedStream;

beforeEach(() => {
  separate = streamWith(false);
});

/** The stream of routes closed, that of listeners did not. */
function withoutRoutes(...names: readonly string[]): {
  readonly members: OrderMembers;
  readonly absent: AbsentDependents;
} {
  const members = new OrderMembers();
  const absent = new AbsentDependents(members, () => true);
  absent.leave(typeStream(ROUTE, names));
  return { members, absent };
}

describe("S-ORD-06: routes whose stream closed while that of the clusters goes on", () => {
  test("are expected back until every name is subscribed to again", () => {
    const { members, absent } = withoutRoutes("a", "b");
    members.join(typeStream(ROUTE, ["a"]), separate);
    members.join(typeStream(EXTENSION, ["b"]), separate);
    expect(absent.areExpected).toBe(true);
    members.join(typeStream(ROUTE, ["b"]), separate);
    expect(absent.areExpected).toBe(false);
  });

  test("are expected back as a wildcard if they were one", () => {
    const { members, absent } = withoutRoutes();
    expect(absent.areExpected).toBe(true);
    members.join(typeStream(ROUTE, ["a"]), separate);
    expect(absent.areExpected).toBe(true);
    members.join(typeStream(ROUTE), separate);
    expect(absent.areExpected).toBe(false);
  });

  test("are given up when no listener of the client names them any more", () => {
    const names = (...routes: readonly string[]): ReturnType<typeof streamWith> =>
      streamWith(false, resource(LISTENER, "l", "1", { references: routes.map((name) => ({ type: ROUTE, name })) }));
    const expected = (...routes: readonly string[]): boolean => {
      const { members, absent } = withoutRoutes("a", "b");
      members.join(typeStream(LISTENER), names(...routes));
      return absent.areExpected;
    };
    expect([expected("a"), expected("x"), expected()]).toEqual([true, false, false]);
    const other = streamWith(false, resource(LISTENER, "l", "1", { references: [{ type: LISTENER, name: "a" }] }));
    const { members, absent } = withoutRoutes("a");
    members.join(typeStream(LISTENER), other);
    expect(absent.areExpected).toBe(false);
  });

  test("are expected as long as the client uses older listeners", () => {
    const members = new OrderMembers();
    let usesNewest = false;
    const absent = new AbsentDependents(members, () => usesNewest);
    absent.leave(typeStream(ROUTE, ["a"]));
    members.join(typeStream(LISTENER), separate);
    const before = absent.areExpected;
    usesNewest = true;
    expect([before, absent.areExpected]).toEqual([true, false]);
  });

  test("are expected of every stream that closed, and of none once their time is over", () => {
    const { members, absent } = withoutRoutes("a");
    absent.leave(typeStream(ROUTE, ["b"]));
    members.join(typeStream(ROUTE, ["a"]), separate);
    expect(absent.areExpected).toBe(true);
    absent.clear();
    expect(absent.areExpected).toBe(false);
  });

  test("are remembered by 10,000 names at most", () => {
    const many = Array.from({ length: 10_001 }, (_, i) => `r${i}`);
    const { members, absent } = withoutRoutes(...many);
    members.join(typeStream(ROUTE, many.slice(0, 9_999)), separate);
    expect(absent.areExpected).toBe(true);
    members.join(typeStream(ROUTE, many.slice(9_999, 10_000)), separate);
    expect(absent.areExpected).toBe(false);
  });
});
