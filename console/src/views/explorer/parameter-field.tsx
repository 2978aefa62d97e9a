import { type Parameter, shapeOf } from "./operations.ts";

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const HINTS: Readonly<Record<string, string>> = { list: "values with commas", json: "JSON" };

/** A field for a parameter, chosen by the parameter's schema. Only the server checks the value, because people want to try wrong values. */
export function ParameterField({ parameter, value, onChange }: ParameterFieldProps) {
  const { name, required, schema } = parameter;
  const { kind, choices } = shapeOf(schema);
  const { description } = schema as { readonly description?: string };
  const options = kind === "boolean" ? ["true", "false"] : choices;
  return (
    <label className="field">
      <span>
        <span className="mono">{name}</span> {required && <span className="warn">required</span>}{" "}
        {description !== undefined && <span className="quiet">{description}</span>}
      </span>
      {options.length > 0 ? (
        <select value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">not sent</option>
          {options.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : kind === "json" ? (
        <textarea rows={3} className="mono" value={value} placeholder={HINTS.json} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <input
          value={value}
          placeholder={HINTS[kind]}
          inputMode={kind === "number" ? "decimal" : undefined}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </label>
  );
}
