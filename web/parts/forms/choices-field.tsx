import { Hints, useDescribed } from './field.tsx'
import { useEntered } from './field-state.ts'

interface ChoicesFieldProps {
  /** Error responses with this name are shown at the group. */
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly options: readonly { readonly value: string; readonly text: string }[]
  readonly chosen: readonly string[]
  readonly isDisabled?: boolean
}

export function ChoicesField({ name, label, hint, options, chosen, isDisabled = false }: ChoicesFieldProps) {
  const { hints, described } = useDescribed({ name, hint }, boxName(name))
  const beginning = useEntered(boxName(name)) ?? chosen
  return (
    <fieldset
      className="field choices"
      name={name}
      tabIndex={-1}
      disabled={isDisabled}
      data-label={label}
      aria-describedby={described['aria-describedby']}
    >
      <legend>{label}</legend>
      <div className="choices-list">
        {options.map(({ value, text }) => (
          <label key={value} className="tick">
            <input type="checkbox" name={boxName(name)} value={value} defaultChecked={beginning.includes(value)} />
            <bdi>{text}</bdi>
          </label>
        ))}
      </div>
      <Hints {...hints} />
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
