import { useMemo, useState, useSyncExternalStore } from 'react'
import type { ScanBody } from '../../src/contract/scans.ts'
import { formatDbm, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'
import type { SpectrumControl } from './control.ts'
import { type TableRow, type Trace, tabulate, tickText } from './layout.ts'

const rowCount = 40

interface ScanLevelsProps {
  readonly control: SpectrumControl
  readonly scans: readonly ScanBody[]
  /** In the order of `scans`; null while it is loading. */
  readonly traces: readonly (Trace | null)[]
}

/** The traces in the spectrum as a table. */
export function ScanLevels(props: ScanLevelsProps) {
  const [isOpen, setOpen] = useState(false)
  if (props.scans.length === 0) return null
  return (
    <details
      className="frequencies-section scan-levels screen-only"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{t('frequencies.scans.levels.title')}</summary>
      {isOpen ? <LevelTable {...props} /> : null}
    </details>
  )
}

function LevelTable({ control, scans, traces }: ScanLevelsProps) {
  const span = useSyncExternalStore(control.subscribe, () => control.span)
  const loaded = useMemo(
    () =>
      scans.flatMap((scan, index) => {
        const trace = traces[index] ?? null
        return trace === null ? [] : [{ scan, trace }]
      }),
    [scans, traces],
  )
  const rows = useMemo(
    () =>
      tabulate(
        loaded.map(({ trace }) => trace),
        span,
        rowCount,
      ),
    [loaded, span],
  )
  if (rows.length === 0) return <p className="box-note">{t('frequencies.scans.levels.none')}</p>
  return (
    <>
      <p className="box-note">{t('frequencies.scans.levels.hint')}</p>
      <DataTable
        caption={t('frequencies.scans.levels.title')}
        columns={columnsOf(loaded.map(({ scan }) => scan))}
        rows={rows}
        idOf={({ fromKhz }) => fromKhz}
      />
    </>
  )
}

function columnsOf(scans: readonly ScanBody[]): readonly Column<TableRow>[] {
  return [
    {
      ...{ key: 'range', title: t('frequencies.scans.levels.mhz') },
      cell: ({ fromKhz, toKhz }) => t('frequencies.spectrum.range', { from: tickText(fromKhz), to: tickText(toKhz) }),
    },
    ...scans.map(({ id, name }, index): Column<TableRow> => {
      const title = plainText(name)
      const cell = ({ highest }: TableRow) => {
        const dbm = highest[index] ?? null
        return dbm === null ? t('parts.unknown') : formatDbm(dbm)
      }
      return { key: `scan-${id}`, title, align: 'end', cell }
    }),
  ]
}
