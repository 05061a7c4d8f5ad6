import { expect, test } from "vitest";
import { formatEndpoint, parseTarget } from "../src/transport/rest/target.ts";

test.each([
  ["dns:///xds.example.com:18000", ["xds.example.com:18000"]],
  ["dns://8.8.8.8/xds.example.com", ["xds.example.com:443"]],
  ["dns:xds.example.com:80", ["xds.example.com:80"]],
  ["xds.example.com:80", ["xds.example.com:80"]],
  ["xds.example.com", ["xds.example.com:443"]],
  ["ipv4:10.0.0.1:80,10.0.0.2", ["10.0.0.1:80", "10.0.0.2:443"]],
  ["ipv6:[::1]:80", ["[::1]:80"]],
  ["::1", ["[::1]:443"]],
  ["unix:/run/xds.sock", ["unix:/run/xds.sock"]],
  ["unix:///run/xds.sock", ["unix:/run/xds.sock"]],
  ["unix:xds.sock", ["unix:xds.sock"]],
  ["unix-abstract:xds", ["unix:@xds"]],
  ["", undefined],
  ["unix:", undefined],
  ["host:0", undefined],
  ["host:70000", undefined],
  ["xds://what", undefined],
  ["a b:c:1", undefined],
])("the target %s", (target, places) => {
  expect(parseTarget(target, 443)?.map(formatEndpoint)).toEqual(places);
});
