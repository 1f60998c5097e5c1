import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import type { CastImport } from '../../../src/contract/imports.ts'
import { pathOf } from '../../../src/domain/pages.ts'
import type { Problem } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useRequest } from '../../app/resource.ts'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import '../../parts/tables/records.css'
import { type CastDifference, type DifferenceRow, type Label, toDifference } from './cast-difference.ts'

type Changes = CastImport['changes']

interface PreviewProps {
  readonly changes: Changes
  /** False while the next preview is loaded. */
  readonly isCurrent?: boolean
  readonly isSending: boolean
  readonly problem: Problem | null
  readonly children: ReactNode
  onApply(): void
}

export function CastPreview({ changes, isCurrent = true, isSending, problem, children, onApply }: PreviewProps) {
  return (
    <>
      <div className="list-actions">
        <button
          type="button"
          className="choice"
          data-tone="usual"
          disabled={!isCurrent || isSending || changes.length === 0}
          onClick={onApply}
        >
          {isSending ? t('parts.form.sending') : t('cast.apply')}
        </button>
        <p role="status">{summaryText(toDifference(changes), 'preview')}</p>
      </div>
      {problem === null ? null : <ProblemLine problem={problem} />}
      {children}
      <Differences changes={changes} />
    </>
  )
}

interface AppliedProps {
  readonly changes: Changes
  /** Undone in this order; null if there is nothing to undo. */
  readonly undoIds: readonly (number | null)[]
  readonly children: ReactNode
  readonly another: string
  onClose(): void
}

export function AppliedCast({ changes, undoIds, children, another, onClose }: AppliedProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { send, isSending, problem } = useRequest()
  const ids = undoIds.filter((id) => id !== null)
  const summary = useRef<HTMLParagraphElement>(null)
  // The button that had the focus is gone.
  useEffect(() => summary.current?.focus(), [])
  const undo = async () => {
    for (const id of ids) {
      const response = await send(() => api.write('POST', `/api/undo/${id}`, undefined, 'object'))
      if (!response?.ok) return
    }
    onClose()
    showMessage({ text: t('cast.undone') })
  }
  return (
    <section className="cast-done">
      <p ref={summary} role="status" tabIndex={-1}>
        {summaryText(toDifference(changes), 'applied')}
      </p>
      <div className="list-actions">
        <Link className="choice" data-tone="usual" to={pathOf('monitor')}>
          {t('nav.dashboard')}
        </Link>
        {ids.length === 0 ? null : (
          <button type="button" className="choice" disabled={isSending} onClick={() => void undo()}>
            {t('cast.undo')}
          </button>
        )}
        <button type="button" className="choice" onClick={onClose}>
          {another}
        </button>
      </div>
      {problem === null ? null : <ProblemLine problem={problem} />}
      {children}
      <Differences changes={changes} />
    </section>
  )
}

interface SkippedProps {
  readonly title: string
  readonly items: readonly { readonly what: string; readonly reason: string }[]
}

export function SkippedList({ title, items }: SkippedProps) {
  if (items.length === 0) return null
  return (
    <section className="cast-skipped">
      <h2>{title}</h2>
      <ul>
        {items.map(({ what, reason }) => (
          <li key={`${what} ${reason}`}>
            <bdi>{plainText(what)}</bdi>: {plainText(reason)}
          </li>
        ))}
      </ul>
    </section>
  )
}

function summaryText({ rows, added, updated, createdSlots }: CastDifference, when: 'preview' | 'applied'): string {
  const isNew = ({ slot }: DifferenceRow) => slot !== null && createdSlots.has(slot)
  const countRows = (kind: DifferenceRow['kind']) => rows.filter((row) => row.kind === kind && !isNew(row)).length
  const [assigned, named, grouped] = [countRows('unit'), countRows('placeholder'), countRows('group')]
  const changed = rows.filter((row) => (row.kind === 'slot' || row.kind === 'move') && !isNew(row))
  const moved = new Set(changed.map(({ slot }) => slot)).size
  const created = createdSlots.size
  const texts = [
    created === 0 ? null : t(`cast.${when}.created`, { count: created }),
    moved === 0 ? null : t(`cast.${when}.moved`, { count: moved }),
    grouped === 0 ? null : t(`cast.${when}.groups`, { count: grouped }),
    assigned === 0 ? null : t(`cast.${when}.assignments`, { count: assigned }),
    named === 0 ? null : t(`cast.${when}.placeholders`, { count: named }),
    added.length === 0 ? null : t(`cast.${when}.added`, { count: added.length }),
    updated === 0 ? null : t(`cast.${when}.updated`, { count: updated }),
  ].filter((text) => text !== null)
  return texts.length === 0 ? t('cast.noChange') : `${texts.join(', ')}.`
}

function Differences({ changes }: { changes: Changes }) {
  const { rows, added, createdSlots } = toDifference(changes)
  if (rows.length === 0) return null
  return (
    <DataTable
      caption={t('cast.list')}
      columns={differenceColumns(new Set(added), createdSlots)}
      rows={rows}
      idOf={({ kind, id }) => `${kind} ${id}`}
    />
  )
}

function differenceColumns(
  added: ReadonlySet<string>,
  createdSlots: ReadonlySet<number>,
): readonly Column<DifferenceRow>[] {
  return [
    {
      key: 'slot',
      title: t('cast.column.slot'),
      cell: ({ kind, slot }) => (
        // One element, because each child of a cell is a row on a phone.
        <span>
          {slot ?? (kind === 'group' ? '' : t('cast.noSlot'))}
          {slot !== null && createdSlots.has(slot) ? <NewTag /> : null}
        </span>
      ),
    },
    {
      key: 'before',
      title: t('cast.before'),
      cell: ({ kind, before }) =>
        !hasPerformer(kind) && before === null ? '' : <LabelCell label={before} isNew={false} />,
    },
    {
      key: 'after',
      title: t('cast.after'),
      cell: ({ kind, after }) => (
        <LabelCell label={after} isNew={hasPerformer(kind) && after !== null && added.has(after.name)} />
      ),
    },
  ]
}

const hasPerformer = (kind: DifferenceRow['kind']) => kind === 'unit' || kind === 'slot'

function LabelCell({ label, isNew }: { label: Label | null; isNew: boolean }) {
  if (label === null) return <span className="unknown">{t('cast.nobody')}</span>
  return (
    <span className="stacked">
      <span>
        {label.name === '' ? <span className="unknown">{t('cast.noName')}</span> : <bdi>{plainText(label.name)}</bdi>}
        {isNew ? <NewTag /> : null}
      </span>
      {label.detail === null ? null : <small>{plainText(label.detail)}</small>}
    </span>
  )
}

function NewTag() {
  return (
    <>
      {' '}
      <span className="tag" data-tone="info">
        {t('cast.new')}
      </span>
    </>
  )
}
