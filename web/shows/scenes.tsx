import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { SceneBody, SceneRecall } from '../../src/contract/shows.ts'
import { useServices } from '../app/context.ts'
import { formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { Removal } from '../parts/dialogs/dialog.tsx'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { useShowUndoable } from '../parts/dialogs/messages.tsx'
import { Field } from '../parts/forms/field.tsx'
import { useLatest } from '../parts/forms/use-latest.ts'
import { Loaded } from '../parts/loaded.tsx'
import { RecallDialog } from './recall-dialog.tsx'

const sceneActions = ['recall', 'rename', 'remove'] as const

type Question = { readonly kind: 'add' } | { readonly kind: (typeof sceneActions)[number]; readonly scene: SceneBody }

export function Scenes({ showId }: { showId: number }) {
  const resource = useResource(`/api/shows/${showId}/scenes/`, 'list', ['show'])
  const mayOperate = useMay('operate')
  const [question, setQuestion] = useState<Question | null>(null)
  const showUndoable = useShowUndoable()
  const close = () => setQuestion(null)
  const done = async (scene: SceneBody, { undo_id }: SceneRecall) => {
    showUndoable(t('shows.scenes.recalled', { title: plainText(scene.title) }), [undo_id?.toString()])
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
      {question?.kind === 'add' || question?.kind === 'rename' ? (
        <SceneForm
          showId={showId}
          scene={question.kind === 'add' ? null : question.scene}
          onDone={resource.reload}
          onClose={close}
        />
      ) : null}
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
          {sceneActions.map((kind) => (
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

interface DialogProps {
  onDone(): Promise<void>
  onClose(): void
}

interface SceneFormProps extends DialogProps {
  readonly showId: number
  /** Null to store a new one. */
  readonly scene: SceneBody | null
}

function SceneForm({ showId, scene, ...dialog }: SceneFormProps) {
  const { api } = useServices()
  const path = `/api/shows/${showId}/scenes/` as const
  const latest = useLatest(path, scene, ['show'])
  const titleIn = (values: FormData) => String(values.get('title')).trim()
  return (
    <FormDialog
      title={
        scene === null ? t('shows.scenes.addTitle') : t('shows.scenes.renameTitle', { title: plainText(scene.title) })
      }
      action={scene === null ? t('shows.scenes.addAction') : t('shows.scenes.rename')}
      edit={{ address: `${path}${scene?.id ?? ''}`, record: scene, latest }}
      check={(values) =>
        titleIn(values) === '' ? { kind: 'refused', field: 'title', detail: t('shows.problems.title') } : null
      }
      send={(values, { record, version }) => {
        const body = { title: titleIn(values) }
        return record === null
          ? api.write('POST', path, body, 'object')
          : api.write('PATCH', `${path}${record.id}/`, body, 'object', version)
      }}
      done={({ title }) =>
        t(scene === null ? 'shows.scenes.added' : 'shows.scenes.renamed', { title: plainText(title) })
      }
      {...dialog}
    >
      {(record) => (
        <Field
          name="title"
          label={t('shows.scenes.fieldTitle')}
          defaultValue={record?.title}
          autoComplete="off"
          maxLength={255}
          required={true}
        />
      )}
    </FormDialog>
  )
}

function RemoveScene({ scene, ...rest }: DialogProps & { readonly scene: SceneBody }) {
  const name = plainText(scene.title)
  return (
    <Removal
      title={t('shows.scenes.removeTitle', { title: name })}
      action={t('shows.scenes.remove')}
      done={t('shows.scenes.removed', { title: name })}
      path={`/api/shows/${scene.show_id}/scenes/${scene.id}/`}
      record={scene}
      {...rest}
    >
      <p>{t('shows.scenes.removeText')}</p>
    </Removal>
  )
}
