/** The systems Micwatch asks, and how. */

import { useState } from 'react'
import type { ManufacturerBody, PluginBody } from '../../src/model/manufacturer-api.ts'
import { isList, isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useSay } from '../parts/messages.tsx'
import { Shell } from '../parts/shell.tsx'
import { useReading } from '../reading.ts'
import { useMay } from '../session.ts'
import '../styles/manufacturers.css'
import '../styles/records.css'
import { t } from '../i18n.ts'
import { isEnabled, type ManufacturerDeeds, manufacturerColumns, nameOf } from './manufacturer-columns.tsx'
import { DisableQuestion, RemovalQuestion, TestDialog } from './manufacturer-dialogs.tsx'
import { ManufacturerForm, manufacturersPath } from './manufacturer-form.tsx'
import { ScanForm } from './scan-form.tsx'

const everyMs = 5_000

export function Manufacturers() {
  const reading = useReading(manufacturersPath, isList<ManufacturerBody>, everyMs)
  const plugins = useReading('/api/admin/plugins/', isList<PluginBody>).body ?? []
  return (
    <Shell page="manufacturers" title={t('manufacturers.title')} intro={t('manufacturers.intro')}>
      <Loaded reading={reading}>
        {(records) => <List records={records} plugins={plugins} onDone={reading.reload} />}
      </Loaded>
    </Shell>
  )
}

/** The record as it was when it was asked: what the page reads meanwhile must not change the question. */
type Asked =
  | { readonly deed: 'add' | 'scan' }
  | { readonly deed: 'edit' | 'test' | 'disable' | 'remove'; readonly record: ManufacturerBody }

interface ListProps {
  readonly records: readonly ManufacturerBody[]
  readonly plugins: readonly PluginBody[]
  onDone(): Promise<void>
}

function List({ records, plugins, onDone }: ListProps) {
  const mayAdminister = useMay('administer')
  const mayScan = useMay('operate')
  const [asked, setAsked] = useState<Asked | null>(null)
  const enable = useEnable(onDone)
  const deeds: ManufacturerDeeds = {
    edit: (record) => setAsked({ deed: 'edit', record }),
    test: (record) => setAsked({ deed: 'test', record }),
    remove: (record) => setAsked({ deed: 'remove', record }),
    toggle: (record) => (isEnabled(record) ? setAsked({ deed: 'disable', record }) : void enable(record)),
  }
  return (
    <>
      <div className="list-actions">
        {mayAdminister ? (
          <button
            type="button"
            className="choice"
            data-tone="usual"
            disabled={plugins.length === 0}
            onClick={() => setAsked({ deed: 'add' })}
          >
            {t('manufacturers.add')}
          </button>
        ) : (
          <p>{t('shell.requires.admin')}</p>
        )}
        {mayScan && records.length > 0 ? (
          <button type="button" className="choice" onClick={() => setAsked({ deed: 'scan' })}>
            {t('manufacturers.scan.text')}
          </button>
        ) : null}
      </div>
      {records.length > 0 ? (
        <DataTable
          caption={t('manufacturers.list')}
          columns={manufacturerColumns(mayAdminister ? deeds : null)}
          rows={records}
          idOf={({ code }) => code}
        />
      ) : (
        <Empty title={t('manufacturers.none')}>
          <p>{t('manufacturers.noneNext')}</p>
        </Empty>
      )}
      {asked === null ? null : (
        <AskedDialog asked={asked} records={records} plugins={plugins} onDone={onDone} onClose={() => setAsked(null)} />
      )}
    </>
  )
}

/** At once: there is nothing to lose by it. */
function useEnable(onDone: () => Promise<void>) {
  const { api } = useSurroundings()
  const say = useSay()
  return async (record: ManufacturerBody) => {
    const body = { api_enabled: true, ...(record.config.enabled === false && { config: { enabled: true } }) }
    const answer = await api.write('PATCH', `${manufacturersPath}${record.code}/`, body, isObject)
    await onDone()
    if (answer.ok) say({ text: t('manufacturers.enable.enabled', { name: nameOf(record) }) })
    else say({ text: answer.problem.detail, tone: 'alarm' })
  }
}

interface AskedDialogProps extends ListProps {
  readonly asked: Asked
  onClose(): void
}

function AskedDialog({ asked, records, plugins, onDone, onClose }: AskedDialogProps) {
  const say = useSay()
  const finish = (text: string) => {
    onClose()
    say({ text })
    void onDone()
  }
  switch (asked.deed) {
    case 'scan':
      return <ScanForm manufacturers={records} onClose={onClose} />
    case 'add':
    case 'edit': {
      const record = asked.deed === 'edit' ? asked.record : null
      const key = record === null ? 'manufacturers.added' : 'manufacturers.saved'
      return (
        <ManufacturerForm
          record={record}
          plugins={plugins}
          takenCodes={records.map(({ code }) => code)}
          onDone={(stored) => finish(t(key, { name: nameOf(stored) }))}
          onClose={onClose}
        />
      )
    }
    case 'test':
      return <TestDialog record={asked.record} onClose={onClose} />
    case 'disable':
      return <DisableQuestion record={asked.record} onDone={onDone} onClose={onClose} />
    case 'remove':
      return <RemovalQuestion record={asked.record} onDone={onDone} onClose={onClose} />
    default:
      return asked satisfies never
  }
}
