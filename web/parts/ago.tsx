/** A time that the service told of, as "12 s ago"; the time itself on hovering. */

import { useSurroundings } from '../context.ts'
import { formatMoment, shortAge } from '../format.ts'
import { useNow } from '../now.ts'
import { words } from '../words.ts'

/** `at`: ISO 8601; null where it never was. */
export function Ago({ at }: { at: string | null }) {
  const { api } = useSurroundings()
  const now = useNow()
  if (at === null) return <span className="ago">{words.parts.never}</span>
  const ageMs = now + api.clockAheadMs() - Date.parse(at)
  return (
    <time className="ago" dateTime={at} title={formatMoment(at)}>
      {ageMs < 1_500 ? words.parts.justNow : words.parts.ago(shortAge(ageMs))}
    </time>
  )
}
