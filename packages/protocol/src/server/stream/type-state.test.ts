import { expect, test } from "vitest";
import { delta, node, talkWith } from "../../../test/support/conversation.ts";
import { initialVersionsOf } from "../../../test/support/model-client.ts";
import { CLUSTER, plain } from "../../../test/support/resources.ts";

test("at most a hundred names that nothing answers to are described", () => {
  const talk = talkWith("delta", [plain("a")]);
  talk.hear(1, delta(CLUSTER, { subscribe: Array.from({ length: 120 }, (_, i) => `x${i}`) }));
  const type = [...talk.machine.streams()][0]?.types[0];
  expect([type?.names, type?.doesNotExist.length]).toEqual([120, 100]);
});

test("S-DLT-10 what a client came back with counts as ACKed: it is sent no response", () => {
  const resources = [plain("a"), plain("b")];
  const initialVersions = initialVersionsOf(resources.map(({ name, version }) => [name, version]));
  const talk = talkWith("delta", resources);
  const says = talk.hear(1, delta(CLUSTER, { subscribe: ["a", "b"], initialVersions }));
  talk.open(2, "delta");
  talk.hear(2, delta(CLUSTER, { node: node("all"), subscribe: ["*"] }));
  const [type, wildcard] = [...talk.machine.streams()].map(({ types }) => types[0]);
  const version = wildcard?.sentVersion;
  expect([says, type?.acked, type?.sentVersion]).toEqual([
    [],
    { nonce: "", version, revision: 1, resources: 2, removed: 0 },
    version,
  ]);
});
