import { expect, test } from "vitest";
import { Conversation, delta, node, says } from "../../../test/support/conversation.ts";
import { HOST, resource } from "../../../test/support/resources.ts";

/** A client that asked for a domain; `named`: by the name of a virtual host, not by an alias. */
function askedFor(domain: string, ...hosts: readonly ReturnType<typeof resource>[]): Conversation {
  const talk = new Conversation();
  talk.put(...hosts);
  talk.open(1, "delta");
  talk.hear(1, delta(HOST, { node: node("n"), subscribe: [domain] }));
  talk.hear(1, delta(HOST, { nonce: "1" }));
  return talk;
}

test("S-VHD-03: a virtual host that a domain matched by its name is removed for that domain when it is gone", () => {
  const talk = askedFor("r/a.test", resource(HOST, "r/*.test", "1"));
  talk.change({ deletes: [{ type: HOST, name: "r/*.test" }] });
  expect(says(talk.turns())).toEqual([["-r/*.test"]]);
});

test("S-VHD-03: the best of several matches takes the place of the one before, and gives it back", () => {
  const talk = askedFor("r/a.test", resource(HOST, "r/*", "1"));
  talk.put(resource(HOST, "r/*.test", "2"));
  expect(says(talk.turns())).toEqual([["r/*.test@2", "-r/*"]]);
  talk.hear(1, delta(HOST, { nonce: "2" }));
  talk.change({ deletes: [{ type: HOST, name: "r/*.test" }] });
  expect(says(talk.turns())).toEqual([["r/*@1", "-r/*.test"]]);
});
