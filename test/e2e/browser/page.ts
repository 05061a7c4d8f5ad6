// The page: runs the stories, reports their outcomes to its server and shows them.
import { stories } from "./stories.ts";

/** The part of a browser's document that is used here. */
declare const document: {
  readonly body: { append(...elements: object[]): void };
  createElement(name: string): { textContent: string; className: string; append(...elements: object[]): void };
};

function show(name: string, className: string, text: string): void {
  const [row, title, outcome] = [
    document.createElement("p"),
    document.createElement("b"),
    document.createElement("pre"),
  ];
  row.className = className;
  title.textContent = `${name}: ${className}`;
  outcome.textContent = text.length > 700 ? `${text.slice(0, 700)}…` : text;
  row.append(title, outcome);
  document.body.append(row);
}

async function tell(story: string, what: object): Promise<void> {
  await fetch("/told", { method: "POST", body: JSON.stringify({ story, ...what }) });
}

for (const [name, play] of Object.entries(stories)) {
  try {
    const outcome = await play((line) => void tell(name, { line }));
    show(name, "done", JSON.stringify(outcome, undefined, 1));
    await tell(name, { outcome });
  } catch (error) {
    const reason = error instanceof Error ? `${error.stack ?? error.message}` : String(error);
    show(name, "failed", reason);
    await tell(name, { failure: reason });
  }
}
