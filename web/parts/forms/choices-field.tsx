import { useId } from 'react'
import { useFieldProblem } from './form.tsx'
import './form.css'

interface ChoicesFieldProps {
  /** Error responses with this name are shown at the group. */
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly options: readonly { readonly value: string; readonly text: string }[]
  readonly chosen: readonly string[]
}

export function ChoicesField({ name, label, hint, options, chosen }: ChoicesFieldProps) {
  const id = useId()
  const problem = useFieldProblem(name)
  const described = [problem === null ? null : `${id}problem`, hint === undefined ? null : `${id}hint`]
  return (
    <fieldset
      className="field choices"
      name={name}
      tabIndex={-1}
      aria-describedby={described.filter((part) => part !== null).join(' ') || undefined}
    >
      <legend>{label}</legend>
      <div className="choices-list">
        {options.map(({ value, text }) => (
          <label key={value} className="tick">
            <input type="checkbox" name={boxName(name)} value={value} defaultChecked={chosen.includes(value)} />
            <bdi>{text}</bdi>
          </label>
        ))}
      </div>
      {problem === null ? null : (
        <p className="problem" id={`${id}problem`} role="alert">
          {problem}
        </p>
      )}
      {hint === undefined ? null : (
        <p className="hint" id={`${id}hint`}>
          {hint}
        </p>
      )}
    </fieldset>
  )
}

export function chosenValues(values: FormData, name: string): readonly string[] {
  return values.getAll(boxName(name)).map(String)
}

/** The name of the field stands for the whole group, so the boxes have one of their own. */
function boxName(name: string): string {
  return `${name}[]`
}
