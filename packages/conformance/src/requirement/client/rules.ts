import type { Requirement } from "../requirement.ts";
import { deliveryRules } from "./delivery.ts";
import { deltaRules } from "./delta.ts";
import { errorRules } from "./error.ts";
import { exchangeRules } from "./exchange.ts";
import { filesRules } from "./files.ts";
import { generalRules } from "./general.ts";
import { interestRules } from "./interest.ts";
import { locatorRules } from "./locator.ts";
import { operationRules } from "./operation.ts";
import { restRules } from "./rest.ts";
import { statusRules } from "./status.ts";
import { ttlRules } from "./ttl.ts";
import { warmingRules } from "./warming.ts";

/** Every rule for clients, with the client's side of the rules for both. */
export const clientRequirements: readonly Requirement[] = [
  ...generalRules,
  ...exchangeRules,
  ...interestRules,
  ...deliveryRules,
  ...deltaRules,
  ...warmingRules,
  ...ttlRules,
  ...errorRules,
  ...locatorRules,
  ...restRules,
  ...filesRules,
  ...operationRules,
  ...statusRules,
];
