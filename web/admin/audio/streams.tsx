import { useState } from 'react'
import type { AudioSearchBody, AudioStreamBody } from '../../../src/contract/audio-streams.ts'
import { useServices } from '../../app/context.ts'
import { formatList, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useSearch } from '../../app/query.ts'
import { useResource } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { Ago } from '../../parts/age.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import '../../parts/boxes.css'
import '../../parts/tables/records.css'
import { StreamDialog, type StreamQuestion } from './stream-dialogs.tsx'
import { StreamItem } from './stream-item.tsx'
import './streams.css'

/** No message announces a change of these lists. */
const topics = [] as const
const refreshMs = 2000
const searchRefreshMs = 5000

export function Streams() {
  const search = useResource('/api/audio/search/', 'object', topics, searchRefreshMs)
  const streams = useResource('/api/audio/streams/', 'list', topics, refreshMs)
  return (
    <Shell title={t('streams.title')} intro={t('streams.intro')}>
      <Loaded resource={search}>
        {(search) => (
          <>
            {search.listening ? null : <ListeningOff />}
            <Loaded resource={streams}>
              {(list) => <StreamList streams={list} search={search} onDone={streams.reload} />}
            </Loaded>
            <Search search={search} />
          </>
        )}
      </Loaded>
    </Shell>
  )
}

const listeningLines = `listening: true
audio:
  interfaces: [eth1]`

const searchLines = `audio:
  interfaces: [eth1]`

function ListeningOff() {
  return (
    <section className="box" data-tone="waiting">
      <h2>{t('streams.off.title')}</h2>
      <p>{t('streams.off.next')}</p>
      <pre className="file-lines">{listeningLines}</pre>
      <p>{t('streams.off.permission')}</p>
      <Guide />
    </section>
  )
}

function Guide() {
  const { mount } = useServices()
  return <a href={`${mount}/help/listening.html`}>{t('streams.guide')}</a>
}

interface StreamListProps {
  readonly streams: readonly AudioStreamBody[]
  readonly search: AudioSearchBody
  /** Called after a change. */
  onDone(): Promise<void>
}

function StreamList({ streams, search, onDone }: StreamListProps) {
  const mayAdminister = useMay('administer')
  const [query, change] = useSearch()
  const open = Number(new URLSearchParams(query).get('stream'))
  const [dialog, setDialog] = useState<StreamQuestion | null>(null)
  return (
    <>
      <div className="list-actions">
        <button
          type="button"
          className="choice"
          data-tone="usual"
          disabled={!mayAdminister}
          onClick={() => setDialog({ kind: 'add' })}
        >
          {t('streams.add')}
        </button>
        {mayAdminister ? null : <span className="hint">{t('shell.requires.admin')}</span>}
      </div>
      {streams.length === 0 ? (
        <NoStreams search={search} />
      ) : (
        <ul className="streams" aria-label={t('streams.title')}>
          {streams.map((stream) => (
            <StreamItem
              key={stream.id}
              stream={stream}
              isOpen={stream.id === open}
              onToggle={() => change({ stream: stream.id === open ? null : String(stream.id) })}
              onAsk={mayAdminister ? setDialog : null}
            />
          ))}
        </ul>
      )}
      {dialog === null ? null : <StreamDialog question={dialog} onDone={onDone} onClose={() => setDialog(null)} />}
    </>
  )
}

function NoStreams({ search: { searching, interfaces } }: { search: AudioSearchBody }) {
  if (!searching) {
    return (
      <Empty title={t('streams.notSought.title')}>
        <p>{t('streams.notSought.next')}</p>
        <pre className="file-lines">{searchLines}</pre>
        <Guide />
      </Empty>
    )
  }
  return (
    <Empty title={t('streams.none.title')}>
      <p>{t('streams.none.next')}</p>
      <ul className="stream-checks">
        <li>{t('streams.none.sender')}</li>
        <li>{t('streams.none.interface', { interfaces: interfacesText(interfaces) })}</li>
        <li>{t('streams.none.igmp')}</li>
        <li>{t('streams.none.unicast')}</li>
      </ul>
      <Guide />
    </Empty>
  )
}

function interfacesText(interfaces: AudioSearchBody['interfaces']): string {
  if (interfaces.length === 0) return t('streams.noInterface')
  return formatList(interfaces.map(({ name, address }) => `${plainText(name)} (${address})`))
}

type Problem = AudioSearchBody['problems'][number]

const columns: readonly Column<Problem>[] = [
  { key: 'source', title: t('streams.columns.source'), cell: ({ source }) => t(`streams.sources.${source}`) },
  { key: 'address', title: t('streams.columns.address'), cell: ({ address }) => <bdi>{plainText(address)}</bdi> },
  { key: 'error', title: t('streams.columns.error'), cell: ({ error }) => <bdi>{plainText(error)}</bdi> },
  { key: 'count', title: t('streams.columns.count'), align: 'end', cell: ({ count }) => count },
  { key: 'at', title: t('streams.columns.last'), cell: ({ at }) => <Ago at={at} /> },
]

/** Where streams are sought, and what cannot be used. */
function Search({ search }: { search: AudioSearchBody }) {
  const { searching, interfaces, received, discarded, found, most_found, problems } = search
  if (!searching) return null
  return (
    <section className="overview-section">
      <h2>{t('streams.search')}</h2>
      <p>{t('streams.sought', { interfaces: interfacesText(interfaces), count: received })}</p>
      {discarded === 0 ? null : <p role="alert">{t('streams.flood', { count: discarded })}</p>}
      {found < most_found ? null : <p role="alert">{t('streams.full', { count: most_found })}</p>}
      {problems.length === 0 ? null : (
        <DataTable
          caption={t('streams.problems')}
          columns={columns}
          rows={problems}
          idOf={({ source, address, error }) => `${source} ${address} ${error}`}
        />
      )}
    </section>
  )
}
