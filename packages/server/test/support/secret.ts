import { contentDigest } from "@xdskit/envoy-api";
import { createResource, type Resource } from "@xdskit/protocol";
import { encoded } from "./messages.ts";
import { SECRET } from "./test-server.ts";

/** A Secret with a text in it. */
export function secret(name: string, text: string): Resource {
  const bytes = encoded("envoy.extensions.transport_sockets.tls.v3.Secret", {
    name,
    genericSecret: { secret: { inlineString: text } },
  });
  return createResource({ type: SECRET, name, bytes }, contentDigest);
}
