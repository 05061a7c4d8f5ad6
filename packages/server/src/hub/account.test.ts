import { expect, test } from "vitest";
import { accountOf } from "./account.ts";

const certificate = { uris: ["spiffe://a"], dnsNames: ["a.example"], commonName: "a", validTo: new Date(0) };

test.each([
  ["the URI of a certificate", certificate, { key: "identity uri:spiffe://a", by: "identity" }],
  ["its DNS name", { ...certificate, uris: [] }, { key: "identity dns:a.example", by: "identity" }],
  [
    "its common name, whatever that looks like",
    { ...certificate, uris: [], dnsNames: [], commonName: "spiffe://a" },
    { key: "identity cn:spiffe://a", by: "identity" },
  ],
  ["the host without one", undefined, { key: "address 192.0.2.1", by: "address" }],
] as const)("use counts for %s", (_, shown, account) => {
  expect(accountOf({ address: "192.0.2.1:5000", ...(shown !== undefined && { certificate: shown }) })).toEqual(account);
});
