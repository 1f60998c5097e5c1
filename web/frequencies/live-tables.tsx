import { useMemo, useState, useSyncExternalStore } from 'react'
import { formatDbm, formatPreciseTime } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'
import type { SpectrumControl } from './control.ts'
import { type TableRow, tabulate, tickText } from './layout.ts'
import { type ShownSweeps, sweepTrace } from './live-spectrum.ts'
import { tabulateWaterfall, type WaterfallRow } from './waterfall-pixels.ts'

const [rowCount, columnCount] = [40, 6]

interface LiveTablesProps {
  readonly control: SpectrumControl
  readonly sweeps: ShownSweeps
  /** The tables change once a second. */
  readonly now: number
}

/** The last sweep, the maximum and the waterfall as tables. */
export function LiveTables(props: LiveTablesProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="scan-levels" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('frequencies.live.tables')}</summary>
      {isOpen ? <OpenTables {...props} /> : null}
    </details>
  )
}

function OpenTables({ control, sweeps: latest, now }: LiveTablesProps) {
  const span = useSyncExternalStore(control.subscribe, () => control.span)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sweeps of this second.
  const sweeps = useMemo(() => latest, [now, latest.source])
  const levels = useMemo(
    () => tabulate([sweepTrace(sweeps, sweeps.last), sweepTrace(sweeps, sweeps.max)], span, rowCount),
    [sweeps, span],
  )
  const { ranges, rows } = useMemo(() => tabulateWaterfall(sweeps, span, columnCount), [sweeps, span])
  if (levels.length === 0) return <p className="box-note">{t('frequencies.live.outside')}</p>
  return (
    <>
      <p className="box-note">{t('frequencies.live.tableHint')}</p>
      <DataTable
        caption={t('frequencies.live.levels')}
        columns={levelColumns()}
        rows={levels}
        idOf={({ fromKhz }) => fromKhz}
      />
      <DataTable
        caption={t('frequencies.live.waterfall')}
        columns={waterfallColumns(ranges)}
        rows={rows}
        idOf={({ at }) => at}
      />
    </>
  )
}

const rangeText = ({ fromKhz, toKhz }: Pick<TableRow, 'fromKhz' | 'toKhz'>) =>
  t('frequencies.spectrum.range', { from: tickText(fromKhz), to: tickText(toKhz) })
const levelText = (dbm: number | null | undefined) =>
  dbm === null || dbm === undefined ? t('parts.unknown') : formatDbm(dbm)

function levelColumns(): readonly Column<TableRow>[] {
  return [
    { key: 'range', title: t('frequencies.scans.levels.mhz'), cell: rangeText },
    { key: 'last', title: t('frequencies.live.last'), align: 'end', cell: ({ highest }) => levelText(highest[0]) },
    { key: 'max', title: t('frequencies.live.max'), align: 'end', cell: ({ highest }) => levelText(highest[1]) },
  ]
}

function waterfallColumns(ranges: readonly Pick<TableRow, 'fromKhz' | 'toKhz'>[]): readonly Column<WaterfallRow>[] {
  return [
    { key: 'at', title: t('frequencies.live.time'), cell: ({ at }) => formatPreciseTime(at) },
    ...ranges.map(
      (range, index): Column<WaterfallRow> => ({
        ...{ key: `range-${range.fromKhz}`, title: rangeText(range), align: 'end' },
        cell: ({ highest }) => levelText(highest[index]),
      }),
    ),
  ]
}
