import { deliveryRequirements } from "./delivery.ts";
import { exchangeRequirements } from "./exchange.ts";
import { fileRequirements } from "./files.ts";
import { generalRequirements } from "./general.ts";
import { interestRequirements } from "./interest.ts";
import { locatorRequirements } from "./locator.ts";
import { onDemandRequirements } from "./on-demand.ts";
import { operationRequirements } from "./operation.ts";
import { orderRequirements } from "./order.ts";
import type { Requirement } from "./requirement.ts";
import { restRequirements } from "./rest.ts";
import { statusRequirements } from "./status.ts";
import { ttlRequirements } from "./ttl.ts";

/** Every rule for servers in the groups of this release, including later ones. */
export const requirements: readonly Requirement[] = [
  ...generalRequirements,
  ...fileRequirements,
  ...restRequirements,
  ...exchangeRequirements,
  ...interestRequirements,
  ...deliveryRequirements,
  ...orderRequirements,
  ...onDemandRequirements,
  ...locatorRequirements,
  ...ttlRequirements,
  ...statusRequirements,
  ...operationRequirements,
];
