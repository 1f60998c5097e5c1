/** The handover to the next shift: what is open, and what has happened and changed since the last one. */

import './handover.css'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { HandoverBody } from '../../src/contract/handovers.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { useServices } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import type { Topic } from '../app/topics.ts'
import { shortPersonName } from '../parts/alerts/alert-text.ts'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { Empty } from '../parts/empty.tsx'
import { TextField } from '../parts/forms/field.tsx'
import { Form } from '../parts/forms/form.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { DocumentPage, type DocumentTimes } from '../reports/document.tsx'
import { isEmptyHandover, Sections } from './sections.tsx'

export function Handover() {
  const { id } = useSearch({ strict: false }) as { readonly id?: string | number }
  return (
    <DocumentPage title={t('pages.handover')} csv={null}>
      {(times) => (
        <div className="handover">
          {/^[1-9]\d{0,14}$/.test(String(id ?? '')) ? <Closed id={Number(id)} times={times} /> : <Open times={times} />}
          <Past times={times} shown={Number(id ?? 0)} />
        </div>
      )}
    </DocumentPage>
  )
}

const topics: readonly Topic[] = ['alert', 'event', 'slot_records', 'settings', 'show', 'check', 'silences']
const refreshMs = 30_000

interface PeriodProps {
  readonly times: DocumentTimes
}

function Open({ times }: PeriodProps) {
  const handover = useResource('/api/handover/', 'object', topics, refreshMs)
  const mayClose = useMay('operate')
  return (
    <Loaded resource={handover}>
      {(body) => (
        <>
          <Heading
            handover={body}
            times={times}
            text={t('handover.since', { time: times.moment(body.since, body.until) })}
          />
          <LastNote times={times} until={body.until} />
          {isEmptyHandover(body) ? (
            <Empty title={t('handover.empty')}>
              <p>{t('handover.emptyNext')}</p>
            </Empty>
          ) : (
            <Sections handover={body} times={times} />
          )}
          {mayClose ? <Closing /> : null}
        </>
      )}
    </Loaded>
  )
}

interface HeadingProps extends PeriodProps {
  readonly handover: HandoverBody
  readonly text: string
}

function Heading({ handover: { until }, times, text }: HeadingProps) {
  return (
    <header className="document-heading">
      <h1>{t('pages.handover')}</h1>
      <p>
        {text}
        <span className="print-only">{` · ${times.date(until)}`}</span>
      </p>
    </header>
  )
}

function Note({
  note: { by, at, note },
  times,
  until,
}: { note: HandoverBody['notes'][number]; until: string } & PeriodProps) {
  return (
    <blockquote className="handover-note">
      <p>{note.split('\n').map(plainText).join('\n')}</p>
      <footer>{t('parts.byAt', { by: shortPersonName(by), time: times.moment(at, until) })}</footer>
    </blockquote>
  )
}

/** The note of the previous shift. */
function LastNote({ times, until }: PeriodProps & { until: string }) {
  const [last] = useClosed()
  return last?.notes.map((note) => <Note key={note.at} {...{ note, times, until }} />)
}

/** Newest first. */
function useClosed() {
  return useResource('/api/handovers/?page_size=50', 'page', topics, refreshMs).body?.results ?? []
}

function Closing() {
  const { api } = useServices()
  const navigate = useNavigate()
  const showMessage = useShowMessage()
  return (
    <div className="handover-closing screen-only">
      <Form
        action={t('handover.close')}
        edit={{ address: '/api/handover/', record: null }}
        send={(values) => api.write('POST', '/api/handover/', { note: String(values.get('note') ?? '') }, 'object')}
        onDone={({ id }) => {
          showMessage({ text: t('handover.done') })
          void navigate({ to: pathOf('handover'), search: { id } })
        }}
      >
        <TextField name="note" label={t('handover.note')} rows={2} maxLength={10_000} />
      </Form>
    </div>
  )
}

function Closed({ id, times }: PeriodProps & { id: number }) {
  const handover = useResource(`/api/handovers/${id}/`, 'object')
  return (
    <Loaded resource={handover}>
      {(body) => (
        <>
          <Heading
            handover={body}
            times={times}
            text={t('handover.period', {
              since: times.moment(body.since, body.until),
              until: times.moment(body.until, body.since),
              by: shortPersonName(body.by),
            })}
          />
          {body.notes.map((note) => (
            <Note key={note.at} {...{ note, times }} until={body.since} />
          ))}
          {isEmptyHandover({ ...body, notes: [] }) ? (
            <p>{t('handover.nothing')}</p>
          ) : (
            <Sections handover={body} times={times} />
          )}
        </>
      )}
    </Loaded>
  )
}

function Past({ times, shown }: PeriodProps & { shown: number }) {
  const past = useClosed()
  const others = past.filter(({ id }) => id !== shown)
  return (
    <section className="handover-past screen-only">
      <h2>{t('handover.past')}</h2>
      {past.length === 0 ? <p className="hint">{t('handover.noPast')}</p> : null}
      <ul>
        {shown === 0 ? null : (
          <li>
            <Link to={pathOf('handover')} search={{}}>
              {t('handover.current')}
            </Link>
          </li>
        )}
        {others.map(({ id, until, by, notes }) => (
          <li key={id}>
            <Link to={pathOf('handover')} search={{ id }}>
              {`${times.date(until)}, ${times.clock(until)}`}
            </Link>{' '}
            <small>
              {[shortPersonName(by), ...notes.map(({ note }) => plainText(note.replaceAll('\n', ' ')))].join(': ')}
            </small>
          </li>
        ))}
      </ul>
    </section>
  )
}
