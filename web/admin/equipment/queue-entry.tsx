import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ExistingDevice, QueueEntryBody } from '../../../src/contract/discovery.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import type { Selection } from '../../app/selection.ts'
import { Ago } from '../../parts/age.tsx'
import { ManufacturerName } from '../../parts/equipment/manufacturer-names.tsx'
import { RowBox } from '../../parts/tables/data-table.tsx'

interface EntryProps {
  readonly entry: QueueEntryBody
  readonly selection: Selection
}

export function Entry({ entry, selection }: EntryProps) {
  const { id, existing } = entry
  const device = plainText(entry.name ?? entry.serial_number ?? entry.api_device_id) || t('queue.unnamed')
  const known = existing === null ? t('queue.deletedReceiver') : plainText(existing.name)
  return (
    <li className="entry" data-selected={selection.has(id) || undefined}>
      <header className="entry-head">
        <RowBox id={id} name={t('queue.name', { id, device })} selection={selection} />
        <h2>
          <bdi>{device}</bdi>
        </h2>
        <span className="entry-id">{t('queue.entry', { id })}</span>
        <span className="tag" data-tone={tones[entry.status]}>
          {t(`queue.statuses.${entry.status}`)}
        </span>
        <span className="entry-found">
          {t('queue.found')} <Ago at={entry.discovered_at} />
        </span>
      </header>
      <p>
        <strong>{t(`queue.conflicts.${entry.conflict_type}.title`)}.</strong>{' '}
        <bdi>{t(`queue.conflicts.${entry.conflict_type}.description`, { known })}</bdi>
      </p>
      <Comparison entry={entry} />
      <Decision entry={entry} />
      <details>
        <summary>{t('queue.metadata')}</summary>
        <pre className="metadata">{plainJson(entry.metadata)}</pre>
      </details>
    </li>
  )
}

const tones = { pending: 'waiting', approved: 'good', imported: 'good', rejected: 'bad', duplicate: 'calm' } as const

const fields = ['name', 'manufacturer', 'serial_number', 'mac_address', 'ip', 'model', 'api_device_id'] as const

function Comparison({ entry }: { entry: QueueEntryBody }) {
  const { existing } = entry
  return (
    <table className="comparison">
      <caption className="visually-hidden">{t('queue.comparison', { id: entry.id })}</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">{t('queue.foundDevice')}</th>
          <th scope="col">{entry.status === 'imported' ? t('queue.createdReceiver') : t('queue.knownDevice')}</th>
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <Row
            key={field}
            title={t(`queue.fields.${field}`)}
            found={<Value field={field} value={entry[field]} />}
            known={<Known existing={existing} field={field} />}
            isDifferent={isDifferent(field, entry, existing)}
          />
        ))}
        <Row
          title={t('queue.fields.location')}
          found={<Text text={null} />}
          known={<Text text={existing?.location?.name} />}
        />
        <Row
          title={t('queue.fields.last_seen')}
          found={
            <>
              {t('queue.foundSince')} <Ago at={entry.discovered_at} />
            </>
          }
          known={existing === null ? <Text text={null} /> : <Ago at={existing.last_seen} />}
        />
      </tbody>
    </table>
  )
}

function Known({ existing, field }: { existing: ExistingDevice | null; field: (typeof fields)[number] }) {
  const text = <Value field={field} value={existing?.[field] ?? null} />
  if (existing === null || field !== 'name') return text
  return (
    <Link to="/receivers/$id" params={{ id: String(existing.id) }}>
      {text}
    </Link>
  )
}

interface RowProps {
  readonly title: string
  readonly found: ReactNode
  readonly known: ReactNode
  readonly isDifferent?: boolean
}

function Row({ title, found, known, isDifferent = false }: RowProps) {
  return (
    <tr data-differs={isDifferent || undefined}>
      <th scope="row">
        {title}
        {isDifferent ? <span className="differs"> {t('queue.differs')}</span> : null}
      </th>
      <td>{found}</td>
      <td>{known}</td>
    </tr>
  )
}

function Value({ field, value }: { field: (typeof fields)[number]; value: string | null }) {
  return field === 'manufacturer' && value ? <ManufacturerName code={value} /> : <Text text={value} />
}

function Text({ text }: { text: string | null | undefined }) {
  if (text === null || text === undefined || text === '') return <span className="unknown">{t('parts.unknown')}</span>
  return <bdi>{plainText(text)}</bdi>
}

/**
 * Compares as the service does. An unknown value never differs. Names and models are compared exactly, other fields
 * without case and surrounding spaces, MAC addresses without separators.
 */
function isDifferent(field: (typeof fields)[number], entry: QueueEntryBody, existing: ExistingDevice | null): boolean {
  const [found, known] = [entry[field], existing?.[field] ?? null]
  if (found === null || known === null || found === '' || known === '') return false
  if (field === 'name' || field === 'model') return found !== known
  const bare = (text: string) => (field === 'mac_address' ? text.replace(/[^0-9a-f]/gi, '') : text.trim()).toLowerCase()
  return bare(found) !== bare(known)
}

function Decision({ entry: { reviewed_by, reviewed_at } }: Pick<EntryProps, 'entry'>) {
  if (reviewed_by === null) return null
  return (
    <p className="entry-result">
      <bdi>{t('queue.reviewed', { name: plainText(reviewed_by) })}</bdi>, <Ago at={reviewed_at} />
    </p>
  )
}

/** Cleans each line separately, because `plainText` removes line breaks. */
function plainJson(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(plainText).join('\n')
}
