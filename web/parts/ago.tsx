/** Shows a timestamp from the service as "12 sec ago", with the absolute time in a tooltip. */

import { formatDateTime, formatShortDuration } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useNow } from '../app/now.ts'

/** `at` is an ISO 8601 timestamp, or null for "never". */
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
