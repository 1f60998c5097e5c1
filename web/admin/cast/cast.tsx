import { useState } from 'react'
import type { MicboardImport } from '../../../src/contract/imports.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useSearch } from '../../app/query.ts'
import { useRequest } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { Shell } from '../../app/shell.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { ChoiceButtons } from '../../parts/forms/choice.tsx'
import './cast.css'
import { CastListForm } from './cast-list.tsx'
import { AppliedCast, CastPreview, SkippedList } from './cast-result.tsx'
import { PlanningCenterForm } from './planning-center.tsx'
import { usePreview } from './use-preview.ts'

const sources = ['list', 'planning_center', 'micboard'] as const

export function Cast() {
  const mayOperate = useMay('operate')
  const [search, change] = useSearch()
  const from = new URLSearchParams(search).get('from')
  const source = sources.find((name) => name === from) ?? 'list'
  return (
    <Shell title={t('shell.pages.cast.title')} intro={t(`cast.source.${source}.intro`)}>
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
          {source === 'list' ? <CastListForm /> : source === 'micboard' ? <MicboardForm /> : <PlanningCenterForm />}
        </div>
      ) : (
        <p className="hint">{t('shell.requires.operator')}</p>
      )}
    </Shell>
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
      <AppliedCast
        changes={applied.changes}
        undoIds={[applied.undo_id]}
        another={t('cast.micboard.another')}
        onClose={() => setApplied(null)}
      >
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
