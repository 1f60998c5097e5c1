/** The conflicts in words, the most severe first. */

import { Info, OctagonAlert, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { FrequenciesBody, FrequencyConflictBody } from '../../src/contract/resources/frequencies.ts'
import { conflictKinds } from '../../src/contract/values.ts'
import { t } from '../i18n.ts'
import { useIsPrinting } from '../parts/print-table.tsx'
import { conflictKey, conflictText, type FindCarrier, isActive, severityOf } from './conflict-text.ts'

interface ConflictListProps {
  /** Sorted by severity. */
  readonly conflicts: readonly FrequencyConflictBody[]
  /** The number of conflicts of each kind, including those that the service has not listed. */
  readonly totals: FrequenciesBody['totals']
  /** The number of conflicts, of the chosen carrier if there is one, including those that are not listed. */
  readonly total: number
  /** The name of the carrier whose conflicts are listed; null if all are. */
  readonly chosenName: string | null
  readonly selectedKey: string | null
  readonly find: FindCarrier
  onSelect(conflict: FrequencyConflictBody | null): void
  onShowAll(): void
}

const icons = { critical: OctagonAlert, warning: TriangleAlert, info: Info } as const
/** How many conflicts are shown at first. */
const firstCount = 50

export function ConflictList(props: ConflictListProps) {
  const { conflicts, totals, total, chosenName, selectedKey, find, onSelect, onShowAll } = props
  const [isLong, setLong] = useState(false)
  const isPrinting = useIsPrinting()
  const kinds = conflictKinds.filter((kind) => totals[kind] > 0)
  const shown = isLong || isPrinting ? conflicts : conflicts.slice(0, firstCount)
  return (
    <section className="conflicts" aria-label={t('frequencies.conflicts.title')}>
      <header className="conflicts-head">
        <h2>
          {chosenName === null
            ? t('frequencies.conflicts.titleWithCount', { count: total })
            : t('frequencies.conflicts.titleOf', { name: chosenName, count: total })}
        </h2>
        {chosenName === null ? null : (
          <button type="button" className="choice" onClick={onShowAll}>
            {t('frequencies.conflicts.showAll')}
          </button>
        )}
      </header>
      {chosenName !== null || kinds.length < 2 ? null : (
        <p className="box-note">
          {kinds
            .map((kind) => t('frequencies.kindCount', { kind: t(`frequencies.kinds.${kind}`), count: totals[kind] }))
            .join(' · ')}
        </p>
      )}
      {total === 0 ? <p className="box-note">{t('frequencies.conflicts.none')}</p> : null}
      <ol className="conflicts-list">
        {shown.map((conflict) => {
          const key = conflictKey(conflict)
          const severity = severityOf(conflict)
          const Icon = icons[severity]
          const isSelected = key === selectedKey
          return (
            <li key={key}>
              <button
                type="button"
                className="conflict"
                data-severity={severity}
                aria-pressed={isSelected}
                onClick={() => onSelect(isSelected ? null : conflict)}
              >
                <Icon className="icon" aria-hidden="true" />
                <span>
                  <span className="visually-hidden">{t(`frequencies.severities.${severity}`)} </span>
                  {conflictText(conflict, find)}
                  <small>
                    {t(`frequencies.kinds.${conflict.kind}`)}
                    {isActive(conflict, find) ? ` · ${t('frequencies.conflicts.active')}` : null}
                  </small>
                </span>
              </button>
            </li>
          )
        })}
      </ol>
      {shown.length < conflicts.length ? (
        <button type="button" className="choice" onClick={() => setLong(true)}>
          {t('frequencies.conflicts.more', { count: conflicts.length - shown.length })}
        </button>
      ) : null}
      {total > conflicts.length ? (
        <p className="box-note">{t('frequencies.conflicts.notListed', { count: total - conflicts.length })}</p>
      ) : null}
    </section>
  )
}
