/** The cards of the visible slots, as list items. */

import { ChannelCard, type ChannelCardProps } from '../parts/channel-card.tsx'
import { PlannedCard, Spacer } from '../parts/empty-slot.tsx'
import { PlaceholderCard } from '../parts/placeholder-card.tsx'
import type { VisibleSlot } from '../parts/visible-slots.ts'

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
