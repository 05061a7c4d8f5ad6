import { statusCode } from "@xdskit/protocol/internal";
import type { ReadinessTracker } from "../../hub/readiness.ts";
import type { GrpcCall } from "./call.ts";
import { bytesField, readFields, stringField, varintField } from "./fields.ts";
import type { Dismiss, GrpcMethod } from "./method.ts";
import { answerOnce, malformed } from "./simple-call.ts";

export const HEALTH_SERVICE = "grpc.health.v1.Health";

/** `HealthCheckResponse.ServingStatus`. */
const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;

/**
 * grpc.health.v1: Check, Watch and List. Every service is SERVING once the server is ready, NOT_SERVING before that and
 * while draining. "" is the server as a whole.
 */
export function healthMethods(services: ReadonlySet<string>): ReadonlyMap<string, GrpcMethod> {
  const isKnown = (service: string): boolean => service === "" || services.has(service);
  return new Map<string, GrpcMethod>([
    [
      `/${HEALTH_SERVICE}/Check`,
      (call, { hub }) =>
        answerOnce(call, (request) => {
          const service = stringField(readFields(request), 1);
          if (isKnown(service)) return formatStatus(servingStatus(hub.readiness));
          return { code: statusCode.NOT_FOUND, message: `service "${service}" is not served here` };
        }),
    ],
    [`/${HEALTH_SERVICE}/Watch`, (call, { hub }) => watch(call, hub.readiness, isKnown)],
    [
      `/${HEALTH_SERVICE}/List`,
      (call, { hub }) =>
        answerOnce(call, () => {
          const status = formatStatus(servingStatus(hub.readiness));
          const entry = (service: string): Uint8Array =>
            bytesField(1, Buffer.concat([bytesField(1, service), bytesField(2, status)]));
          return Buffer.concat(["", ...services].map(entry));
        }),
    ],
  ]);
}

/** Sends the status and each change of it; a slow reader gets only the newest. */
function watch(call: GrpcCall, readiness: ReadinessTracker, isKnown: (service: string) => boolean): Dismiss {
  let told: number | undefined;
  let isSending = false;
  let unwatch = (): void => undefined;
  const tell = async (status: () => number): Promise<void> => {
    if (isSending) return;
    isSending = true;
    while (told !== status()) {
      told = status();
      await call.send(formatStatus(told));
    }
    isSending = false;
  };
  call.accept({
    onMessage: (bytes) => {
      let service: string;
      try {
        service = stringField(readFields(bytes), 1);
      } catch (error) {
        call.end(malformed(error));
        return;
      }
      const status = (): number => (isKnown(service) ? servingStatus(readiness) : SERVICE_UNKNOWN);
      unwatch();
      unwatch = readiness.watch(() => void tell(status));
      void tell(status);
    },
    onHalfClose: () => undefined, // a client asks once and then listens
    onFailure: (status) => call.end(status),
    onClose: () => unwatch(),
  });
  return (status) => call.end(status);
}

function servingStatus({ state }: ReadinessTracker): number {
  return state === "ready" ? SERVING : NOT_SERVING;
}

function formatStatus(status: number): Uint8Array {
  return varintField(1, status);
}
