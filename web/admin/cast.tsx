/** Assigns performers to packs and renames placeholders from a pasted list: preview, apply, undo. */

import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { CastImport } from '../../src/contract/resources/imports.ts'
import { pathOf } from '../../src/domain/pages.ts'
import type { ApiResponse, Problem } from '../api.ts'
import { useServices } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { useShowMessage } from '../parts/messages.tsx'
import { ProblemLine } from '../parts/problem.tsx'
import { Shell } from '../parts/shell.tsx'
import { useRequest } from '../resource.ts'
import { useMay } from '../session.ts'
import '../styles/cast.css'
import { type CastDifference, countColumns, type DifferenceRow, type Label, toDifference } from './cast-difference.ts'

type Columns = CastImport['columns']

export function Cast() {
  const mayOperate = useMay('operate')
  return (
    <Shell title={t('cast.title')} intro={t('cast.intro')}>
      {mayOperate ? <CastForm /> : <p className="hint">{t('shell.requires.operator')}</p>}
    </Shell>
  )
}

function CastForm() {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const [text, setText] = useState('')
  /** The columns that the user has chosen; null while the service determines them. */
  const [columns, setColumns] = useState<Columns | null>(null)
  const [applied, setApplied] = useState<CastImport | null>(null)
  const { send, isSending, problem, forget } = useRequest()
  const importCast = (isPreview: boolean) =>
    api.write(
      'POST',
      '/api/import/cast/',
      { text, ...(columns !== null && { columns }), ...(isPreview && { preview: true }) },
      'object',
    )
  const preview = usePreview(text, columns, () => importCast(true))

  const apply = async () => {
    const response = await send(() => importCast(false))
    if (!response?.ok) return
    setApplied(response.body)
    setText('')
    setColumns(null)
  }
  const undo = async (undoId: number) => {
    const response = await send(() => api.write('POST', `/api/undo/${undoId}`, undefined, 'object'))
    if (!response?.ok) return
    setApplied(null)
    showMessage({ text: t('cast.undone') })
  }
  const edit = (text: string) => {
    forget()
    setApplied(null)
    setColumns(null)
    setText(text)
  }

  if (applied !== null) {
    return (
      <section className="cast-done">
        <p role="status">{summaryText(toDifference(applied.changes), 'applied')}</p>
        <div className="list-actions">
          <Link className="choice" data-tone="usual" to={pathOf('monitor')}>
            {t('nav.dashboard')}
          </Link>
          {applied.undo_id === null ? null : (
            <button
              type="button"
              className="choice"
              disabled={isSending}
              onClick={() => applied.undo_id !== null && void undo(applied.undo_id)}
            >
              {t('cast.undo')}
            </button>
          )}
          <button type="button" className="choice" onClick={() => setApplied(null)}>
            {t('cast.another')}
          </button>
        </div>
        {problem === null ? null : <ProblemLine problem={problem} />}
        <Result result={applied} />
      </section>
    )
  }
  return (
    <div className="cast">
      <label className="cast-text">
        <span>{t('cast.text')}</span>
        <textarea
          className="input"
          rows={8}
          value={text}
          placeholder={t('cast.example')}
          // biome-ignore lint/a11y/noAutofocus: pasting is the purpose of the page
          autoFocus={true}
          spellCheck={false}
          onChange={(event) => edit(event.target.value)}
        />
      </label>
      {preview.problem === null ? null : <ProblemLine problem={preview.problem} />}
      {text.trim() === '' || (preview.result === null && preview.problem === null) ? null : (
        <ColumnChoices
          count={countColumns(text)}
          columns={columns ?? preview.result?.columns ?? noColumns}
          onChange={setColumns}
        />
      )}
      {preview.result === null ? null : (
        <>
          <div className="list-actions">
            <button
              type="button"
              className="choice"
              data-tone="usual"
              disabled={isSending || preview.result.changes.length === 0}
              onClick={() => void apply()}
            >
              {isSending ? t('parts.form.sending') : t('cast.apply')}
            </button>
            <p role="status">{summaryText(toDifference(preview.result.changes), 'preview')}</p>
          </div>
          {problem === null ? null : <ProblemLine problem={problem} />}
          <Result result={preview.result} />
        </>
      )}
    </div>
  )
}

interface Preview {
  readonly result: CastImport | null
  readonly problem: Problem | null
}

const noPreview: Preview = { result: null, problem: null }
/** After the last key press. */
const previewDelayMs = 250

