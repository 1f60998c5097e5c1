import './shows.css'
import { CalendarClock } from 'lucide-react'
import { useState } from 'react'
import type { ShowBody } from '../../src/contract/shows.ts'
import { formatClock, plainText } from '../app/format.ts'
import { t, withTexts } from '../app/i18n.ts'
import { readLocal, writeLocal } from '../app/local-storage.ts'
import { useNow } from '../app/now.ts'
import { useResource } from '../app/resource.ts'
import { onDemand } from '../parts/dialogs/on-demand.tsx'

const loadDialogs = withTexts(['shows'], () => import('./show-dialogs.tsx'))
const ShowDialog = onDemand(async () => (await loadDialogs()).ShowDialog)

const dismissedKey = 'dismissed-show'

export function StartOffer() {
  const { body: shows, reload } = useResource('/api/shows/', 'list', ['show'])
  const now = useNow()
  const [dismissed, setDismissed] = useState(() => readLocal(dismissedKey))
  const [starting, setStarting] = useState<ShowBody | null>(null)
  const show = findDueShow(shows ?? [], now, dismissed)
  if (show === null || show.starts_at === null) return null
  const title = plainText(show.title)
  const dismiss = () => {
    writeLocal(dismissedKey, keyOf(show))
    setDismissed(keyOf(show))
  }
  return (
    <section className="start-offer" aria-label={t('startOffer.label')}>
      <CalendarClock className="icon" aria-hidden="true" />
      <p role="status">{t('startOffer.offer', { title, time: formatClock(Date.parse(show.starts_at)) })}</p>
      <button type="button" className="choice" data-tone="usual" onClick={() => setStarting(show)}>
        {t('startOffer.action')}
      </button>
      <button type="button" className="choice" onClick={dismiss}>
        {t('startOffer.later')}
      </button>
      {starting === null ? null : (
        <ShowDialog kind="start" show={starting} onDone={reload} onClose={() => setStarting(null)} />
      )}
    </section>
  )
}

/** For a show without a planned end. */
const offeredMs = 6 * 60 * 60 * 1_000

/** The show with the latest planned start that has come, unless it was dismissed. */
export function findDueShow(shows: readonly ShowBody[], now: number, dismissed: string): ShowBody | null {
  const due = shows.filter(({ state, starts_at, ends_at }) => {
    if (state !== 'planned' || starts_at === null) return false
    const start = Date.parse(starts_at)
    return start <= now && now < (ends_at === null ? start + offeredMs : Date.parse(ends_at))
  })
  const latest = due.toSorted((a, b) => Date.parse(b.starts_at ?? '') - Date.parse(a.starts_at ?? ''))[0]
  return latest === undefined || keyOf(latest) === dismissed ? null : latest
}

/** A show with another planned start is offered again. */
export function keyOf({ id, starts_at }: ShowBody): string {
  return `${id} ${starts_at}`
}
