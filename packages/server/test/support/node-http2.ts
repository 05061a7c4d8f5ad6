import { vi } from "vitest";

/** Servers of the tests leave HTTP/2 to `node:http2`, unless they say otherwise. */
vi.mock("../../src/transport/http2/engines.ts", async (original) => ({
  ...(await original<object>()),
  DEFAULT_HTTP2_ENGINE: "node",
}));
