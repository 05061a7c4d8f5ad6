import type { ClientCase } from "../../client-case.ts";
import { absenceCases } from "./absence.ts";
import { acknowledgementCases } from "./acknowledgement.ts";
import { deliveryCases } from "./delivery.ts";
import { deltaCases } from "./delta.ts";
import { errorCases } from "./error.ts";
import { fileCases } from "./files.ts";
import { furtherTypeCases } from "./further-type.ts";
import { interestCases } from "./interest.ts";
import { locatorCases } from "./locator.ts";
import { misbehaviourCases } from "./misbehaviour.ts";
import { reconnectCases } from "./reconnect.ts";
import { restCases } from "./rest.ts";
import { sourceCases } from "./source.ts";
import { ttlCases } from "./ttl.ts";

/** Every case for clients. */
export const clientCases: readonly ClientCase[] = [
  ...sourceCases,
  ...acknowledgementCases,
  ...interestCases,
  ...deliveryCases,
  ...absenceCases,
  ...deltaCases,
  ...reconnectCases,
  ...ttlCases,
  ...errorCases,
  ...locatorCases,
  ...furtherTypeCases,
  ...misbehaviourCases,
  ...restCases,
  ...fileCases,
];
