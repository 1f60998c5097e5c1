/** Columns of the audit log. */

import type { AuditBody } from '../../src/contract/resources/audit.ts'
import { type AuditAction, auditActions } from '../../src/contract/values.ts'
import { formatDateTime, plainText } from '../app/format.ts'
import { Ago } from '../parts/ago.tsx'
import type { Column } from '../parts/data-table.tsx'
import './audit.css'
import '../parts/records.css'
import { t } from '../app/i18n.ts'
import { detailText } from './audit-details.ts'

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
    cell: ({ action }) => <span title={action}>{isKnown(action) ? t(`audit.actions.${action}`) : action}</span>,
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

/** Whether the action is one of this version; the log may contain older ones. */
function isKnown(action: string): action is AuditAction {
  return (auditActions as readonly string[]).includes(action)
}

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
