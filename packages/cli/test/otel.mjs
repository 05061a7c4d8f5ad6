// Registers an SDK that writes each ended span as a line of JSON to the file `SPANS`. Started by `--import`.
import { appendFileSync } from "node:fs";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";

const file = process.env.SPANS ?? "";
const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { spanId } = span.spanContext();
      const parent = span.parentSpanContext?.spanId;
      const { name, attributes, instrumentationScope, startTime, endTime } = span;
      const told = { name, spanId, parent, attributes, scope: instrumentationScope.name, startTime, endTime };
      appendFileSync(file, `${JSON.stringify(told)}\n`);
    }
    done({ code: 0 });
  },
  shutdown: async () => undefined,
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
