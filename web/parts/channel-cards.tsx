/** The cards of the visible slots, as list items. */

import type { VisibleSlot } from '../visible-slots.ts'
import { ChannelCard, type ChannelCardProps } from './channel-card.tsx'
import { PlannedCard, Spacer } from './empty-slot.tsx'
import { PlaceholderCard } from './placeholder-card.tsx'

interface ChannelCardsProps extends Omit<ChannelCardProps, 'receiverId' | 'channelId'> {
  readonly entries: readonly VisibleSlot[]
}

export function ChannelCards({ entries, ...card }: ChannelCardsProps) {
  return entries.map((entry) => {
    if (entry.kind === 'planned') return <PlannedCard key={entry.slot} slot={entry.slot} />
    if (entry.kind === 'placeholder') return <PlaceholderCard key={entry.slot} id={entry.placeholderId} />
    if (entry.kind === 'spacer') return <Spacer key={entry.slot} />
    return <ChannelCard key={entry.channelId} receiverId={entry.receiverId} channelId={entry.channelId} {...card} />
  })
}
