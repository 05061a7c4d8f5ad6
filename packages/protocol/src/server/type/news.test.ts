import { describe, expect, test } from "vitest";
import { shown } from "../../../test/support/layers.ts";
import { CLUSTER, ENDPOINTS, HOST } from "../../../test/support/resources.ts";
import { TypeClient } from "../../../test/support/type-streams.ts";
import type { Variant } from "../../message/variant.ts";
import type { TypeUrl } from "../../resource/type-url.ts";

/** A client of a type of which a and b exist. */
function clientOf(variant: Variant, url: TypeUrl, ...names: readonly string[]): TypeClient {
  const client = new TypeClient(variant, url, ...names);
  client.put("a1", "b1");
  return client;
}

/** What is new to the client in what is sent now, which it ACKs. */
function newsOf(client: TypeClient): unknown {
  const [answer] = client.flush();
  if (answer === undefined) return "nothing";
  client.ack();
  return [...new Set(answer.news.flat().map(shown))].sort();
}

describe.each(["delta", "sotw"] as const)("S-WRM-08: in %s what an answer brings makes others resent", (variant) => {
  test.each([
    ["a full-state type", CLUSTER],
    ["another type", ENDPOINTS],
  ])("of %s: everything at first, then what changed or was asked for", (_, url) => {
    const client = clientOf(variant, url, "a", "b");
    expect(newsOf(client)).toEqual(["a@1", "b@1"]);
    expect(newsOf(client)).toBe("nothing");
    client.put("a2");
    expect(newsOf(client)).toEqual(["a@2"]);
    client.put("c3");
    client.subscribe("a", "b", "c");
    const asked = variant === "delta" ? ["a@2", "b@1", "c@3"] : ["c@3"];
    expect(newsOf(client)).toEqual(asked);
  });

  test("of a wildcard: everything at first, then what changed", () => {
    const client = clientOf(variant, CLUSTER, "*");
    expect(newsOf(client)).toEqual(["a@1", "b@1"]);
    client.put("b2", "c2");
    expect(newsOf(client)).toEqual(["b@2", "c@2"]);
  });
});

describe.each(["delta", "sotw"] as const)("S-ORD-06: in %s resources of a type are held back one by one", (variant) => {
  const can = ({ type }: TypeClient): unknown => [type.canHoldBack, type.canTellTargets];

  test("once the client was sent some, and older states are sent in their place from the beginning", () => {
    const client = clientOf(variant, CLUSTER, "*");
    expect(can(client)).toEqual([false, true]);
    newsOf(client);
    expect(can(client)).toEqual([true, true]);
  });

  test("and virtual hosts, which exist in delta alone", () => {
    const client = clientOf(variant, HOST, "a");
    newsOf(client);
    expect(can(client)).toEqual(variant === "delta" ? [true, true] : [false, false]);
  });
});
