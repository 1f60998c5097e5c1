/** A slot without a channel: planned, or blank. */

import { t } from '../app/i18n.ts'

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

/** A blank slot: an empty cell in the grid. */
export function Spacer() {
  return <li className="spacer" aria-hidden="true" />
}
