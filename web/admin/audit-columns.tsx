/** What the audit log says of each deed. */

import type { AuditBody } from '../../src/model/people.ts'
import { formatMoment, plainText } from '../format.ts'
import { Ago } from '../parts/ago.tsx'
import type { Column } from '../parts/data-table.tsx'
import '../styles/audit.css'
import '../styles/records.css'
import { words } from '../words.ts'

const texts = words.audit

const tones = { ok: 'good', refused: 'waiting', failed: 'bad' } as const

export const auditColumns: readonly Column<AuditBody>[] = [
  {
    key: 'at',
    title: texts.columns.at,
    cell: ({ at }) => (
      <span className="stacked-cell">
        <span className="audit-when">{formatMoment(at)}</span>
        <small>
          <Ago at={at} />
        </small>
      </span>
    ),
  },
  {
    key: 'actor',
    title: texts.columns.actor,
    cell: ({ actor }) => (
      <span className="stacked-cell">
        <bdi>{plainText(actor.name)}</bdi>
        <small>
          {texts.kinds[actor.kind]}
          {actor.address === null ? null : ` ${texts.from(actor.address)}`}
        </small>
      </span>
    ),
  },
  { key: 'action', title: texts.columns.action, cell: ({ action }) => <code className="audit-action">{action}</code> },
  { key: 'target', title: texts.columns.target, cell: ({ target }) => <bdi>{plainText(target)}</bdi> },
  {
    key: 'result',
    title: texts.columns.result,
    cell: ({ result }) => (
      <span>
        <span className="tag" data-tone={tones[result]}>
          {texts.results[result]}
        </span>
      </span>
    ),
  },
  { key: 'details', title: texts.columns.details, cell: ({ details }) => <Details details={details} /> },
]

function Details({ details }: Pick<AuditBody, 'details'>) {
  const told = Object.entries(details)
  if (told.length === 0) return words.parts.unknown
  return (
    <ul className="audit-details">
      {told.map(([name, value]) => (
        <li key={name}>
          {name}: <bdi>{plainText(typeof value === 'string' ? value : JSON.stringify(value))}</bdi>
        </li>
      ))}
    </ul>
  )
}
