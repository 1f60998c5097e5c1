import { Info, OctagonAlert, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import type { FrequenciesBody, FrequencyConflictBody } from '../../src/contract/frequencies.ts'
import { type ConflictKind, conflictKinds } from '../../src/contract/values.ts'
import { formatList } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useIsPrinting } from '../parts/channels/print-table.tsx'
import { useRegion } from '../parts/use-region.ts'
import { conflictKey, conflictText, type FindCarrier, isActive, severityOf } from './conflict-text.ts'

interface ConflictListProps {
  readonly conflicts: readonly FrequencyConflictBody[]
  /** Includes conflicts that the service has not listed. */
  readonly totals: FrequenciesBody['totals']
  /** Conflicts of the chosen carrier, or of all carriers. Includes unlisted conflicts. */
  readonly total: number
  readonly chosenName: string | null
  /** Only transmitters that are on were checked. */
  readonly isOnlyOn: boolean
  readonly scanCount: number
  readonly unmeasuredCount: number
  readonly selectedKey: string | null
  readonly find: FindCarrier
  onSelect(conflict: FrequencyConflictBody | null): void
  onShowAll(): void
}

const icons = { critical: OctagonAlert, warning: TriangleAlert, info: Info } as const
const firstCount = 50

export function ConflictList(props: ConflictListProps) {
  const { conflicts, totals, chosenName, selectedKey, find, onSelect, onShowAll } = props
  const region = useRegion<HTMLOListElement>()
  const [isLong, setLong] = useState(false)
  const [chosenKind, setChosenKind] = useState<ConflictKind | null>(null)
  const isPrinting = useIsPrinting()
  const kinds = chosenName === null ? conflictKinds.filter((kind) => totals[kind] > 0) : []
  const kind = chosenKind !== null && kinds.includes(chosenKind) ? chosenKind : null
  const ofKind = kind === null ? conflicts : conflicts.filter((conflict) => conflict.kind === kind)
  const total = kind === null ? props.total : totals[kind]
  const listedOf = kind === null ? chosenName : t(`frequencies.kinds.${kind}`)
  const shown = isLong || isPrinting ? ofKind : ofKind.slice(0, firstCount)
  return (
    <section className="conflicts" aria-label={t('frequencies.conflicts.title')}>
      <header className="conflicts-head">
        <h2>
          {listedOf === null
            ? t('frequencies.conflicts.titleWithCount', { count: total })
            : t('frequencies.conflicts.titleOf', { name: listedOf, count: total })}
        </h2>
        {chosenName === null ? null : (
          <button type="button" className="choice" onClick={onShowAll}>
            {t('frequencies.conflicts.showAll')}
          </button>
        )}
      </header>
      {kinds.length < 2 ? null : <Kinds kinds={kinds} chosen={kind} totals={totals} onChoose={setChosenKind} />}
      {total === 0 ? (
        <p className="box-note">
          {t('frequencies.conflicts.none')} {consideredText(props)}
        </p>
      ) : null}
      <ol className="conflicts-list" ref={region}>
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
      {shown.length < ofKind.length ? (
        <button type="button" className="choice" onClick={() => setLong(true)}>
          {t('frequencies.conflicts.more', { count: ofKind.length - shown.length })}
        </button>
      ) : null}
      {total > ofKind.length ? (
        <p className="box-note">{t('frequencies.conflicts.notListed', { count: total - ofKind.length })}</p>
      ) : null}
    </section>
  )
}

/** "No conflicts" must not promise too much. */
function consideredText({
  scanCount,
  unmeasuredCount,
  isOnlyOn,
}: Pick<ConflictListProps, 'scanCount' | 'unmeasuredCount' | 'isOnlyOn'>): string {
  const scans = t('frequencies.conflicts.withScans', { count: scanCount })
  const carriers = t('frequencies.conflicts.unmeasured', { count: unmeasuredCount })
  const considered = scanCount === 0 ? [] : [t('frequencies.conflicts.considered', { scans, carriers })]
  const parts = [
    ...(scanCount === 0 ? [t('frequencies.conflicts.ignored.scans')] : []),
    t('frequencies.conflicts.ignored.noise'),
    ...(isOnlyOn ? [t('frequencies.conflicts.ignored.off')] : []),
  ]
  return [...considered, t('frequencies.conflicts.notConsidered', { parts: formatList(parts) })].join(' ')
}

interface KindsProps {
  readonly kinds: readonly ConflictKind[]
  readonly chosen: ConflictKind | null
  readonly totals: FrequenciesBody['totals']
  onChoose(kind: ConflictKind | null): void
}

function Kinds({ kinds, chosen, totals, onChoose }: KindsProps) {
  const choices = [
    { kind: null, text: t('frequencies.conflicts.allKinds') },
    ...kinds.map((kind) => {
      const text = t('frequencies.kindCount', { kind: t(`frequencies.kinds.${kind}`), count: totals[kind] })
      return { kind, text }
    }),
  ]
  return (
    <nav className="conflict-kinds screen-only" aria-label={t('frequencies.conflicts.kind')}>
      {choices.map(({ kind, text }) => (
        <button
          key={kind}
          type="button"
          className="choice"
          aria-pressed={kind === chosen}
          onClick={() => onChoose(kind)}
        >
          {text}
        </button>
      ))}
    </nav>
  )
}
