import { expect, test } from "vitest";
import { anonymousNode } from "../node/node.ts";
import { createClientChoice } from "./client-rules.ts";

const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

test("the first rule that fits counts", () => {
  const choose = createClientChoice([
    { match: { userAgentName: ["envoy"], id: ["old-*"] }, edition: "2018" },
    { match: { id: ["old-*"] }, name: "the old ones", dialect: { nackByVersion: true } },
    { match: {}, edition: "2021" },
  ]);
  const choices = [
    { id: "old-1", userAgentName: "envoy" },
    { id: "old-1", userAgentName: "gRPC Go" },
    { id: "new-1", userAgentName: "envoy" },
  ].map((node) => choose({ ...anonymousNode, ...node }, peer, undefined));
  expect(choices).toEqual([
    { name: "clients[0]", edition: "2018", dialect: undefined },
    { name: "the old ones", edition: undefined, dialect: { nackByVersion: true } },
    { name: "clients[2]", edition: "2021", dialect: undefined },
  ]);
  expect(createClientChoice([])(anonymousNode, peer, undefined)).toBe(undefined);
});
