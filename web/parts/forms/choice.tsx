import { type ReactNode, useId } from 'react'

interface ChoiceProps<Value extends string> {
  readonly label: string
  /** Otherwise only screen readers read the label. */
  readonly isLabelled?: boolean
  readonly value: Value
  readonly values: readonly Value[]
  nameOf(value: Value): string
  onChoice(value: Value): void
}

export function Choice<Value extends string>({
  label,
  isLabelled = false,
  value,
  values,
  nameOf,
  onChoice,
}: ChoiceProps<Value>) {
  const id = useId()
  const list = (
    <select
      id={id}
      className="choice"
      aria-label={isLabelled ? undefined : label}
      value={value}
      onChange={(event) => onChoice(event.target.value as Value)}
    >
      {values.map((item) => (
        <option key={item} value={item}>
          {nameOf(item)}
        </option>
      ))}
    </select>
  )
  if (!isLabelled) return list
  return (
    <span className="labelled-choice">
      <label htmlFor={id}>{label}</label>
      {list}
    </span>
  )
}

interface ChoiceButtonsProps<Value extends string | number> {
  readonly value: Value
  readonly values: readonly Value[]
  nameOf(value: Value): ReactNode
  onChoice(value: Value): void
}

export function ChoiceButtons<Value extends string | number>({
  value,
  values,
  nameOf,
  onChoice,
}: ChoiceButtonsProps<Value>) {
  return values.map((item) => (
    <button key={item} type="button" className="choice" aria-pressed={item === value} onClick={() => onChoice(item)}>
      {nameOf(item)}
    </button>
  ))
}
