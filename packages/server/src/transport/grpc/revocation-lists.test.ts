import { X509Certificate } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { Authority } from "../../../test/support/authority.ts";
import { RevocationLists, splitLists } from "./revocation-lists.ts";

const authority = new Authority("authority");
const namesake = new Authority("another");
afterAll(() => {
  authority[Symbol.dispose]();
  namesake[Symbol.dispose]();
});

test("a certificate is revoked by its issuer and serial number, in any list of the file", () => {
  const [kept, revoked, other] = [authority.issue("DNS:a"), authority.issue("DNS:b"), namesake.issue("DNS:c")];
  const before = authority.list();
  authority.revoke(revoked);
  namesake.revoke(other);
  const judge = (file: string): readonly boolean[] => {
    const lists = new RevocationLists(splitLists(file));
    return [kept, revoked, other].map(({ cert }) => lists.isRevoked(new X509Certificate(cert)));
  };
  expect(judge(before)).toEqual([false, false, false]);
  expect(judge(authority.list())).toEqual([false, true, false]);
  expect(judge(`# lists of two CAs\n${authority.list()}${namesake.list()}`)).toEqual([false, true, true]);
});

test.each([
  ["", /has no X509 CRL/],
  ["-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n", /expected a sequence/],
  ["-----BEGIN X509 CRL-----\nMAMwBQA=\n-----END X509 CRL-----\n", /longer than what it is in/],
  [
    "-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n-----BEGIN X509 CRL-----\nMA",
    /a list in the file .* has no end/,
  ],
  ["-----BEGIN X509 CRL-----\nMIT/\n-----END X509 CRL-----\n", /DER: a malformed length/],
])("a malformed file is an error: %j", (file, error) => {
  expect(() => new RevocationLists(splitLists(file))).toThrow(error);
});
