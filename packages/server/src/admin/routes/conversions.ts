import type { ConversionFindings } from "../../hub/port.ts";
import type { ConversionAnswer } from "../answers/resources.ts";
import type { Describer } from "../describe.ts";
import { byKey, type Merge } from "../merge/merge.ts";
import { page, pageKinds, pageParameters, type Route, type Step } from "../route.ts";
import { conversionsAnswer } from "../schema/resources.ts";

/** Every process converts the same resources. */
const mergeConversions: Merge = byKey<ConversionAnswer>(
  ({ type, name, layer }) => JSON.stringify([type, layer, name]),
  (one) => one,
);

/** What v2 cannot express of v3 resources, and vice versa (S-TYP-10). */
export const conversions: Route = {
  path: "/api/v1/conversions",
  says: "fields lost in conversion between v2 and v3, by resource",
  parameters: pageParameters,
  kinds: pageKinds,
  merge: mergeConversions,
  answers: { 200: conversionsAnswer },
  answer: ({ view, describe }, query) => {
    function* steps(): Iterable<Step> {
      for (const one of view.conversionFindings().values()) yield () => describeFindings(one, describe);
    }
    return page(query, steps());
  },
};

function describeFindings({ layer, type, name, findings }: ConversionFindings, describe: Describer): ConversionAnswer {
  return {
    ...describe.type(type),
    name,
    layer,
    findings: findings.map(({ path, message }) => ({ path: path.join("."), message })),
  };
}
