import type { PlaceholderInData } from '../../../src/contract/placeholders.ts'
import { useWatchState } from '../../app/context.ts'
import { formatMegahertz, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { StateIcon } from '../state-icon.tsx'

export function usePlaceholder(id: number): PlaceholderInData | null {
  return useWatchState(({ placeholders }) => placeholders.find((placeholder) => placeholder.id === id) ?? null)
}

export function PlaceholderCard({ id }: { id: number }) {
  const placeholder = usePlaceholder(id)
  if (placeholder === null) return null
  const { slot, name, kind, frequency, note } = placeholder
  return (
    <li className="card placeholder" data-state="unmonitored" data-severity="ok">
      <div className="card-head">
        <span className="card-slot">
          <span className="visually-hidden">{t('card.slot', { slot })}</span>
          <span aria-hidden="true">{slot}</span>
        </span>
        <span className="card-state">
          <StateIcon state="unmonitored" />
          <span className="card-state-text">{t('states.unmonitored')}</span>
        </span>
      </div>
      <bdi className="placeholder-name" dir="auto">
        {plainText(name)}
      </bdi>
      <p className="placeholder-kind">
        {[t(`card.kinds.${kind}`), frequency === null ? null : formatMegahertz(frequency), plainText(note)]
          .filter(Boolean)
          .join(' · ')}
      </p>
    </li>
  )
}

export function PlannedCard({ slot }: { slot: number }) {
  return (
    <li className="card planned">
      <span className="card-slot">
        <span className="visually-hidden">{t('card.slot', { slot })}</span>
        <span aria-hidden="true">{slot}</span>
      </span>
      <span className="planned-text">{t('card.planned')}</span>
    </li>
  )
}

export function Spacer() {
  return <li className="spacer" aria-hidden="true" />
}
