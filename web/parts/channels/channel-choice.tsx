/** Chooses one of any number of channels by searching. */

import { useRef, useState, useSyncExternalStore } from 'react'
import { flushSync } from 'react-dom'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { useServices } from '../../app/context.ts'
import { slotTitle } from '../../app/slot-records.ts'
import { Frame, useDescribed } from '../forms/field.tsx'
import { useFieldState } from '../forms/field-state.ts'
import { mostSuggestions, SearchChoice } from '../forms/search-choice.tsx'
import { useChannelTitles } from './channel-titles.ts'
import { findBest, textOf } from './search.ts'

interface Option {
  readonly value: string
  readonly text: string
}

interface ChannelChoiceProps {
  readonly id?: string
  readonly className: string
  readonly label: string
  readonly placeholder?: string | undefined
  /** Instead of a channel. The first one has the value `''` and stands for no choice. */
  readonly others: readonly Option[]
  /** The id of a channel, or the value of one of the others. */
  readonly value: string
  onChoice(value: string): void
}

const noCards: readonly ChannelFacts[] = []

export function ChannelChoice({ others, value, placeholder = others[0]?.text, ...field }: ChannelChoiceProps) {
  const { watch } = useServices()
  const [isOpen, setOpen] = useState(false)
  const cards = useSyncExternalStore(watch.subscribe, isOpen ? watch.cards : () => noCards)
  const text = useChosenText(value, others)
  return (
    <SearchChoice
      {...field}
      {...{ value, text, placeholder, isOpen, keyOf }}
      onToggle={setOpen}
      suggest={(query) => suggest([...others, ...cards], value, query)}
    >
      {(item) =>
        isCard(item) ? (
          <>
            <bdi>{slotTitle(item)}</bdi>
            <small>{item.role ?? item.receiverName}</small>
          </>
        ) : (
          item.text
        )
      }
    </SearchChoice>
  )
}

type Item = Option | ChannelFacts

function isCard(item: Item): item is ChannelFacts {
  return 'channelId' in item
}

function keyOf(item: Item): string {
  return isCard(item) ? String(item.channelId) : item.value
}

/** Before the first key, the chosen channel is among the suggestions. */
function suggest(items: readonly Item[], value: string, text: string): readonly Item[] {
  const found = findBest(
    items,
    (item) => (isCard(item) ? textOf(item) : item.text.toLocaleLowerCase()),
    text,
    mostSuggestions,
  )
  if (text !== '' || found.some((item) => keyOf(item) === value)) return found
  const chosen = items.find((item) => keyOf(item) === value)
  return chosen === undefined ? found : [...found.slice(0, -1), chosen]
}

function useChosenText(value: string, others: readonly Option[]): string {
  const other = others.find((option) => option.value === value)
  const title = useChannelTitles(other === undefined ? value : '')
  return value === '' ? '' : (other?.text ?? title)
}

interface ChannelFieldProps extends Pick<ChannelChoiceProps, 'label' | 'others'> {
  /** Error responses with this name are shown at the field. */
  readonly name: string
  readonly initial: string
}

/** The field of a form. */
export function ChannelField({ name, label, others, initial }: ChannelFieldProps) {
  const { hints, described } = useDescribed({ name })
  const [value, setValue] = useFieldState(name, initial)
  const hidden = useRef<HTMLInputElement>(null)
  const text = useChosenText(value, others)
  const choose = (value: string) => {
    flushSync(() => setValue(value))
    // As an input by the user, for the form.
    hidden.current?.dispatchEvent(new Event('input', { bubbles: true }))
  }
  return (
    <Frame {...{ label, hints }}>
      <input ref={hidden} type="hidden" name={name} value={value} data-text={text} />
      <ChannelChoice className="input" {...described} {...{ label, others, value }} onChoice={choose} />
    </Frame>
  )
}
