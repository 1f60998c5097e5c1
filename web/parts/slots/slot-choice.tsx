/** Chooses one of any number of slots by searching. */

import { useState } from 'react'
import { findBest } from '../channels/search.ts'
import { mostSuggestions, SearchChoice } from '../forms/search-choice.tsx'

export interface SlotOption {
  readonly slot: number
  /** Begins with the number of the slot. */
  readonly text: string
}

interface SlotChoiceProps {
  readonly className: string
  readonly label: string
  readonly slots: readonly SlotOption[]
  /** The text for no slot. */
  readonly none: string
  readonly value: number | null
  onChoice(slot: number | null): void
}

export function SlotChoice({ slots, none, value, onChoice, ...field }: SlotChoiceProps) {
  const [isOpen, setOpen] = useState(false)
  const options = [{ slot: null, text: none }, ...slots]
  return (
    <SearchChoice
      {...field}
      placeholder={none}
      value={value === null ? '' : String(value)}
      text={slots.find(({ slot }) => slot === value)?.text ?? ''}
      isOpen={isOpen}
      onToggle={setOpen}
      keyOf={({ slot }) => (slot === null ? '' : String(slot))}
      suggest={(query) => findBest(options, ({ text }) => text.toLocaleLowerCase(), query, mostSuggestions)}
      onChoice={(key) => onChoice(key === '' ? null : Number(key))}
    >
      {({ text }) => <bdi>{text}</bdi>}
    </SearchChoice>
  )
}
