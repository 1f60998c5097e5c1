import { Link } from '@tanstack/react-router'
import { allStaleSince, type ChannelFacts } from '../../app/channel-state.ts'
import './layout.css'
import { useWatchState } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { StateIcon } from '../../parts/state-icon.tsx'

interface ChannelChipProps {
  readonly channelId: number
  readonly slot: number
  readonly name: string
  /** Null until the live state is loaded. */
  readonly facts: ChannelFacts | null
}

/** A channel that needs attention is filled, with its state in words. */
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

interface ProblemTagsProps {
  /** Null if no receiver is offline. */
  readonly offline: string | null
  readonly attention: number
  /** The text while nothing is wrong. */
  readonly fine: string
}

export function ProblemTags({ offline, attention, fine }: ProblemTagsProps) {
  const isStale = useWatchState((watchState) => allStaleSince(watchState) !== null)
  if (isStale) return <Tag tone="calm" text={t('states.stale')} />
  return (
    <>
      {offline === null ? null : <Tag tone="bad" text={offline} />}
      {attention === 0 ? null : <Tag tone="waiting" text={t('summary.needAttention', { count: attention })} />}
      {offline === null && attention === 0 ? <Tag tone="good" text={fine} /> : null}
    </>
  )
}

function Tag({ tone, text }: { tone: 'good' | 'waiting' | 'bad' | 'calm'; text: string }) {
  return (
    <span className="tag" data-tone={tone}>
      {text}
    </span>
  )
}
