import { expect, test } from "vitest";
import { readSettingsFile } from "./settings-file.ts";

const read = (text: string): ReturnType<typeof readSettingsFile> => readSettingsFile(Buffer.from(text));

test("switches of the server are texts, as flags give them", () => {
  const { settings, problems } = read(`
switches:
  wildcardSticky: true
  deltaMissing: { rds: none, otherwise: empty-resource }
  wildcardTypes: { otherwise: false, srds: delta, cds: true }
  resumeGrace: 90s
  makeBeforeBreak: { vhds: false }
  staleNonce: honour-names
`);
  expect(problems).toEqual([]);
  expect(settings.switches).toEqual([
    "wildcardSticky=true",
    "deltaMissing=empty-resource",
    "deltaMissing.rds=none",
    "wildcardTypes=false",
    "wildcardTypes.srds=delta",
    "wildcardTypes.cds=true",
    "resumeGrace=90s",
    "makeBeforeBreak.vhds=false",
    "staleNonce=honour-names",
  ]);
});

test("listeners have an address, an edition, switches, and files of their own or none", () => {
  const { listeners, problems } = read(`
listeners:
  - address: 127.0.0.1:18002
    edition: 2018
  - { address: ":18003", tls: off, switches: { orderLimit: 5s, makeBeforeBreak: false } }
  - address: 18004
    tls: { cert: a.pem, key: b.pem, ca: c.pem, require-client-certificate: false }
`);
  expect(problems).toEqual([]);
  expect(listeners).toEqual([
    { address: "127.0.0.1:18002", edition: "2018", tls: undefined, line: 3, column: 14 },
    {
      address: ":18003",
      tls: "off",
      dialect: { orderLimitMs: 5_000, makeBeforeBreak: { otherwise: false } },
      line: 5,
      column: 16,
    },
    {
      address: "127.0.0.1:18004",
      tls: { cert: "a.pem", key: "b.pem", ca: "c.pem", requireClientCertificate: false },
      line: 6,
      column: 14,
    },
  ]);
});

test("rules for clients say whom they are for, and what is chosen for them", () => {
  const { clients, problems } = read(`
clients:
  - match: { user_agent_name: [envoy, "gRPC *"], id: old-*, locality: { zone: z } }
    edition: 2020
  - match: { metadata: { stage: test } }
    switches: { deltaMissing: { cds: none }, requireNode: true }
`);
  expect(problems).toEqual([]);
  expect(clients).toEqual([
    { match: { id: ["old-*"], userAgentName: ["envoy", "gRPC *"], locality: { zone: ["z"] } }, edition: "2020" },
    {
      match: { metadata: { stage: ["test"] } },
      dialect: { deltaMissing: { cds: "none" }, requireNode: true },
    },
  ]);
});

test("nothing is said by keys without a value", () => {
  const { clients, listeners, settings, problems } = read("clients:\nlisteners:\nswitches:\n");
  expect({ clients, listeners, settings, problems }).toEqual({
    clients: [],
    listeners: [],
    settings: { switches: [] },
    problems: [],
  });
});
