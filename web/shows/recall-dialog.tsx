import { useEffect, useState } from 'react'
import type { SceneBody, SceneRecall } from '../../src/contract/shows.ts'
import type { ApiResponse } from '../app/api.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useRequest } from '../app/resource.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { type Column, DataTable } from '../parts/tables/data-table.tsx'
import { type RecallRow, skippedText, toRows } from './recall-rows.ts'

interface RecallDialogProps {
  readonly scene: SceneBody
  onDone(result: SceneRecall): Promise<void>
  onClose(): void
}

export function RecallDialog({ scene: { id, show_id, title }, onDone, onClose }: RecallDialogProps) {
  const { api } = useServices()
  const { send, isSending, problem: recallProblem } = useRequest()
  const [compared, setCompared] = useState<ApiResponse<SceneRecall> | null>(null)
  const slotRecords = useWatchState((watchState) => watchState.slotRecords)
  const groups = useWatchState((watchState) => watchState.groups)
  // Again after each edit by another user.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the service compares with the arrangement.
  useEffect(() => {
    let isCurrent = true
    const path = `/api/shows/${show_id}/scenes/${id}/recall` as const
    void api.write('POST', path, { preview: true }, 'object').then((response) => {
      if (isCurrent) setCompared(response)
    })
    return () => {
      isCurrent = false
    }
  }, [api, id, show_id, slotRecords, groups])
  const preview = compared?.ok === true ? compared.body : null
  const problem = recallProblem ?? (compared?.ok === false ? compared.problem : null)
  const recall = async () => {
    const response = await send(() => api.write('POST', `/api/shows/${show_id}/scenes/${id}/recall`, {}, 'object'))
    if (!response?.ok) return
    onClose()
    await onDone(response.body)
  }
  return (
    <Dialog title={t('shows.scenes.recallTitle', { title: plainText(title) })} onClose={onClose}>
      <div className="dialog-text recall-preview">
        {preview === null ? (
          problem === null ? (
            <p role="status">{t('shows.scenes.loading')}</p>
          ) : null
        ) : (
          <Difference preview={preview} />
        )}
      </div>
      {problem === null ? null : <ProblemLine problem={problem} />}
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onClose}>
          {t('parts.dialog.cancel')}
        </button>
        <button
          type="button"
          className="choice"
          data-tone="usual"
          disabled={preview === null || isSending}
          onClick={() => void recall()}
        >
          {t('shows.scenes.recall')}
        </button>
      </div>
    </Dialog>
  )
}

function Difference({ preview: { changes, skipped } }: { preview: SceneRecall }) {
  const rows = toRows(changes)
  const hasFrequencies = changes.some(({ what }) => what === 'planned_frequency')
  return (
    <>
      <p role="status">
        {rows.length === 0 ? t('shows.scenes.nothing') : t('shows.scenes.changes', { count: rows.length })}
      </p>
      {skipped.length === 0 ? null : (
        <section className="recall-skipped">
          <h3>{t('shows.scenes.skipped', { count: skipped.length })}</h3>
          <ul>
            {skipped.map((item) => (
              <li key={`${item.what} ${item.id}`}>{skippedText(item)}</li>
            ))}
          </ul>
        </section>
      )}
      {rows.length === 0 ? null : (
        <DataTable caption={t('shows.scenes.title')} columns={columns} rows={rows} idOf={({ key }) => key} />
      )}
      {hasFrequencies ? <p className="hint">{t('shows.scenes.frequencies')}</p> : null}
    </>
  )
}

const columns: readonly Column<RecallRow>[] = [
  {
    key: 'what',
    title: t('shows.scenes.what'),
    cell: ({ kind, name }) => (
      <span className="stacked">
        <bdi>{name === '' ? kind : name}</bdi>
        {name === '' ? null : <small>{kind}</small>}
      </span>
    ),
  },
  { key: 'before', title: t('shows.scenes.before'), cell: ({ before }) => <bdi>{before}</bdi> },
  { key: 'after', title: t('shows.scenes.after'), cell: ({ after }) => <bdi>{after}</bdi> },
]
