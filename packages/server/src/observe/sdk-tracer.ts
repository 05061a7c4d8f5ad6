import { ProxyTracerProvider, type Tracer, trace } from "@opentelemetry/api";
import { VERSION } from "../version.ts";

/** The name of the instrumentation in every span. */
const SCOPE = "@xdskit/server";

/** The tracer of the OpenTelemetry SDK that is registered in this process; undefined: there is none. */
export function sdkTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  // The API stands in for an SDK by a proxy that has nothing behind it.
  if (provider instanceof ProxyTracerProvider) return provider.getDelegateTracer(SCOPE, VERSION);
  return provider.getTracer(SCOPE, VERSION);
}
