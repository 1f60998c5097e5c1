/** Assigns performers to packs from a pasted list or from a plan: preview, apply, undo. */

import { useEffect, useRef, useState } from 'react'
import type { CastImport } from '../../src/contract/resources/imports.ts'
import type { ApiResponse, Problem } from '../api.ts'
import { useServices } from '../context.ts'
import { t } from '../i18n.ts'
import { ProblemLine } from '../parts/problem.tsx'
import { Shell } from '../parts/shell.tsx'
import { useSearch } from '../query.ts'
import { useRequest } from '../resource.ts'
import { useMay } from '../session.ts'
import '../styles/cast.css'
import { countColumns } from './cast-difference.ts'
import { AppliedCast, CastPreview, SkippedList } from './cast-result.tsx'
import { PlanningCenterForm } from './planning-center.tsx'

type Columns = CastImport['columns']

const sources = ['list', 'planning_center'] as const

export function Cast() {
  const mayOperate = useMay('operate')
  const [search, change] = useSearch()
  const source = new URLSearchParams(search).get('from') === 'planning_center' ? 'planning_center' : 'list'
  return (
    <Shell title={t('cast.title')} intro={t(`cast.source.${source}.intro`)}>
      {mayOperate ? (
        <div className="cast">
          <fieldset className="cast-sources">
            <legend className="visually-hidden">{t('cast.source.label')}</legend>
            {sources.map((name) => (
              <button
                key={name}
                type="button"
                className="choice"
                aria-pressed={name === source}
                onClick={() => change({ from: name === 'list' ? null : name })}
              >
                {t(`cast.source.${name}.title`)}
              </button>
            ))}
          </fieldset>
          {source === 'list' ? <CastForm /> : <PlanningCenterForm />}
        </div>
      ) : (
        <p className="hint">{t('shell.requires.operator')}</p>
      )}
    </Shell>
  )
}

function CastForm() {
  const { api } = useServices()
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
  const edit = (text: string) => {
    forget()
    setApplied(null)
    setColumns(null)
    setText(text)
  }

  if (applied !== null) {
    return (
      <AppliedCast applied={applied} another={t('cast.another')} onClose={() => setApplied(null)}>
        <SkippedRows skipped={applied.skipped} />
      </AppliedCast>
    )
  }
  return (
    <>
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
        <CastPreview {...{ isSending, problem }} changes={preview.result.changes} onApply={() => void apply()}>
          <SkippedRows skipped={preview.result.skipped} />
        </CastPreview>
      )}
    </>
  )
}

function SkippedRows({ skipped }: Pick<CastImport, 'skipped'>) {
  const items = skipped.map(({ row, name, reason }) => ({
    what: `${t('cast.row', { row })} ${name ?? ''}`.trim(),
    reason,
  }))
  return <SkippedList title={t('cast.skipped', { count: skipped.length })} items={items} />
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
