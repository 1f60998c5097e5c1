import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { SceneBody, SceneRecall } from '../../src/contract/shows.ts'
import { useServices } from '../app/context.ts'
import { formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useRequest, useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { FormDialog, Removal } from '../parts/dialogs/dialog.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { ProblemLine } from '../parts/dialogs/notice.tsx'
import { Field } from '../parts/forms/field.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { RecallDialog } from './recall-dialog.tsx'

type Question = { readonly kind: 'add' } | { readonly kind: 'recall' | 'remove'; readonly scene: SceneBody }

interface Recalled {
  readonly title: string
  readonly undoId: number
}

export function Scenes({ showId }: { showId: number }) {
  const resource = useResource(`/api/shows/${showId}/scenes/`, 'list', ['show'])
  const mayOperate = useMay('operate')
  const [question, setQuestion] = useState<Question | null>(null)
  const [recalled, setRecalled] = useState<Recalled | null>(null)
  const close = () => setQuestion(null)
  const done = async (scene: SceneBody, { undo_id }: SceneRecall) => {
    setRecalled(undo_id === null ? null : { title: plainText(scene.title), undoId: undo_id })
    await resource.reload()
  }
  return (
    <section className="shows-section" aria-label={t('shows.scenes.title')}>
      <header className="shows-head">
        <h2>{t('shows.scenes.title')}</h2>
        {mayOperate ? (
          <button type="button" className="choice" onClick={() => setQuestion({ kind: 'add' })}>
            <Plus className="icon" aria-hidden="true" />
            {t('shows.scenes.add')}
          </button>
        ) : null}
      </header>
      <p className="hint">{t('shows.scenes.intro')}</p>
      {recalled === null ? null : (
        <UndoRecall recalled={recalled} onDone={resource.reload} onEnd={() => setRecalled(null)} />
      )}
      <Loaded resource={resource}>
        {(scenes) =>
          scenes.length === 0 ? (
            <p className="box-note">{t('shows.scenes.none')}</p>
          ) : (
            <ul className="shows-list">
              {scenes.map((scene) => (
                <SceneItem
                  key={scene.id}
                  scene={scene}
                  isPlan={scene === lastRecalled(scenes)}
                  onAsk={mayOperate ? setQuestion : null}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {question?.kind === 'add' ? <StoreScene showId={showId} onDone={resource.reload} onClose={close} /> : null}
      {question?.kind === 'recall' ? (
        <RecallDialog scene={question.scene} onDone={(result) => done(question.scene, result)} onClose={close} />
      ) : null}
      {question?.kind === 'remove' ? (
        <RemoveScene scene={question.scene} onDone={resource.reload} onClose={close} />
      ) : null}
    </section>
  )
}

/** The scene that is the frequency plan. */
function lastRecalled(scenes: readonly SceneBody[]): SceneBody | null {
  return scenes.reduce<SceneBody | null>(
    (last, scene) => ((scene.recalled_at ?? '') > (last?.recalled_at ?? '') ? scene : last),
    null,
  )
}

interface SceneItemProps {
  readonly scene: SceneBody
  readonly isPlan: boolean
  /** Null if the user may not recall scenes. */
  readonly onAsk: ((question: Question) => void) | null
}

function SceneItem({ scene, isPlan, onAsk }: SceneItemProps) {
  const { title, created_at, by, recalled_at } = scene
  const name = plainText(title)
  const stored = t('shows.scenes.stored', { time: formatMoment(created_at), by: plainText(by) })
  const recalled = recalled_at === null ? null : t('shows.scenes.recalledAt', { time: formatMoment(recalled_at) })
  return (
    <li className="show-item">
      <span className="show-title">
        <bdi>{name}</bdi>{' '}
        {isPlan ? (
          <span className="tag" data-tone="good">
            {t('shows.scenes.current')}
          </span>
        ) : null}
      </span>
      <span className="box-note">{[stored, recalled].filter((text) => text !== null).join(' · ')}</span>
      {onAsk === null ? null : (
        <span className="box-actions">
          {(['recall', 'remove'] as const).map((kind) => (
            <button key={kind} type="button" className="choice" onClick={() => onAsk({ kind, scene })}>
              {t(`shows.scenes.${kind}`)}
              <span className="visually-hidden"> {name}</span>
            </button>
          ))}
        </span>
      )}
    </li>
  )
}

interface UndoRecallProps {
  readonly recalled: Recalled
  onDone(): Promise<void>
  onEnd(): void
}

function UndoRecall({ recalled: { title, undoId }, onDone, onEnd }: UndoRecallProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { send, isSending, problem } = useRequest()
  const undo = async () => {
    const response = await send(() => api.write('POST', `/api/undo/${undoId}`, undefined, 'object'))
    if (!response?.ok) return
    onEnd()
    showMessage({ text: t('shows.scenes.undone', { title }) })
    await onDone()
  }
  return (
    <div className="scene-undo">
      <p role="status">{t('shows.scenes.recalled', { title })}</p>
      <button type="button" className="choice" disabled={isSending} onClick={() => void undo()}>
        {t('shows.scenes.undo')}
      </button>
      {problem === null ? null : <ProblemLine problem={problem} />}
    </div>
  )
}

interface DialogProps {
  onDone(): Promise<void>
  onClose(): void
}

function StoreScene({ showId, onDone, onClose }: DialogProps & { readonly showId: number }) {
  const { api } = useServices()
  return (
    <FormDialog
      title={t('shows.scenes.addTitle')}
      action={t('shows.scenes.addAction')}
      check={(values) =>
        String(values.get('title')).trim() === ''
          ? { kind: 'refused', field: 'title', detail: t('shows.problems.title') }
          : null
      }
      send={(values) =>
        api.write('POST', `/api/shows/${showId}/scenes/`, { title: String(values.get('title')).trim() }, 'object')
      }
      done={({ title }) => t('shows.scenes.added', { title: plainText(title) })}
      {...{ onDone, onClose }}
    >
      <Field name="title" label={t('shows.scenes.fieldTitle')} autoComplete="off" maxLength={255} required={true} />
    </FormDialog>
  )
}

function RemoveScene({ scene: { id, show_id, title }, ...rest }: DialogProps & { readonly scene: SceneBody }) {
  const name = plainText(title)
  return (
    <Removal
      title={t('shows.scenes.removeTitle', { title: name })}
      action={t('shows.scenes.remove')}
      done={t('shows.scenes.removed', { title: name })}
      path={`/api/shows/${show_id}/scenes/${id}/`}
      {...rest}
    >
      <p>{t('shows.scenes.removeText')}</p>
    </Removal>
  )
}
