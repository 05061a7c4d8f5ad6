import { describe, expect, test } from "vitest";
import { formatTypeUrl, messageNameOf, parseTypeUrl } from "./type-url.ts";

describe("a type URL", () => {
  test("is printed with its prefix", () => {
    expect(formatTypeUrl("envoy.config.cluster.v3.Cluster")).toBe(
      "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    );
  });

  test.each([
    ["type.googleapis.com/acme.Thing", "type.googleapis.com/acme.Thing"],
    ["acme.Thing", "type.googleapis.com/acme.Thing"],
    ["/acme.Thing", "type.googleapis.com/acme.Thing"],
    ["types.acme.example/v3/acme.Thing", "type.googleapis.com/acme.Thing"],
  ])("%s is read as %s", (text, url) => {
    expect(parseTypeUrl(text)).toBe(url);
  });

  test("is none if it is empty", () => {
    expect(parseTypeUrl("")).toBeUndefined();
  });

  test("holds the name of its message", () => {
    expect(messageNameOf(formatTypeUrl("acme.Thing"))).toBe("acme.Thing");
  });
});
