/** Whether an `Accept-Encoding` header allows gzip with a nonzero weight. */
export function takesGzip(acceptEncoding: string | undefined): boolean {
  return (acceptEncoding ?? "").split(",").some((entry) => {
    const [coding = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    return (coding === "gzip" || coding === "x-gzip") && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
  });
}
