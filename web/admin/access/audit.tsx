import type { AuditBody } from '../../../src/contract/access.ts'
import { type AuditAction, auditActions, auditResults } from '../../../src/contract/values.ts'
import { formatDateTime, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { usePaged } from '../../app/paged.ts'
import type { Filter } from '../../app/query.ts'
import { Shell } from '../../app/shell.tsx'
import { actionName } from '../../parts/action-name.ts'
import { Ago } from '../../parts/age.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { PagedList } from '../../parts/tables/paged-list.tsx'
import './audit.css'
import '../../parts/tables/records.css'

/** No message announces a change of this list. */
const topics = [] as const
const texts = { none: t('audit.none'), noMatch: t('audit.noMatch') }

const families = [...new Set(auditActions.map(familyOf))].map((family) => ({
  value: family === 'setup' || family === 'undo' ? family : `${family}.`,
  text: t(`audit.families.${family}`),
}))

const filters: readonly Filter[] = [
  { name: 'action', label: t('audit.filters.action'), kind: 'choice', options: families },
  { name: 'actor', label: t('audit.filters.actor'), kind: 'text' },
  {
    name: 'result',
    label: t('audit.filters.result'),
    kind: 'choice',
    options: auditResults.map((value) => ({ value, text: t(`audit.results.${value}`) })),
  },
  { name: 'after', label: t('audit.filters.after'), kind: 'day' },
  { name: 'before', label: t('audit.filters.before'), kind: 'day' },
]

export function Audit() {
  const resource = usePaged('/api/admin/audit/', filters, topics)
  return (
    <Shell title={t('audit.title')} intro={t('audit.intro')}>
      <PagedList {...{ resource, filters, texts }}>
        {(entries) => (
          <DataTable caption={t('audit.list')} columns={auditColumns} rows={entries} idOf={({ id }) => id} />
        )}
      </PagedList>
    </Shell>
  )
}

type Family = AuditAction extends infer Action ? (Action extends `${infer Noun}.${string}` ? Noun : Action) : never

function familyOf(action: AuditAction): Family {
  return action.split('.')[0] as Family
}

const tones = { ok: 'good', refused: 'waiting', failed: 'bad' } as const

export const auditColumns: readonly Column<AuditBody>[] = [
  {
    key: 'at',
    title: t('audit.columns.at'),
    cell: ({ at, count, last_at }) => (
      <span className="stacked">
        <span className="audit-when">{formatDateTime(at)}</span>
        <small>
          <Ago at={at} />
        </small>
        {last_at === null ? null : (
          <small>{t('audit.repeated', { times: count, time: formatDateTime(last_at) })}</small>
        )}
      </span>
    ),
  },
  {
    key: 'actor',
    title: t('audit.columns.actor'),
    cell: ({ actor }) => (
      <span className="stacked">
        <bdi>{plainText(actor.name)}</bdi>
        <small>
          {t(`audit.kinds.${actor.kind}`)}
          {actor.address === null ? null : ` ${t('audit.from', { address: actor.address })}`}
        </small>
      </span>
    ),
  },
  {
    key: 'action',
    title: t('audit.columns.action'),
    cell: ({ action }) => <span title={action}>{actionName(action)}</span>,
  },
  { key: 'target', title: t('audit.columns.target'), cell: ({ target }) => <bdi>{plainText(target)}</bdi> },
  {
    key: 'result',
    title: t('audit.columns.result'),
    cell: ({ result }) => (
      <span>
        <span className="tag" data-tone={tones[result]}>
          {t(`audit.results.${result}`)}
        </span>
      </span>
    ),
  },
  { key: 'details', title: t('audit.columns.details'), cell: ({ details }) => <Details details={details} /> },
]

function Details({ details }: Pick<AuditBody, 'details'>) {
  const text = Object.entries(details).filter(([, value]) => value !== null)
  if (text.length === 0) return t('parts.unknown')
  return (
    <ul className="audit-details">
      {text.map(([name, value]) => (
        <li key={name}>
          {name}: <bdi>{plainText(detailText(value))}</bdi>
        </li>
      ))}
    </ul>
  )
}

const isoTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Times in the format of the page, lists without JSON punctuation. */
export function detailText(value: unknown): string {
  if (Array.isArray(value)) return value.map(detailText).join(', ')
  if (typeof value !== 'string') return JSON.stringify(value)
  return isoTime.test(value) ? formatDateTime(value) : value
}
