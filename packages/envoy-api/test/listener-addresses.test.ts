import { describe, expect, it } from "vitest";
import { api, encode, typed, url, V3 } from "./support/api.ts";

const { addressesIn } = api.traits(url(V3.listener)) ?? {};

function addressesOf(fields: object): readonly string[] | undefined {
  return addressesIn?.(encode(typed(V3.listener, { name: "l", ...fields })));
}

function socket(address: string, port: number, more: object = {}): object {
  return { socket_address: { address, port_value: port, ...more } };
}

describe("the addresses of a Listener", () => {
  it.each<[string, object, readonly string[]]>([
    ["a TCP socket", { address: socket("127.0.0.1", 80) }, ["0 127.0.0.1:80"]],
    ["a UDP socket is another one", { address: socket("127.0.0.1", 80, { protocol: "UDP" }) }, ["1 127.0.0.1:80"]],
    ["any host is another one, as for Envoy", { address: socket("0.0.0.0", 80) }, ["0 0.0.0.0:80"]],
    ["IPv6 with an IPv4 address in it, too", { address: socket("::ffff:127.0.0.1", 80) }, ["0 ::ffff:127.0.0.1:80"]],
    ["a pipe", { address: { pipe: { path: "/tmp/s", mode: 384 } } }, ["pipe /tmp/s"]],
    ["a port that the system chooses is none", { address: socket("127.0.0.1", 0) }, []],
    [
      "additional addresses",
      {
        address: socket("127.0.0.1", 80),
        additional_addresses: [{ address: socket("::1", 80) }, { address: socket("::1", 0) }],
        stat_prefix: "s",
      },
      ["0 127.0.0.1:80", "0 ::1:80"],
    ],
    [
      "an API listener binds none",
      {
        address: socket("127.0.0.1", 80),
        api_listener: { api_listener: typed(V3.http, { stat_prefix: "s", route_config: { name: "r" } }) },
      },
      [],
    ],
    ["an internal listener has none", { internal_listener: {} }, []],
  ])("%s", (_, fields, expected) => {
    expect(addressesOf(fields)).toEqual(expected);
  });

  it("are told apart by network namespace, a field that the built-in descriptors lack", () => {
    const bytes = [0x12, 10, 0x0a, 8, 0x12, 1, 0x68, 0x18, 80, 0x3a, 1, 0x6e];
    expect(addressesIn?.(Uint8Array.from(bytes))).toEqual(["0 h:80 in n"]);
  });

  it("are none of bytes that are no message", () => {
    expect(addressesIn?.(Uint8Array.of(0xff))).toEqual([]);
  });

  it("are read in v2 as in v3, and of no other type", () => {
    expect(api.traits(url("envoy.api.v2.Listener"))?.addressesIn).toBe(addressesIn);
    expect(api.types.filter(({ type }) => api.traits(type)?.addressesIn !== undefined).map(({ type }) => type)).toEqual(
      [url(V3.listener)],
    );
  });
});
