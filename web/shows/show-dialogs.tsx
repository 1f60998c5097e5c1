import type { ShowBody } from '../../src/contract/shows.ts'
import type { Problem } from '../app/api.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { ActionDialog, Removal } from '../parts/dialogs/dialog.tsx'
import { FormDialog } from '../parts/dialogs/form-dialog.tsx'
import { ChoicesField, chosenValues } from '../parts/forms/choices-field.tsx'
import { changedFields } from '../parts/forms/entries.ts'
import { Field, fromLocalInput, TextField, toLocalInput } from '../parts/forms/field.tsx'
import { useLatest } from '../parts/forms/use-latest.ts'

export type ShowAction = 'change' | 'start' | 'end' | 'remove'

interface ShowDialogProps {
  readonly kind: ShowAction
  readonly show: ShowBody
  onDone(): Promise<void>
  onClose(): void
}

export function ShowDialog({ kind, show, onDone, onClose }: ShowDialogProps) {
  const { api } = useServices()
  if (kind === 'change') return <ShowForm show={show} onSaved={onDone} onClose={onClose} />
  const title = plainText(show.title)
  const confirmation = {
    ...{ title: t(`shows.${kind}.title`, { title }), action: t(`shows.${kind}.action`) },
    ...{ done: t(`shows.${kind}.done`, { title }), onDone, onClose },
    children: <p>{t(`shows.${kind}.text`)}</p>,
  }
  if (kind === 'remove') return <Removal {...confirmation} path={`/api/shows/${show.id}/`} record={show} />
  return (
    <ActionDialog
      {...confirmation}
      tone={kind === 'start' ? 'usual' : 'alarm'}
      write={() => api.write('POST', `/api/shows/${show.id}/${kind}`, undefined, 'object')}
    />
  )
}

interface ShowFormProps {
  readonly show: ShowBody | null
  onSaved(show: ShowBody): Promise<void>
  onClose(): void
}

export function ShowForm({ show, onSaved, onClose }: ShowFormProps) {
  const { api } = useServices()
  const latest = useLatest('/api/shows/', show, ['show'])
  return (
    <FormDialog
      title={show === null ? t('shows.add') : t('shows.changeTitle', { title: plainText(show.title) })}
      action={show === null ? t('shows.addAction') : t('shows.save')}
      check={findProblem}
      edit={{ address: `/api/shows/${show?.id ?? ''}`, record: show, latest, canAdd: true }}
      send={(values, { record, before, version }) => {
        const body = toBody(values)
        return record === null
          ? api.write('POST', '/api/shows/', body, 'object')
          : api.write('PATCH', `/api/shows/${record.id}/`, changedFields(toBody(before), body), 'object', version)
      }}
      done={({ title }) => t(show === null ? 'shows.added' : 'shows.changed', { title: plainText(title) })}
      onDone={onSaved}
      onClose={onClose}
    >
      {(record) => (
        <>
          <Field
            name="title"
            label={t('shows.fields.title')}
            defaultValue={record?.title}
            autoComplete="off"
            maxLength={255}
            required={true}
          />
          <div className="field-columns">
            <TimeField name="starts_at" label={t('shows.fields.start')} time={record?.starts_at ?? null} />
            <TimeField name="ends_at" label={t('shows.fields.end')} time={record?.ends_at ?? null} />
          </div>
          <GroupFields show={record} />
          <TextField
            name="notes"
            label={t('shows.fields.notes')}
            rows={3}
            defaultValue={record?.notes}
            maxLength={4096}
          />
        </>
      )}
    </FormDialog>
  )
}

function TimeField({ name, label, time }: { name: string; label: string; time: string | null }) {
  const value = time === null ? '' : toLocalInput(Date.parse(time)).slice(0, 16)
  return <Field {...{ name, label }} type="datetime-local" required={false} defaultValue={value} />
}

/** Fixed for an ended show. Removed groups are kept. */
function GroupFields({ show }: { show: ShowBody | null }) {
  const groups = useWatchState((watchState) => watchState.groups)
  const isFixed = show?.state === 'ended'
  const hint = isFixed ? 'groupsFixed' : groups.length === 0 ? 'noGroups' : 'groupsHint'
  return (
    <ChoicesField
      name="group_ids"
      label={t('shows.fields.groups')}
      hint={t(`shows.fields.${hint}`)}
      options={groups.map(({ id, title }) => ({ value: String(id), text: plainText(title) }))}
      chosen={show?.group_ids.map(String) ?? []}
      isDisabled={isFixed}
    />
  )
}

function toBody(values: FormData) {
  const time = (name: string) => {
    const at = fromLocalInput(String(values.get(name) ?? ''))
    return at === null ? null : new Date(at).toISOString()
  }
  return {
    title: String(values.get('title')).trim(),
    ...{ starts_at: time('starts_at'), ends_at: time('ends_at') },
    group_ids: chosenValues(values, 'group_ids').map(Number),
    notes: String(values.get('notes')).trim(),
  }
}

function findProblem(values: FormData): Problem | null {
  const problem = (field: string, detail: string): Problem => ({ kind: 'refused', field, detail })
  if (String(values.get('title')).trim() === '') return problem('title', t('shows.problems.title'))
  const [start, end] = ['starts_at', 'ends_at'].map((name) => fromLocalInput(String(values.get(name) ?? '')))
  const isAfter = start == null || end == null || end > start
  return isAfter ? null : problem('ends_at', t('shows.problems.end'))
}
