import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { HardwareLayout } from '../../../src/contract/locations.ts'
import { pathOf } from '../../../src/domain/pages.ts'
import { type Filter, filterValues, queryOf, useSearch, type Values } from '../../app/query.ts'
import { useResource } from '../../app/resource.ts'
import { useSelection } from '../../app/selection.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { BulkBar, Outcome } from '../../parts/tables/bulk-actions.tsx'
import { FilterBar } from '../../parts/tables/filter-bar.tsx'
import type { BulkResult } from '../../parts/tables/run-for-each.ts'
import { filterLayout, locationOptions, type PlacedReceiver, receiversOf } from './layout.ts'
import '../../parts/tables/records.css'
import { useWatchState } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { AlertItem } from '../../parts/alerts/alert-item.tsx'
import { mostUrgentFirst } from '../../parts/alerts/alerts.ts'
import { useManufacturerFilter, yesOrNo } from '../filters.ts'
import { type DialogState, LayoutDialog } from './layout-dialog.tsx'
import { type LayoutActions, LocationBox, Unplaced } from './layout-location.tsx'

const topics = ['receiver', 'receiver_added', 'receiver_removed', 'alert'] as const

export function Layout() {
  const manufacturer = useManufacturerFilter()
  const filters: readonly Filter[] = [
    manufacturer,
    { name: 'online', label: t('layout.filters.online'), kind: 'choice', options: yesOrNo },
    { name: 'search', label: t('layout.filters.search'), kind: 'text' },
  ]
  const [search] = useSearch()
  const values = filterValues(filters, search)
  const query = queryOf([manufacturer], values)
  const resource = useResource(
    query === '' ? '/api/admin/hardware-layout/' : `/api/admin/hardware-layout/?${query}`,
    'object',
    topics,
  )
  return (
    <Shell title={t('layout.title')} intro={t('layout.intro')}>
      <EquipmentAlerts />
      <FilterBar filters={filters} />
      <Loaded resource={resource}>
        {(layout) => <LayoutView layout={layout} values={values} filters={filters} onDone={resource.reload} />}
      </Loaded>
    </Shell>
  )
}

interface LayoutViewProps {
  readonly layout: HardwareLayout
  readonly values: Values
  readonly filters: readonly Filter[]
  onDone(): Promise<void>
}

function LayoutView({ layout, values, filters, onDone }: LayoutViewProps) {
  const isActive = values.online === undefined ? undefined : values.online === 'true'
  const slotRecords = useWatchState((watchState) => watchState.slotRecords)
  const shown = filterLayout(layout, { search: values.search, isActive, slotRecords })
  const receivers = receiversOf(shown)
  const selection = useSelection(receivers.map(({ receiver }) => receiver.id))
  const mayReview = useMay('review')
  const mayFind = useMay('operate')
  const [dialog, setDialog] = useState<DialogState | null>(null)
  const [failed, setFailed] = useState<BulkResult['failed']>([])
  const chosen = receivers.filter(({ receiver }) => selection.has(receiver.id))
  const actions: LayoutActions | null = mayReview ? actionsOf(setDialog) : null
  const report = (result: BulkResult) => {
    setFailed(result.failed)
    selection.clear()
  }
  return (
    <>
      {actions === null ? null : (
        <div className="list-actions">
          <button type="button" className="choice" data-tone="usual" onClick={() => actions.addLocation(null)}>
            {t('layout.add')}
          </button>
        </div>
      )}
      <p className="count" role="status">
        {shown.unplaced.length === 0
          ? t('layout.count', { count: receivers.length })
          : t('layout.countUnplaced', { count: receivers.length, unplaced: shown.unplaced.length })}
      </p>
      {receivers.length === 0 ? null : (
        <BulkBar selection={selection}>
          {mayReview ? <BulkButtons chosen={chosen} onAsk={setDialog} /> : t('shell.requires.admin')}
        </BulkBar>
      )}
      <Outcome failed={failed} onDismiss={() => setFailed([])} />
      <Unplaced
        receivers={shown.unplaced}
        hasLocations={layout.locations.length > 0}
        selection={selection}
        actions={actions}
      />
      {shown.locations.map((location) => (
        <LocationBox key={location.id} location={location} parent={null} selection={selection} actions={actions} />
      ))}
      {receivers.length > 0 || shown.locations.length > 0 ? null : (
        <Empty title={Object.keys(values).length > 0 ? t('layout.noMatch') : t('layout.none')} filters={filters}>
          <p>{t('layout.noneNext')}</p>
          {mayFind ? (
            <Link className="action" to={pathOf('find')}>
              {t('shell.pages.find.title')}
            </Link>
          ) : null}
        </Empty>
      )}
      {dialog === null ? null : (
        <LayoutDialog
          dialog={dialog}
          locationOptions={locationOptions(layout)}
          onReport={report}
          onDone={onDone}
          onClose={() => setDialog(null)}
        />
      )}
    </>
  )
}

function actionsOf(ask: (dialog: DialogState) => void): LayoutActions {
  return {
    editReceiver: (receiver, locationId) => ask({ kind: 'edit_receiver', receiver, locationId }),
    addLocation: (parent) => ask({ kind: 'edit_location', location: null, parent }),
    editLocation: (location, parent) => ask({ kind: 'edit_location', location, parent }),
    removeLocation: (location) => ask({ kind: 'remove_location', location }),
  }
}

function BulkButtons({ chosen, onAsk }: { chosen: readonly PlacedReceiver[]; onAsk: (dialog: DialogState) => void }) {
  const button = (kind: 'move' | 'remove', text: string) => (
    <button
      type="button"
      className="choice"
      disabled={chosen.length === 0}
      onClick={() => onAsk({ kind, receivers: chosen })}
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

export function EquipmentAlerts() {
  const all = useWatchState((watchState) => watchState.alerts)
  const alerts = all
    .filter(({ kind }) => kind === 'charger_fault' || kind === 'equipment_fault')
    .toSorted(mostUrgentFirst)
  if (alerts.length === 0) return null
  return (
    <section aria-labelledby="equipment-alerts">
      <h2 id="equipment-alerts">{t('layout.equipmentAlerts')}</h2>
      <ul className="alert-list">
        {alerts.map((alert) => (
          <AlertItem key={alert.id} alert={alert} />
        ))}
      </ul>
    </section>
  )
}
