import type { ClusterJson } from "@xdskit/envoy-api/types/envoy/config/cluster/v3/cluster";
import type { ListenerJson } from "@xdskit/envoy-api/types/envoy/config/listener/v3/listener";
import { describe, expect, expectTypeOf, it } from "vitest";
import { api, url, V3 } from "./support/api.ts";

describe("the types for authors", () => {
  it("describe the values that readResource takes", () => {
    const cluster = {
      name: "web",
      type: "EDS",
      edsClusterConfig: { edsConfig: { ads: {}, resourceApiVersion: "V3" } },
      connectTimeout: "0.25s",
    } satisfies ClusterJson;
    const { input, problems } = api.readResource({ "@type": url(V3.cluster), ...cluster });
    expect([input?.name, problems]).toEqual(["web", []]);
  });

  it("know names and kinds of fields", () => {
    expectTypeOf<ListenerJson["name"]>().toEqualTypeOf<string | undefined>();
    // @ts-expect-error: no such value
    const wrongValue: ClusterJson = { type: "EDSS" };
    // @ts-expect-error: no such field
    const wrongField: ClusterJson = { nam: "x" };
    expect(
      [wrongValue, wrongField].map((fields) => api.readResource({ "@type": url(V3.cluster), ...fields }).input),
    ).toEqual([undefined, undefined]);
  });
});
