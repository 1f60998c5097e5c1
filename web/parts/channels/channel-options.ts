import { useMemo, useSyncExternalStore } from 'react'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { useServices } from '../../app/context.ts'
import { slotTitle } from '../../app/slot-records.ts'

interface ChannelOption {
  readonly value: string
  readonly text: string
}

/** The options stay the same object until one of them changes, because a select box may have thousands. */
export function useChannelOptions(): readonly ChannelOption[] {
  const { watch } = useServices()
  const read = useMemo(() => {
    let cards: readonly ChannelFacts[] | null = null
    let options: readonly ChannelOption[] = []
    return () => {
      if (cards === watch.cards()) return options
      const before = cards ?? []
      cards = watch.cards()
      const isSame = cards.length === before.length && cards.every((card, index) => hasSameOption(card, before[index]))
      if (!isSame) options = cards.map(toOption)
      return options
    }
  }, [watch])
  return useSyncExternalStore(watch.subscribe, read)
}

function hasSameOption(card: ChannelFacts, before: ChannelFacts | undefined): boolean {
  return card.channelId === before?.channelId && card.slot === before.slot && card.title === before.title
}

function toOption({ channelId, slot, title }: ChannelFacts): ChannelOption {
  return { value: String(channelId), text: slotTitle({ slot, title }) }
}
