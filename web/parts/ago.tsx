/** A time that the service told of, as "12 s ago"; the time itself on hovering. */

import { useSurroundings } from '../context.ts'
import { formatDateTime, formatShortDuration } from '../format.ts'
import { t } from '../i18n.ts'
import { useNow } from '../now.ts'

/** `at`: ISO 8601; null where it never was. */
export function Ago({ at }: { at: string | null }) {
  const { api } = useSurroundings()
  const now = useNow()
  if (at === null) return <span className="ago">{t('parts.never')}</span>
  const ageMs = now + api.clockAheadMs() - Date.parse(at)
  return (
    <time className="ago" dateTime={at} title={formatDateTime(at)}>
      {ageMs < 1_500 ? t('parts.justNow') : t('parts.ago', { age: formatShortDuration(ageMs) })}
    </time>
  )
}
