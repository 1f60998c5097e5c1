/** Alerts that are not cleared come from the live state, cleared ones from the service, page by page. */

import '../parts/alerts/alerts.css'
import { BellOff, Volume2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { alertKinds } from '../../src/contract/alert-kinds.ts'
import type { AlertBody } from '../../src/contract/alerts.ts'
import { useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { pageSize, usePaged } from '../app/paged.ts'
import { type Filter, useSearch, valuesInForce } from '../app/query.ts'
import { useSelection } from '../app/selection.ts'
import { useMay } from '../app/session.ts'
import { AlertItem } from '../parts/alerts/alert-item.tsx'
import { alertLine } from '../parts/alerts/alert-text.ts'
import { canRespond, isOpen, newestFirst } from '../parts/alerts/alerts.ts'
import { NoteDialog, SilenceDialog, SnoozeDialog } from '../parts/alerts/dialogs.ts'
import { useAlertResponses } from '../parts/alerts/use-alert-responses.ts'
import { LivePhase } from '../parts/card/phase.tsx'
import { Empty } from '../parts/empty.tsx'
import { ChoiceButtons } from '../parts/forms/choice.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { BulkBar } from '../parts/tables/bulk-actions.tsx'
import { RowBox } from '../parts/tables/data-table.tsx'
import { FilterBar } from '../parts/tables/filter-bar.tsx'
import { Pager } from '../parts/tables/paged-list.tsx'
import { useRegion } from '../parts/use-region.ts'
import { AlarmDialog } from './alarm-dialog.tsx'
import { Silences } from './silences.tsx'

const tabs = ['open', 'acknowledged', 'cleared'] as const
type Tab = (typeof tabs)[number]

const stateFilter: Filter = {
  ...{ name: 'state', label: t('alerts.filters.state'), kind: 'choice', usual: 'open' },
  options: tabs.map((value) => ({ value, text: t(`alerts.tabs.${value}`) })),
}
const kindFilter: Filter = {
  ...{ name: 'kind', label: t('alerts.filters.kind'), kind: 'choice' },
  options: alertKinds.map((value) => ({ value, text: t(`alerts.kinds.${value}`) })),
}

export function Alerts() {
  usePageTitle(t('alerts.title'))
  const mayOperate = useMay('operate')
  const [dialog, setDialog] = useState<'silence' | 'sound' | null>(null)
  const close = () => setDialog(null)
  return (
    <main className="content alerts-page" id="content" tabIndex={-1}>
      <header className="alerts-head">
        <h1>{t('alerts.title')}</h1>
        {mayOperate ? (
          <button
            type="button"
            className="choice"
            aria-label={t('alerts.silence.new')}
            onClick={() => setDialog('silence')}
          >
            <BellOff className="icon" aria-hidden="true" />
            <span className="choice-text">{t('alerts.silence.new')}</span>
          </button>
        ) : null}
        <button type="button" className="choice" aria-label={t('sound.settings')} onClick={() => setDialog('sound')}>
          <Volume2 className="icon" aria-hidden="true" />
          <span className="choice-text">{t('sound.settings')}</span>
        </button>
      </header>
      {mayOperate ? null : <p className="intro">{t('alerts.viewer')}</p>}
      <LivePhase>
        <AlertLists />
      </LivePhase>
      {dialog === 'silence' ? <SilenceDialog onClose={close} /> : null}
      {dialog === 'sound' ? <AlarmDialog onClose={close} /> : null}
    </main>
  )
}

const channelFilter: Filter = { name: 'channel', label: t('alerts.filters.channel'), kind: 'channel' }
const filters = [kindFilter, channelFilter]

function AlertLists() {
  const [search] = useSearch()
  const { state, kind, channel } = valuesInForce([stateFilter, ...filters], search)
  const tab = tabs.find((name) => name === state) ?? 'open'
  const matches = (alert: AlertBody) =>
    (kind === undefined || alert.kind === kind) && (channel === undefined || String(alert.channel_id) === channel)
  return (
    <>
      <Silences />
      <div className="alerts-bar">
        <Tabs tab={tab} />
        <FilterBar filters={filters} />
      </div>
      {tab === 'cleared' ? (
        <Cleared filters={filters} />
      ) : (
        <NotCleared key={tab} tab={tab} matches={matches} filters={filters} />
      )}
    </>
  )
}

function Tabs({ tab }: { tab: Tab }) {
  const [, change] = useSearch()
  const alerts = useWatchState((watchState) => watchState.alerts)
  const open = alerts.filter(isOpen).length
  const counts: Partial<Record<Tab, number>> = { open, acknowledged: alerts.length - open }
  return (
    <nav className="tabs" aria-label={t('alerts.filters.state')}>
      <ChoiceButtons
        value={tab}
        values={tabs}
        nameOf={(name) => (
          <>
            {t(`alerts.tabs.${name}`)}
            {counts[name] === undefined ? null : <span className="tab-count">{counts[name]}</span>}
          </>
        )}
        onChoice={(name) => change({ state: name === 'open' ? null : name, page: null })}
      />
    </nav>
  )
}

interface NotClearedProps {
  readonly tab: 'open' | 'acknowledged'
  readonly filters: readonly Filter[]
  matches(alert: AlertBody): boolean
}

function NotCleared({ tab, filters, matches }: NotClearedProps) {
  const all = useWatchState((watchState) => watchState.alerts)
  const mayOperate = useMay('operate')
  const alerts = all.filter((alert) => isOpen(alert) === (tab === 'open') && matches(alert)).toSorted(newestFirst)
  const selectable = alerts.filter(canRespond)
  const selection = useSelection(selectable.map(({ id }) => id))
  const canSelect = mayOperate && tab === 'open' && selectable.length > 1
  if (alerts.length === 0) return <NoAlerts tab={tab} filters={filters} />
  return (
    <>
      {canSelect ? (
        <BulkBar selection={selection}>
          <Responses alerts={selectable.filter(({ id }) => selection.has(id))} onDone={selection.clear} />
        </BulkBar>
      ) : null}
      <List tab={tab}>
        {alerts.map((alert) => (
          <AlertItem
            key={alert.id}
            alert={alert}
            box={
              canSelect && canRespond(alert) ? (
                <RowBox id={alert.id} selection={selection} name={alertLine(alert)} />
              ) : null
            }
          />
        ))}
      </List>
    </>
  )
}

function Responses({ alerts, onDone }: { alerts: readonly AlertBody[]; onDone: () => void }) {
  const { isSending, acknowledge } = useAlertResponses()
  const [dialog, setDialog] = useState<{ name: 'note' | 'snooze'; alerts: readonly AlertBody[] } | null>(null)
  const count = alerts.length
  const isDisabled = count === 0 || isSending
  const press = async () => {
    if (await acknowledge(alerts)) onDone()
  }
  const close = () => {
    setDialog(null)
    onDone()
  }
  const withCount = (action: string) => (count === 0 ? action : t('parts.list.withCount', { action, count }))
  return (
    <>
      <button type="button" className="choice" data-tone="usual" disabled={isDisabled} onClick={press}>
        {withCount(t('alerts.acknowledge.action'))}
      </button>
      {(['note', 'snooze'] as const).map((name) => (
        <button
          key={name}
          type="button"
          className="choice"
          disabled={isDisabled}
          onClick={() => setDialog({ name, alerts })}
        >
          {t(`alerts.actions.${name}`)}
        </button>
      ))}
      {dialog?.name === 'note' ? <NoteDialog alerts={dialog.alerts} onClose={close} /> : null}
      {dialog?.name === 'snooze' ? <SnoozeDialog alerts={dialog.alerts} onClose={close} /> : null}
    </>
  )
}

function Cleared({ filters }: { filters: readonly Filter[] }) {
  const resource = usePaged('/api/alerts/', [stateFilter, ...filters], ['alert'])
  return (
    <Loaded resource={resource}>
      {({ count, results }) =>
        count === 0 ? (
          <NoAlerts tab="cleared" filters={filters} />
        ) : (
          <>
            <List tab="cleared">
              {results.map((alert) => (
                <AlertItem key={alert.id} alert={alert} />
              ))}
            </List>
            <Pager count={count} shown={results.length} size={pageSize} />
          </>
        )
      }
    </Loaded>
  )
}

function List({ tab, children }: { tab: Tab; children: ReactNode }) {
  const region = useRegion<HTMLUListElement>()
  return (
    <section aria-label={t(`alerts.tabs.${tab}`)}>
      <h2 className="visually-hidden">{t(`alerts.tabs.${tab}`)}</h2>
      <ul className="alert-list" ref={region}>
        {children}
      </ul>
    </section>
  )
}

function NoAlerts({ tab, filters }: { tab: Tab; filters: readonly Filter[] }) {
  return (
    <Empty title={t(`alerts.empty.${tab}.title`)} filters={filters}>
      <p>{t(`alerts.empty.${tab}.next`)}</p>
    </Empty>
  )
}
