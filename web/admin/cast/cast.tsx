import { useState } from 'react'
import type { CastImport } from '../../../src/contract/imports.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useSearch } from '../../app/query.ts'
import { useRequest } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { ChoiceButtons } from '../../parts/forms/choice.tsx'
import './cast.css'
import { countColumns } from './cast-difference.ts'
import { AppliedCast, CastPreview, SkippedList } from './cast-result.tsx'
import { usePreview } from './import-preview.ts'
import { MicboardForm } from './micboard.tsx'
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
