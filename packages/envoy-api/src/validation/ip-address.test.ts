import { isIP, isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isIp, isIpv4, isIpv6 } from "./ip-address.ts";

const verdict = (text: string): readonly boolean[] => [isIp(text), isIpv4(text), isIpv6(text)];
const verdictOfNode = (text: string): readonly boolean[] => [isIP(text) !== 0, isIPv4(text), isIPv6(text)];

test.each([
  ["127.0.0.1", 4],
  ["255.255.255.255", 4],
  ["256.0.0.1", 0],
  ["01.0.0.1", 0],
  ["1.2.3", 0],
  ["1.2.3.4.5", 0],
  ["", 0],
  ["::", 6],
  ["::1", 6],
  ["1::", 6],
  ["2001:db8::ff00:42:8329", 6],
  ["1:2:3:4:5:6:7:8", 6],
  ["1:2:3:4:5:6:7", 0],
  ["1:2:3:4:5:6:7::", 6],
  ["::2:3:4:5:6:7:8", 6],
  ["1::2:3:4:5:6:7:8", 0],
  ["1::2::3", 0],
  [":::", 0],
  [":1", 0],
  ["1:", 0],
  ["12345::", 0],
  ["::ffff:1.2.3.4", 6],
  ["1:2:3:4:5:6:1.2.3.4", 6],
  ["1.2.3.4::", 0],
  ["::1.2.3.4:1", 0],
  ["fe80::1%eth0", 6],
  ["fe80::1%", 0],
  ["fe80::1%a%b", 0],
  ["[::1]", 0],
])("%j is an address of IPv%i", (text, version) => {
  expect(verdict(text)).toEqual([version !== 0, version === 4, version === 6]);
  expect(verdictOfNode(text)).toEqual(verdict(text));
});

test("what looks like an address is one where Node says so", () => {
  const piece = fc.constantFrom(
    "0",
    "1",
    "01",
    "10",
    "255",
    "256",
    "a",
    "ff",
    "FFFF",
    "fffff",
    "g",
    ":",
    "::",
    ".",
    "%",
    "1.2.3.4",
    "",
    "-",
  );
  const separated = (separator: string): fc.Arbitrary<string> =>
    fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(separator));
  const text = fc.oneof(separated(""), separated(":"), separated("."), fc.ipV4(), fc.ipV6());
  fc.assert(
    fc.property(text, (one) => {
      expect(verdict(one)).toEqual(verdictOfNode(one));
    }),
    { numRuns: 3_000 },
  );
});
