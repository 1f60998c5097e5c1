import { useMemo, useState, useSyncExternalStore } from 'react'
import { formatMhz } from '../../src/domain/frequencies/carrier.ts'
import { t } from '../app/i18n.ts'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'
import type { ShownCarrier } from './carriers.ts'
import type { SpectrumControl } from './control.ts'
import { type NearProduct, nearestProducts } from './layout.ts'

/** The nearest ones are listed. */
const maxRows = 100

interface ProductTableProps {
  readonly control: SpectrumControl
  readonly products: Int32Array
  /** By frequency. */
  readonly carriers: readonly ShownCarrier[]
}

/** The products in the spectrum as a table. */
export function ProductTable(props: ProductTableProps) {
  const [isOpen, setOpen] = useState(false)
  if (props.products.length === 0) return null
  return (
    <details
      className="frequencies-section scan-levels screen-only"
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{t('frequencies.products.title')}</summary>
      {isOpen ? <Rows {...props} /> : null}
    </details>
  )
}

function Rows({ control, products, carriers }: ProductTableProps) {
  const span = useSyncExternalStore(control.subscribe, () => control.span)
  // Levels change often, frequencies seldom.
  const frequencies = carriers.map(({ khz }) => khz).join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: `frequencies` contains everything that is used of `carriers`.
  const found = useMemo(
    () =>
      nearestProducts(
        products,
        carriers.map(({ khz }) => khz),
        span,
      ),
    [products, frequencies, span],
  )
  if (found.length === 0) return <p className="box-note">{t('frequencies.products.none')}</p>
  const columns: readonly Column<NearProduct>[] = [
    { key: 'mhz', title: t('frequencies.products.mhz'), align: 'end', cell: ({ khz }) => formatMhz(khz) },
    { key: 'carrier', title: t('frequencies.products.carrier'), cell: ({ carrier }) => carriers[carrier]?.label ?? '' },
    {
      ...{ key: 'distance', title: t('frequencies.products.distance'), align: 'end' },
      cell: ({ distanceKhz }) => String(distanceKhz),
    },
  ]
  return (
    <>
      <p className="box-note">{t('frequencies.products.hint', { count: found.length, listed: maxRows })}</p>
      <DataTable
        caption={t('frequencies.products.title')}
        columns={columns}
        rows={found.slice(0, maxRows)}
        idOf={({ khz }) => khz}
      />
    </>
  )
}
