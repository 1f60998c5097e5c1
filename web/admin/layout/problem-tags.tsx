import { allStaleSince } from '../../app/channel-state.ts'
import { useWatchState } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'

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
