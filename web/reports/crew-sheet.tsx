import { useSearch } from '@tanstack/react-router'
import type { CrewSheet as CrewSheetBody } from '../../src/contract/reports.ts'
import { formatMegahertz, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { Empty } from '../parts/empty.tsx'
import { Loaded } from '../parts/loaded.tsx'
import type { DocumentTimes } from './document.tsx'
import { DocumentPage, type PaperColumn, PaperTable } from './document.tsx'

type Row = CrewSheetBody['rows'][number]

const columns: readonly PaperColumn<Row>[] = [
  { key: 'slot', title: t('crewSheet.columns.slot'), isNumber: true, cell: ({ slot }) => slot },
  { key: 'name', title: t('crewSheet.columns.name'), cell: ({ name }) => <bdi>{plainText(name)}</bdi> },
  { key: 'role', title: t('crewSheet.columns.role'), cell: ({ role }) => <bdi>{plainText(role)}</bdi> },
  { key: 'pack', title: t('crewSheet.columns.pack'), cell: ({ pack }) => <bdi>{plainText(pack)}</bdi> },
  {
    ...{ key: 'frequency', title: t('crewSheet.columns.frequency'), isNumber: true },
    cell: ({ frequency }) => (frequency === '' ? '' : formatMegahertz(frequency)),
  },
  { key: 'group', title: t('crewSheet.columns.group'), cell: ({ groups }) => plainText(groups.join('; ')) },
]

const topics = ['assignments', 'performers', 'placeholders', 'groups', 'slots', 'show'] as const

export function CrewSheet() {
  const { show } = useSearch({ strict: false }) as { readonly show?: string | number }
  const query = show === undefined ? '' : (`?${new URLSearchParams({ show: String(show) })}` as const)
  const sheet = useResource(`/api/crew-sheet/${query}`, 'object', topics)
  return (
    <DocumentPage title={t('crewSheet.title')} csv={`/api/crew-sheet.csv${query}`}>
      {(times) => <Loaded resource={sheet}>{(body) => <Sheet sheet={body} times={times} />}</Loaded>}
    </DocumentPage>
  )
}

function Sheet({ sheet: { show, rows }, times }: { sheet: CrewSheetBody; times: DocumentTimes }) {
  const start = show?.started_at ?? show?.starts_at ?? null
  return (
    <>
      <header className="document-heading">
        <h1>{show === null ? t('crewSheet.title') : t('crewSheet.titleOf', { title: plainText(show.title) })}</h1>
        {start === null ? null : <p>{`${times.date(start)} · ${times.clock(start)}`}</p>}
      </header>
      {rows.length === 0 ? (
        <Empty title={t('crewSheet.empty')}>
          <p>{show === null ? t('crewSheet.emptyNext') : t('crewSheet.emptyShowNext')}</p>
        </Empty>
      ) : (
        <PaperTable title={t('crewSheet.title')} columns={columns} rows={rows} idOf={({ slot }) => slot} />
      )}
    </>
  )
}
