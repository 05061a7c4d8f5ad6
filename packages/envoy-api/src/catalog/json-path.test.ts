import { expect, test } from "vitest";
import { resolveJsonPath, spellFields } from "./json-path.ts";

const path = ["health_checks", 0, "http_health_check", "request_timeout"];

test.each<[string, unknown, readonly (string | number)[]]>([
  ["keys that are there", { healthChecks: [{ http_health_check: {} }] }, ["healthChecks", 0, "http_health_check"]],
  [
    "fields that are missing, as the keys beside them",
    { healthChecks: [{ noTrafficInterval: "1s" }] },
    ["healthChecks", 0, "httpHealthCheck", "requestTimeout"],
  ],
  [
    "fields that are missing, as the keys above them",
    { healthChecks: [{}] },
    ["healthChecks", 0, "httpHealthCheck", "requestTimeout"],
  ],
  ["fields that are missing, in proto names", { health_checks: [{}] }, path],
  [
    "as the nearest key where both occur",
    { healthChecks: [{ no_traffic_interval: "1s" }] },
    ["healthChecks", 0, "http_health_check", "request_timeout"],
  ],
  ["in proto names where nothing says", { name: "a" }, path],
  ["in proto names without a value", undefined, path],
])("a path of proto names is spelled as the value: %s", (_, value, spelled) => {
  expect(resolveJsonPath(value, path.slice(0, spelled.length))).toEqual(spelled);
});

test.each<[string, unknown, string]>([
  ["in proto names without a value", undefined, 'expected no eds_config.ads beside "a `b_c`"'],
  ["in proto names where the value has those", { health_checks: [{}] }, 'expected no eds_config.ads beside "a `b_c`"'],
  ["in camelCase where the value has that", { healthChecks: [{}] }, 'expected no edsConfig.ads beside "a `b_c`"'],
  [
    "as the keys beside them",
    { healthChecks: [{ http_health_check: {} }] },
    'expected no eds_config.ads beside "a `b_c`"',
  ],
])("the fields of a text are spelled as the value, and quoted values stay: %s", (_, value, spelled) => {
  const text = 'expected no `eds_config.ads` beside "a `b_c`"';
  expect(spellFields(text, value, ["health_checks", 0])).toBe(spelled);
});
