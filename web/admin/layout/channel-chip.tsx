/** A channel that needs attention is filled, with its state in words. */

import { Link } from '@tanstack/react-router'
import type { ChannelFacts } from '../../app/channel-state.ts'
import './chips.css'
import { t } from '../../app/i18n.ts'
import { StateIcon } from '../../parts/state-icon.tsx'

interface ChannelChipProps {
  readonly channelId: number
  readonly slot: number
  readonly name: string
  /** Null until the live state is loaded. */
  readonly facts: ChannelFacts | null
}

export function ChannelChip({ channelId, slot, name, facts }: ChannelChipProps) {
  return (
    <Link
      className="chip"
      to="/channels/$id"
      params={{ id: String(channelId) }}
      data-severity={facts?.needsAttention ? facts.condition.severity : undefined}
    >
      {facts === null ? null : <StateIcon state={facts.state} />}
      <small>{slot}</small> <bdi>{name || t('card.noName')}</bdi>
      {facts === null ? null : (
        <span className={facts.needsAttention ? 'chip-state' : 'visually-hidden'}>{t(`states.${facts.state}`)}</span>
      )}
    </Link>
  )
}
