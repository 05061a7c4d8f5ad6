import { formatTypeUrl } from "@xdskit/protocol";
import type { Wait } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { overdueReason } from "./overdue-reason.ts";

const routes = formatTypeUrl("envoy.config.route.v3.RouteConfiguration");

test.each<[Wait, string]>([
  [{ for: "cluster", name: "api" }, "the client did not ACK cluster api"],
  [{ for: "endpoints", name: "api" }, "cluster api has no endpoints"],
  [{ for: "secret", name: "api" }, "a secret of cluster api is missing"],
  [{ for: "release", name: "api" }, "the client is still subscribed to cluster api, which was removed"],
  [{ for: "users", type: routes, isNacked: false }, "the client did not ACK envoy.config.route.v3.RouteConfiguration"],
  [{ for: "users", type: routes, isNacked: true }, "the client NACKed envoy.config.route.v3.RouteConfiguration"],
  [{ for: "return" }, "the client has not subscribed to all that it used"],
])("%j was given up because %s", (wait, reason) => {
  expect(overdueReason(wait)).toBe(reason);
});
