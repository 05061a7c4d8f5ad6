import { vi } from "vitest";

/** Servers of the tests speak HTTP/2 themselves, unless they say otherwise. */
vi.mock("../../src/transport/http2/engines.ts", async (original) => ({
  ...(await original<object>()),
  DEFAULT_HTTP2_ENGINE: "builtin",
}));
