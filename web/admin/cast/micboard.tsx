import { useState } from 'react'
import type { MicboardImport } from '../../../src/contract/imports.ts'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useRequest } from '../../app/resource.ts'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { AppliedCast, CastPreview, SkippedList } from './cast-result.tsx'
import { usePreview } from './import-preview.ts'

export function MicboardForm() {
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