/** Asks for a preview whenever the text or the columns have changed. */
function usePreview(text: string, columns: Columns | null, read: () => Promise<ApiResponse<CastImport>>): Preview {
  const [preview, setPreview] = useState(noPreview)
  const readRef = useRef(read)
  readRef.current = read
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the columns needs another preview
  useEffect(() => {
    if (text.trim() === '') {
      setPreview(noPreview)
      return
    }
    let isCurrent = true
    const timer = setTimeout(async () => {
      const response = await readRef.current()
      if (!isCurrent) return
      setPreview(response.ok ? { result: response.body, problem: null } : { result: null, problem: response.problem })
    }, previewDelayMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text, columns])
  return preview
}

const columnNames = ['slot', 'pack', 'name', 'role', 'note', 'photo'] as const
const noColumns: Columns = { slot: null, pack: null, name: null, role: null, note: null, photo: null }

/** The names of columns in a spreadsheet. */
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

interface ColumnChoicesProps {
  readonly count: number
  readonly columns: Columns
  onChange(columns: Columns): void
}

function ColumnChoices({ count, columns, onChange }: ColumnChoicesProps) {
  const indexes = Array.from({ length: Math.min(count, letters.length) }, (_, index) => index)
  return (
    <fieldset className="cast-columns">
      <legend>{t('cast.columns')}</legend>
      {columnNames.map((name) => (
        <label key={name}>
          <span>{t(`cast.column.${name}`)}</span>
          <select
            className="input"
            value={columns[name] ?? ''}
            onChange={({ target }) =>
              onChange({ ...columns, [name]: target.value === '' ? null : Number(target.value) })
            }
          >
            <option value="">{t('cast.noColumn')}</option>
            {indexes.map((index) => (
              <option key={index} value={index}>
                {letters.charAt(index)}
              </option>
            ))}
          </select>
        </label>
      ))}
    </fieldset>
  )
}

function summaryText({ rows, added, updated }: CastDifference, when: 'preview' | 'applied'): string {
  const countRows = (kind: DifferenceRow['kind']) => rows.filter((row) => row.kind === kind).length
  const [assigned, named] = [countRows('unit'), countRows('placeholder')]
  const texts = [
    assigned === 0 ? null : t(`cast.${when}.assignments`, { count: assigned }),
    named === 0 ? null : t(`cast.${when}.placeholders`, { count: named }),
    added.length === 0 ? null : t(`cast.${when}.added`, { count: added.length }),
    updated === 0 ? null : t(`cast.${when}.updated`, { count: updated }),
  ].filter((text) => text !== null)
  return texts.length === 0 ? t('cast.noChange') : `${texts.join(', ')}.`
}

function Result({ result: { changes, skipped } }: { result: CastImport }) {
  const { rows, added } = toDifference(changes)
  return (
    <>
      {skipped.length === 0 ? null : (
        <section className="cast-skipped">
          <h2>{t('cast.skipped', { count: skipped.length })}</h2>
          <ul>
            {skipped.map(({ row, name, reason }) => (
              <li key={`${row} ${reason}`}>
                {t('cast.row', { row })}
                {name === null ? '' : <bdi> {plainText(name)}</bdi>}: {plainText(reason)}
              </li>
            ))}
          </ul>
        </section>
      )}
      {rows.length === 0 ? null : (
        <DataTable
          caption={t('cast.list')}
          columns={differenceColumns(new Set(added))}
          rows={rows}
          idOf={({ kind, id }) => `${kind} ${id}`}
        />
      )}
    </>
  )
}

function differenceColumns(added: ReadonlySet<string>): readonly Column<DifferenceRow>[] {
  return [
    { key: 'slot', title: t('cast.column.slot'), cell: ({ slot }) => slot ?? t('cast.noSlot') },
    { key: 'before', title: t('cast.before'), cell: ({ before }) => <LabelCell label={before} isNew={false} /> },
    {
      key: 'after',
      title: t('cast.after'),
      cell: ({ kind, after }) => (
        <LabelCell label={after} isNew={kind === 'unit' && after !== null && added.has(after.name)} />
      ),
    },
  ]
}

function LabelCell({ label, isNew }: { label: Label | null; isNew: boolean }) {
  if (label === null) return <span className="unknown">{t('cast.nobody')}</span>
  return (
    <span className="stacked">
      <span>
        {label.name === '' ? <span className="unknown">{t('cast.noName')}</span> : <bdi>{plainText(label.name)}</bdi>}
        {isNew ? (
          <>
            {' '}
            <span className="tag" data-tone="info">
              {t('cast.new')}
            </span>
          </>
        ) : null}
      </span>
      {label.detail === null ? null : <small>{plainText(label.detail)}</small>}
    </span>
  )
}
