import { anonymousNode, type Peer } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { guardNodeMapping, isTrusted } from "./trust.ts";

const remote: Peer = { address: "192.0.2.7:4000", isLoopback: false, isTls: false, names: [] };
const peers = {
  remote,
  encrypted: { ...remote, isTls: true },
  local: { ...remote, isLoopback: true },
};

test.each([
  ["remote", false, false],
  ["remote", true, true],
  ["encrypted", false, true],
  ["local", false, true],
] as const)("a %s peer, insecure %s: trusted %s", (peer, insecure, trusted) => {
  expect(isTrusted(peers[peer], insecure)).toBe(trusted);
});

const own = () => ["node/edge-7", "group/edge", "base"];
const shared = () => ["group/edge", "base"];

test.each([
  [
    "remote",
    own,
    { refused: 'layer "node/edge-7" is only served over TLS or on loopback, unless the server runs insecure' },
  ],
  ["remote", shared, shared()],
  ["encrypted", own, own()],
  ["local", own, own()],
] as const)("a %s peer is placed, or refused where a layer is its node's own", (peer, nodeMapping, placed) => {
  expect(guardNodeMapping(nodeMapping, false)(anonymousNode, peers[peer])).toEqual(placed);
});

test("insecure leaves the node mapping as it is", () => {
  expect(guardNodeMapping(own, true)(anonymousNode, remote)).toEqual(own());
});
