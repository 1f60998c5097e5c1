import type { Beginning, ChannelFacts } from '../app/channel-state.ts'
import { useWatchState } from '../app/context.ts'
import {
  formatAge,
  formatDateTime,
  formatDuration,
  formatMoment,
  formatRoughMoment,
  formatShortDuration,
} from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useNow } from '../app/now.ts'

interface AgeProps {
  readonly since: number
  readonly isShort?: boolean
}

export function Age({ since, isShort = false }: AgeProps) {
  const age = useWatchState((watchState) => (isShort ? formatShortDuration : formatDuration)(watchState.now - since))
  return <span className="age">{age}</span>
}

/** The age of values that are not live, in one unit: "45s". */
export function ValueAge({ facts: { since, battery, isBatteryOld, lastSeenAt } }: { facts: ChannelFacts }) {
  const at = since?.at ?? (battery !== null && isBatteryOld ? lastSeenAt : null)
  const age = useWatchState(({ now }) => (at === null ? null : formatAge(now - at)))
  return age === null ? null : <span className="age">{age}</span>
}

/** "5 min ago" */
export function AgeAgo({ since }: AgeProps) {
  const age = useWatchState((watchState) => formatShortDuration(watchState.now - since))
  return <span className="age">{t('card.ago', { age })}</span>
}

/** "5 min ago", or "since before 5:26" if its beginning is unknown. */
export function StateAge({ since: { at, isKnown } }: { since: Beginning }) {
  return isKnown ? <AgeAgo since={at} /> : <span className="age">{sinceBefore(at)}</span>
}

function sinceBefore(at: number): string {
  return t('card.sinceBefore', { time: formatRoughMoment(at) })
}

/** "since 5:26:10 (5 min)", or "since before 5:26" if its beginning is unknown. */
export function Since({ since: { at, isKnown } }: { since: Beginning }) {
  if (!isKnown) return sinceBefore(at)
  return (
    <>
      {t('channel.since')} {formatMoment(at)} (<Age since={at} isShort={true} />)
    </>
  )
}

export function Ago({ at }: { at: string | null }) {
  const now = useNow()
  if (at === null) return <span className="ago">{t('parts.never')}</span>
  const ageMs = now - Date.parse(at)
  return (
    <time className="ago" dateTime={at} title={formatDateTime(at)}>
      {ageMs < 1_500 ? t('parts.justNow') : t('parts.ago', { age: formatShortDuration(ageMs) })}
    </time>
  )
}
