import type { JSX } from "preact";
import { useEffect, useId, useState } from "preact/hooks";

/** How long a reader types before the server is asked, in milliseconds. */
const PAUSE_MS = 250;

/** A text field that filters while one types. */
export function Field({
  label,
  name,
  value = "",
  hint,
  onChange,
}: {
  readonly label: string;
  readonly name: string;
  readonly value?: string | undefined;
  readonly hint: string;
  readonly onChange: (name: string, value: string) => void;
}): JSX.Element {
  const id = useId();
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => onChange(name, text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        autocomplete="off"
        spellcheck={false}
        value={text}
        placeholder={hint}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </div>
  );
}

/** A choice among a few values, or any. */
export function Select({
  label,
  name,
  value = "",
  options,
  none = "any",
  onChange,
}: {
  readonly label: string;
  readonly name: string;
  readonly value?: string | undefined;
  /** What no value means; null: there has to be one. */
  readonly none?: string | null;
  readonly options: readonly string[] | readonly (readonly [value: string, text: string])[];
  readonly onChange: (name: string, value: string) => void;
}): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(name, currentTarget.value)}>
        {none !== null && <option value="">{none}</option>}
        {options.map((option) => {
          const [choice, text] = typeof option === "string" ? [option, option] : option;
          return (
            <option key={choice} value={choice}>
              {text}
            </option>
          );
        })}
      </select>
    </div>
  );
}
