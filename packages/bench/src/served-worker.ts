import { createEnvoyApi } from "@xdskit/envoy-api";
import { createWorker, runWorker } from "@xdskit/server/internal";

// A worker of `served-by-xdskit --workers`.
runWorker(async (worker) => createWorker({ api: createEnvoyApi(), admin: false }, worker));
