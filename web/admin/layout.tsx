/** Which receiver stands where. */

import { useState } from 'react'
import type { HardwareLayout } from '../../src/model/location.ts'
import { isObject } from '../api.ts'
import { narrow, placesOf, receiversOf, type Standing } from '../layout.ts'
import type { Tally } from '../one-by-one.ts'
import { BulkBar } from '../parts/bulk-bar.tsx'
import { Empty } from '../parts/empty.tsx'
import { FilterBar } from '../parts/filter-bar.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Outcome } from '../parts/outcome.tsx'
import { Shell } from '../parts/shell.tsx'
import { type Filter, filterValues, queryOf, useSearch, type Values } from '../query.ts'
import { useReading } from '../reading.ts'
import { useSelection } from '../selection.ts'
import { useMay } from '../session.ts'
import '../styles/layout.css'
import { t } from '../i18n.ts'
import { useManufacturerFilter, yesOrNo } from './filters.ts'
import { type Asked, LayoutDialog } from './layout-dialog.tsx'
import { type LayoutDeeds, Nowhere, PlaceBox } from './layout-place.tsx'

const everyMs = 5_000

export function Layout() {
  const manufacturer = useManufacturerFilter()
  const filters: readonly Filter[] = [
    manufacturer,
    { name: 'heard', label: t('layout.filters.online'), kind: 'choice', options: yesOrNo },
    { name: 'search', label: t('layout.filters.search'), kind: 'text' },
  ]
  const [search] = useSearch()
  const values = filterValues(filters, search)
  const query = queryOf([manufacturer], values)
  const reading = useReading(
    `/api/admin/hardware-layout/${query === '' ? '' : `?${query}`}`,
    isObject<HardwareLayout>,
    everyMs,
  )
  return (
    <Shell page="layout" title={t('layout.title')} intro={t('layout.intro')}>
      <FilterBar filters={filters} />
      <Loaded reading={reading}>
        {(layout) => <House layout={layout} values={values} filters={filters} onDone={reading.reload} />}
      </Loaded>
    </Shell>
  )
}

interface HouseProps {
  readonly layout: HardwareLayout
  readonly values: Values
  readonly filters: readonly Filter[]
  onDone(): Promise<void>
}

function House({ layout, values, filters, onDone }: HouseProps) {
  const isActive = values.heard === undefined ? undefined : values.heard === 'true'
  const shown = narrow(layout, { search: values.search, isActive })
  const standing = receiversOf(shown)
  const selection = useSelection(standing.map(({ receiver }) => receiver.id))
  const mayReview = useMay('review')
  const [asked, setAsked] = useState<Asked | null>(null)
  const [failed, setFailed] = useState<Tally['failed']>([])
  const chosen = standing.filter(({ receiver }) => selection.has(receiver.id))
  const deeds: LayoutDeeds | null = mayReview ? deedsOf(setAsked) : null
  const report = (tally: Tally) => {
    setFailed(tally.failed)
    selection.clear()
  }
  return (
    <>
      <p className="count" role="status">
        {shown.unplaced.length === 0
          ? t('layout.count', { count: standing.length })
          : t('layout.countUnplaced', { count: standing.length, unplaced: shown.unplaced.length })}
      </p>
      {standing.length === 0 ? null : (
        <BulkBar selection={selection}>
          {mayReview ? <Deeds chosen={chosen} onAsk={setAsked} /> : t('shell.requires.admin')}
        </BulkBar>
      )}
      <Outcome failed={failed} onDismiss={() => setFailed([])} />
      <Nowhere receivers={shown.unplaced} selection={selection} deeds={deeds} />
      {shown.locations.map((location) => (
        <PlaceBox key={location.id} location={location} parent={null} selection={selection} deeds={deeds} />
      ))}
      {standing.length > 0 || shown.locations.length > 0 ? null : (
        <Empty title={Object.keys(values).length > 0 ? t('layout.noMatch') : t('layout.none')} filters={filters}>
          <p>{t('layout.noneNext')}</p>
        </Empty>
      )}
      {deeds === null ? null : (
        <p>
          <button type="button" className="choice" data-tone="usual" onClick={() => deeds.addPlace(null)}>
            {t('layout.add')}
          </button>
        </p>
      )}
      {asked === null ? null : (
        <LayoutDialog
          asked={asked}
          places={placesOf(layout)}
          onReport={report}
          onDone={onDone}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  )
}

function deedsOf(ask: (asked: Asked) => void): LayoutDeeds {
  return {
    editReceiver: (receiver, place) => ask({ deed: 'edit_receiver', receiver, place }),
    addPlace: (parent) => ask({ deed: 'edit_place', location: null, parent }),
    editPlace: (location, parent) => ask({ deed: 'edit_place', location, parent }),
    removePlace: (location) => ask({ deed: 'remove_place', location }),
  }
}

function Deeds({ chosen, onAsk }: { chosen: readonly Standing[]; onAsk: (asked: Asked) => void }) {
  const button = (deed: 'move' | 'remove', text: string) => (
    <button
      type="button"
      className="choice"
      disabled={chosen.length === 0}
      onClick={() => onAsk({ deed, receivers: chosen })}
    >
      {chosen.length === 0 ? text : t('parts.list.withCount', { action: text, count: chosen.length })}
    </button>
  )
  return (
    <>
      {button('move', t('layout.move.text'))}
      {button('remove', t('layout.removal.text'))}
    </>
  )
}
