import type { Case } from "../../case.ts";
import { absenceCases } from "./absence.ts";
import { acknowledgementCases } from "./acknowledgement.ts";
import { additionCases } from "./addition.ts";
import { aggregationCases } from "./aggregation.ts";
import { apiVersionCases } from "./api-version.ts";
import { collectionCases } from "./collection.ts";
import { deletionCases } from "./deletion.ts";
import { deltaCases } from "./delta.ts";
import { diagramCases } from "./diagrams.ts";
import { editionCases } from "./edition.ts";
import { errorCases } from "./error.ts";
import { generalCases } from "./general.ts";
import { locatorCases } from "./locator.ts";
import { meetingCases } from "./meeting.ts";
import { nodeCases } from "./node.ts";
import { nonceCases } from "./nonce.ts";
import { onDemandCases } from "./on-demand.ts";
import { orderCases } from "./order.ts";
import { reconnectCases } from "./reconnect.ts";
import { responseCases } from "./response.ts";
import { restCases } from "./rest.ts";
import { streamCases } from "./stream.ts";
import { subscriptionCases } from "./subscription.ts";
import { ttlCases } from "./ttl.ts";
import { typeCases } from "./type.ts";
import { unsubscriptionCases } from "./unsubscription.ts";
import { validationCases } from "./validation.ts";
import { versionCases } from "./version.ts";
import { warmingCases } from "./warming.ts";

/** Every case for servers. */
export const serverCases: readonly Case[] = [
  ...generalCases,
  ...typeCases,
  ...apiVersionCases,
  ...streamCases,
  ...restCases,
  ...nodeCases,
  ...versionCases,
  ...acknowledgementCases,
  ...nonceCases,
  ...subscriptionCases,
  ...responseCases,
  ...deletionCases,
  ...absenceCases,
  ...errorCases,
  ...unsubscriptionCases,
  ...deltaCases,
  ...reconnectCases,
  ...warmingCases,
  ...aggregationCases,
  ...orderCases,
  ...onDemandCases,
  ...collectionCases,
  ...locatorCases,
  ...additionCases,
  ...ttlCases,
  ...validationCases,
  ...diagramCases,
  ...meetingCases,
  ...editionCases,
];
