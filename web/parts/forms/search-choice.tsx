/** Chooses one of any number of items by searching. */

import { type ReactNode, useState } from 'react'
import { Combobox } from './combobox.tsx'

export interface SearchChoiceProps<Item> {
  readonly id?: string
  readonly className: string
  readonly label: string
  readonly placeholder?: string | undefined
  readonly isOpen: boolean
  onToggle(isOpen: boolean): void
  /** The key of the chosen item; `''` if none is. */
  readonly value: string
  /** The text of the chosen item. */
  readonly text: string
  keyOf(item: Item): string
  /** Returns some of the items that match a query, best first. Every item matches an empty one. */
  suggest(query: string): readonly Item[]
  onChoice(key: string): void
  /** The content of a suggestion. */
  children(item: Item): ReactNode
}

/** With more suggestions, refining the search is quicker than scrolling. */
export const mostSuggestions = 20

export function SearchChoice<Item>(props: SearchChoiceProps<Item>) {
  const { isOpen, onToggle, value, text, keyOf, suggest, onChoice, children, ...field } = props
  const [typed, setTyped] = useState<string | null>(null)
  const items = isOpen ? suggest(typed ?? '') : []
  const end = () => {
    setTyped(null)
    onToggle(false)
  }
  const chosen = items.findIndex((item) => keyOf(item) === value)
  return (
    <Combobox
      {...field}
      value={typed ?? text}
      items={items}
      first={typed ? 0 : Math.max(0, chosen)}
      popup={{ isOpen, onToggle: (isOpen) => (isOpen ? onToggle(true) : end()) }}
      keyOf={keyOf}
      onText={(typed) => {
        setTyped(typed)
        onToggle(true)
      }}
      onChoose={(item) => {
        end()
        onChoice(keyOf(item))
      }}
      onClick={({ currentTarget }) => {
        if (isOpen) return
        currentTarget.select()
        onToggle(true)
      }}
      onBlur={() => {
        end()
        if (typed?.trim() === '' && value !== '') onChoice('')
      }}
    >
      {children}
    </Combobox>
  )
}
