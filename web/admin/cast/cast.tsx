import { useEffect, useRef, useState } from 'react'
import type { CastImport, MicboardImport } from '../../../src/contract/imports.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useSearch } from '../../app/query.ts'
import { useRequest } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { ChoiceButtons } from '../../parts/forms/choice.tsx'
import './cast.css'
import type { ApiResponse, Problem } from '../../app/api.ts'
import { countColumns } from './cast-difference.ts'
import { AppliedCast, CastPreview, SkippedList } from './cast-result.tsx'
import { PlanningCenterForm } from './planning-center.tsx'

type Columns = CastImport['columns']

const sources = ['list', 'planning_center', 'micboard'] as const

export function Cast() {
  const mayOperate = useMay('operate')
  const [search, change] = useSearch()
  const from = new URLSearchParams(search).get('from')
  const source = sources.find((name) => name === from) ?? 'list'
  return (
    <Shell title={t('cast.title')} intro={t(`cast.source.${source}.intro`)}>
      {mayOperate ? (
        <div className="cast">
          <fieldset className="cast-sources">
            <legend className="visually-hidden">{t('cast.source.label')}</legend>
            <ChoiceButtons
              value={source}
              values={sources}
              nameOf={(name) => t(`cast.source.${name}.title`)}
              onChoice={(name) => change({ from: name === 'list' ? null : name })}
            />
          </fieldset>
          {source === 'list' ? <CastForm /> : source === 'micboard' ? <MicboardForm /> : <PlanningCenterForm />}
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
  /** Null while the service determines them. */
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
  const preview = usePreview(JSON.stringify([text, columns]), text.trim() === '' ? null : () => importCast(true))

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

const columnNames = ['slot', 'pack', 'name', 'role', 'note', 'photo'] as const
const noColumns: Columns = { slot: null, pack: null, name: null, role: null, note: null, photo: null }

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

function MicboardForm() {
  const { api } = useServices()
  const [text, setText] = useState('')
  const [applied, setApplied] = useState<MicboardImport | null>(null)
  const { send, isSending, problem, forget } = useRequest()
  const importFile = (isPreview: boolean) =>
    api.write('POST', '/api/import/micboard/', { text, ...(isPreview && { preview: true }) }, 'object')
  const preview = usePreview(text, text.trim() === '' ? null : () => importFile(true))
  const apply = async () => {
    const response = await send(() => importFile(false))
    if (!response?.ok) return
    setApplied(response.body)
    setText('')
  }

  if (applied !== null) {
    return (
      <AppliedCast applied={applied} another={t('cast.micboard.another')} onClose={() => setApplied(null)}>
        <SkippedSlots skipped={applied.skipped} />
      </AppliedCast>
    )
  }
  return (
    <>
      <label className="cast-text">
        <span>{t('cast.micboard.text')}</span>
        <textarea
          className="input"
          rows={8}
          value={text}
          placeholder={t('cast.micboard.example')}
          spellCheck={false}
          onChange={({ target }) => {
            forget()
            setText(target.value)
          }}
        />
      </label>
      {preview.problem === null ? null : <ProblemLine problem={preview.problem} />}
      {preview.result === null ? null : (
        <CastPreview {...{ isSending, problem }} changes={preview.result.changes} onApply={() => void apply()}>
          <SkippedSlots skipped={preview.result.skipped} />
        </CastPreview>
      )}
    </>
  )
}

function SkippedSlots({ skipped }: Pick<MicboardImport, 'skipped'>) {
  const items = skipped.map(({ slot, name, reason }) => ({
    what: `${t('cast.slot', { slot: String(slot) })} ${name ?? ''}`.trim(),
    reason,
  }))
  return <SkippedList title={t('cast.micboard.skipped', { count: skipped.length })} items={items} />
}

interface Preview<T> {
  readonly result: T | null
  readonly problem: Problem | null
}

const noPreview = { result: null, problem: null }
/** After the last key press. */
const previewDelayMs = 250

/** Loads a preview when `key` changes. `read` is null without a request. */
function usePreview<T>(key: string, read: (() => Promise<ApiResponse<T>>) | null): Preview<T> {
  const [preview, setPreview] = useState<Preview<T>>(noPreview)
  const readRef = useRef(read)
  readRef.current = read
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the request needs another preview
  useEffect(() => {
    if (readRef.current === null) {
      setPreview(noPreview)
      return
    }
    let isCurrent = true
    const timer = setTimeout(async () => {
      const response = await readRef.current?.()
      if (!isCurrent || response === undefined) return
      setPreview(response.ok ? { result: response.body, problem: null } : { result: null, problem: response.problem })
    }, previewDelayMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [key])
  return preview
}
