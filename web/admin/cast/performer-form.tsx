import type { Performer } from '../../../src/contract/performers.ts'
import type { ApiResponse } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { changedFields } from '../../parts/forms/entries.ts'
import { Field, TextField, TickField } from '../../parts/forms/field.tsx'
import type { Sending } from '../../parts/forms/use-edit.tsx'
import { useLatest } from '../../parts/forms/use-latest.ts'
import { smallPicture } from './small-picture.ts'

const path = '/api/performers/'

interface PerformerFormProps {
  /** Null to add one. */
  readonly performer: Performer | null
  onDone(): Promise<void>
  onClose(): void
}

export function PerformerForm({ performer, onDone, onClose }: PerformerFormProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const latest = useLatest(path, performer, ['performers'])
  const send = async (
    values: FormData,
    { record, before, version }: Sending<Performer | null>,
  ): Promise<ApiResponse<Performer>> => {
    const picture = await pictureOf(values)
    if (!picture.ok) return picture
    const body = { ...textsOf(values), picture: picture.body }
    if (record === null) return api.write('POST', path, body, 'object')
    const changed = { ...changedFields(textsOf(before), textsOf(values)), picture: picture.body }
    return api.write('PUT', `${path}${record.id}/`, changed, 'object', version)
  }
  const done = async ({ name }: Performer) => {
    onClose()
    showMessage({ text: t(performer === null ? 'performers.added' : 'performers.changed', { name: plainText(name) }) })
    await onDone()
  }
  return (
    <FormDialog
      title={
        performer === null ? t('performers.add') : t('performers.changeTitle', { name: plainText(performer.name) })
      }
      action={performer === null ? t('performers.addAction') : t('performers.save')}
      edit={{ address: `${path}${performer?.id ?? ''}`, record: performer, latest, canAdd: true }}
      {...{ send, onClose }}
      onDone={done}
    >
      {(record) => (
        <>
          <Field
            name="name"
            label={t('performers.fieldName')}
            defaultValue={record?.name}
            autoComplete="off"
            maxLength={255}
          />
          <TextField
            name="notes"
            label={t('performers.fieldNotes')}
            defaultValue={record?.notes}
            rows={3}
            maxLength={4096}
          />
          <Field
            name="picture"
            label={t('performers.fieldPicture')}
            hint={t('performers.pictureHint')}
            type="file"
            accept="image/*"
          />
          {record === null || record.picture === null ? null : (
            <TickField name="no_picture" label={t('performers.noPicture')} />
          )}
        </>
      )}
    </FormDialog>
  )
}

function textsOf(values: FormData) {
  return { name: String(values.get('name')).trim(), notes: values.get('notes') }
}

/** Undefined keeps the stored picture, null removes it. */
async function pictureOf(values: FormData): Promise<ApiResponse<string | null | undefined>> {
  const file = values.get('picture')
  if (!(file instanceof File) || file.size === 0) {
    return { ok: true, body: values.has('no_picture') ? null : undefined }
  }
  const picture = await smallPicture(file)
  if (picture !== null) return { ok: true, body: picture }
  return { ok: false, problem: { kind: 'refused', field: 'picture', detail: t('performers.notAPicture') } }
}
