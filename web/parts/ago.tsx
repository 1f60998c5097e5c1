/** A time that the service told of, as "12 s ago"; the time itself on hovering. */

import { useSurroundings } from '../context.ts'
import { shortAge } from '../format.ts'
import { useNow } from '../now.ts'
import { partTexts } from '../texts/parts.ts'

/** `at`: ISO 8601; null where it never was. */
export function Ago({ at }: { at: string | null }) {
  const { api } = useSurroundings()
  const now = useNow()
  if (at === null) return <span className="ago">{partTexts.never}</span>
  const ageMs = now + api.clockAheadMs() - Date.parse(at)
  return (
    <time className="ago" dateTime={at} title={new Date(at).toLocaleString()}>
      {ageMs < 1_500 ? partTexts.justNow : partTexts.ago(shortAge(ageMs))}
    </time>
  )
}
