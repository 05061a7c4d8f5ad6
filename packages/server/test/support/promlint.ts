/** What the linter of Prometheus (`promtool check metrics`) finds in a scrape, in its rules and our words. */
export function lintMetrics(text: string): readonly string[] {
  const helps = new Map([...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = "", help = ""]) => [name, help]));
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => ({ name, type }));
  const samples = [...text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/gm)];
  const found = types.flatMap(({ name, type }) => [
    ...(helps.get(name) ? [] : [`${name}: no help`]),
    ...problemsOfName(name, type).map((problem) => `${name}: ${problem}`),
  ]);
  const seen = new Set<string>();
  for (const [line, name = "", labels = ""] of samples) {
    const series = line.replace(/ \S+$/, "");
    if (seen.has(series)) found.push(`${series}: told twice`);
    seen.add(series);
    const type = typeOf(name, types);
    if (type === undefined) found.push(`${name}: no type`);
    const names = [...labels.matchAll(/(?:^|,)(\w+)="/g)].map(([, label = ""]) => label);
    if (names.includes("quantile") && type !== "summary") found.push(`${name}: quantile is a label of summaries`);
    if (names.includes("le") && type !== "histogram") found.push(`${name}: le is a label of histograms`);
    for (const label of names) if (/[A-Z]/.test(label)) found.push(`${name}: label ${label} is in camelCase`);
  }
  return found;
}

function problemsOfName(name: string, type: string): readonly string[] {
  return [
    ...(type === "counter" && !name.endsWith("_total") ? ["a counter ends in _total"] : []),
    ...(type !== "counter" && name.endsWith("_total") ? ["only counters end in _total"] : []),
    ...(/_(?:sum|count|bucket)$/.test(name) ? ["the suffix is one of histograms and summaries"] : []),
    ...(/:/.test(name) ? ["colons are for recording rules"] : []),
    ...(/[A-Z]/.test(name) ? ["the name is in camelCase"] : []),
    ...(/_(?:counter|gauge|histogram|summary)(?:_|$)/.test(name) ? ["the type is part of the name"] : []),
    ...(/_(?:milliseconds|microseconds|nanoseconds|minutes|hours|days|kilobytes|megabytes|bits|percent)(?:_|$)/.test(
      name,
    )
      ? ["the unit is no base unit"]
      : []),
    ...(/_(?:s|ms|us|ns|sec|b|kb|mb|gb|h|d)(?:_|$)/.test(name) ? ["the unit is abbreviated"] : []),
  ];
}

function typeOf(sample: string, types: readonly { name: string; type: string }[]): string | undefined {
  const plain = types.find(({ name }) => name === sample);
  if (plain !== undefined) return plain.type;
  const family = sample.replace(/_(?:sum|count|bucket)$/, "");
  return types.find(({ name, type }) => name === family && (type === "histogram" || type === "summary"))?.type;
}
